/**
 * Who should own a shard: rendezvous hashing, so that one process more or less moves only its own share; and before that
 * what operators wish, a record in the lease bucket that every process reads.
 *
 *  PL1 a wish counts while the process that it names lives and may own shards; without it, it is as if nobody had wished
 *  PL2 a drained process owns nothing; where all are drained none is: no shard is left without an owner
 *  PL3 a shard is handed over only to a process that knows by now that it is to have it
 *  PL4 among those that have the role for it, which heartbeats say
 */

import { sha256 } from '../../codec/envelope/index.js';
import { decodeWishes, type Wishes } from '../../codec/leases/index.js';
import { describeError, type SessionId, type ShardName } from '../../kernel/index.js';
import { type Clock, type LeaseStore, type Log, RecurringFact, type Timer, type Timers } from '../../ports/index.js';
import type { Membership } from './membership.js';

export const WISHES_KEY = 'wishes';
export const NO_WISHES: Wishes = { drained: [], moves: [] };
/** A small read. Whoever hears in a heartbeat of a newer record looks at once. */
const LOOK_EVERY_MS = 1_000;

export interface PlacementPorts {
  readonly leases: Pick<LeaseStore, 'get'>;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly log: Log;
}

export class Placement {
  #wishes = NO_WISHES;
  #revision = 0;
  readonly #drained = new Set<SessionId>();
  readonly #moves = new Map<ShardName, SessionId>();
  readonly #failedLooks: RecurringFact;
  #looking: Promise<void> | undefined;
  #timer: Timer | undefined;

  constructor(
    private readonly ports: PlacementPorts,
    private readonly membership: Membership,
  ) {
    this.#failedLooks = new RecurringFact(ports, 'placement.look-failed', 'placement.looks-well');
    membership.whenHeard(({ wishes = 0 }) => {
      if (wishes > this.#revision && this.#timer !== undefined) void this.#look();
    });
  }

  /** Resolves after the first look. Where nobody else can own anything there is nothing to wish. */
  async start(): Promise<void> {
    if (this.membership.isAlone || this.#timer !== undefined) return;
    this.#timer = this.ports.timers.every(LOOK_EVERY_MS, () => this.#look());
    await this.#look();
  }

  stop(): void {
    this.#timer?.cancel();
  }

  /** Of the record that was read last; 0: there is none. */
  get revision(): number {
    return this.#revision;
  }

  /** PL1, PL2. */
  ownerOf(shard: ShardName, candidates: readonly SessionId[]): SessionId | undefined {
    if (this.#drained.size === 0 && this.#moves.size === 0) return rendezvousOwner(shard, candidates);
    const processOf = (session: SessionId) => this.membership.processOf(session) ?? session;
    const willing = candidates.filter((session) => !this.#drained.has(processOf(session)));
    const from = willing.length > 0 ? willing : candidates;
    const wished = this.#moves.get(shard);
    return from.find((session) => processOf(session) === wished) ?? rendezvousOwner(shard, from);
  }

  /** PL3: does `owner` know that it is? One of an older version goes by nobody's wishes. */
  isKnownTo(owner: SessionId, shard: ShardName, candidates: readonly SessionId[]): boolean {
    const read = this.membership.wishesReadBy(owner);
    return read === undefined ? rendezvousOwner(shard, candidates) === owner : read >= this.#revision;
  }

  #look(): Promise<void> {
    this.#looking ??= this.#read()
      .then(() => this.#failedLooks.isWell())
      .catch((error: unknown) => this.#failedLooks.happened({ cause: describeError(error) }))
      .finally(() => {
        this.#looking = undefined;
      });
    return this.#looking;
  }

  async #read(): Promise<void> {
    const record = await this.ports.leases.get(WISHES_KEY);
    // A lagging server may show an older one.
    if (record === undefined || record.revision <= this.#revision) return;
    this.#wishes = decodeWishes(record.value);
    this.#revision = record.revision;
    this.#drained.clear();
    this.#moves.clear();
    for (const { process } of this.#wishes.drained) this.#drained.add(process);
    for (const { shard, process } of this.#wishes.moves) this.#moves.set(shard, process);
    this.ports.log.info('placement.wishes', { ...this.#wishes });
  }
}

export function rendezvousOwner(shard: ShardName, candidates: readonly SessionId[]): SessionId | undefined {
  let best: SessionId | undefined;
  let bestWeight = -1n;
  for (const candidate of candidates) {
    const weight = Buffer.from(sha256(Buffer.from(`${shard} ${candidate}`))).readBigUInt64BE(0);
    if (weight > bestWeight || (weight === bestWeight && candidate < (best as SessionId))) {
      best = candidate;
      bestWeight = weight;
    }
  }
  return best;
}
