/**
 * Decides which process should own a shard: by operators' wishes, a record in the lease bucket that every process
 * reads, and otherwise by rendezvous hashing, so that one process more or less moves only its share.
 *
 *  PL1 a wish counts while the process that it names lives and may own shards; otherwise it is ignored
 *  PL2 a drained process owns no shards, unless all are drained, because no shard may be without an owner
 *  PL3 a shard moves only to a process that knows by now that it is to have it
 *  PL4 only processes with the role for the shard's plane are candidates; heartbeats contain the roles
 *  PL5 processes are hashed by the names of their places, once all candidates have one; of several with the same name the
 *      last one counts, so that a worker's shards move directly to its successor
 */

import { sha256 } from '../../codec/envelope/index.js';
import { decodeWishes, type PlacementName, type Wishes } from '../../codec/leases/index.js';
import { BoundedCache, describeError, type SessionId, type ShardName } from '../../kernel/index.js';
import { type Clock, type LeaseStore, type Log, RecurringFact, type Timer, type Timers } from '../../ports/index.js';
import type { Membership } from './membership.js';

export const WISHES_KEY = 'wishes';
export const NO_WISHES: Wishes = { drained: [], moves: [] };
/** A small read. A heartbeat that names a newer record triggers it immediately. */
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

  /** Resolves after the first read. A process that is alone has no wishes to read. */
  async start(): Promise<void> {
    if (this.membership.isAlone || this.#timer !== undefined) return;
    this.#timer = this.ports.timers.every(LOOK_EVERY_MS, () => this.#look());
    await this.#look();
  }

  stop(): void {
    this.#timer?.cancel();
  }

  /** The revision of the record read last; 0: there is none. */
  get revision(): number {
    return this.#revision;
  }

  /** The owner by wishes and hashing (PL1, PL2). */
  ownerOf(shard: ShardName, candidates: readonly SessionId[]): SessionId | undefined {
    if (this.#drained.size === 0 && this.#moves.size === 0) return this.#byHash(shard, candidates);
    const processOf = (session: SessionId) => this.membership.processOf(session) ?? session;
    const willing = candidates.filter((session) => !this.#drained.has(processOf(session)));
    const from = willing.length > 0 ? willing : candidates;
    const wished = this.#moves.get(shard);
    return from.find((session) => processOf(session) === wished) ?? this.#byHash(shard, from);
  }

  /** True when `owner` knows that it is to own the shard (PL3). One of an older version does not know wishes. */
  isKnownTo(owner: SessionId, shard: ShardName, candidates: readonly SessionId[]): boolean {
    const read = this.membership.wishesReadBy(owner);
    return read === undefined ? rendezvousOwner(shard, candidates) === owner : read >= this.#revision;
  }

  #byHash(shard: ShardName, candidates: readonly SessionId[]): SessionId | undefined {
    return rendezvousOwner(shard, candidates, (session) => this.membership.placeOf(session));
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
    // A late server may show an older record.
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

/** @param placeOf  undefined for a session of an older version (PL5) */
export function rendezvousOwner(
  shard: ShardName,
  candidates: readonly SessionId[],
  placeOf: (session: SessionId) => PlacementName | undefined = () => undefined,
): SessionId | undefined {
  const arePlaced = candidates.every((session) => placeOf(session) !== undefined);
  let best: SessionId | undefined;
  let bestWeight = -1n;
  let bestTurn = 0;
  for (const candidate of candidates) {
    const { name, turn } = (arePlaced ? placeOf(candidate) : undefined) ?? { name: candidate, turn: 0 };
    const weight = weightOf(shard, name);
    const isTie = weight === bestWeight;
    const isLater = turn > bestTurn || (turn === bestTurn && candidate < (best as SessionId));
    if (weight > bestWeight || (isTie && isLater)) {
      best = candidate;
      bestWeight = weight;
      bestTurn = turn;
    }
  }
  return best;
}

/** Every check of every shard needs the weights of all processes. */
const WEIGHTS = new BoundedCache<string, bigint>(10_000);

function weightOf(shard: ShardName, name: string): bigint {
  const hashed = `${shard} ${name}`;
  let weight = WEIGHTS.get(hashed);
  if (weight === undefined) {
    weight = Buffer.from(sha256(Buffer.from(hashed))).readBigUInt64BE(0);
    WEIGHTS.set(hashed, weight);
  }
  return weight;
}
