/**
 * The session of this process. Heartbeats are sent on plain NATS from the main event loop, because they prove that it
 * runs. Less often the session's record is renewed by compare-and-set.
 *
 *  SE1 reads are answered only within the read lease, counted from when the last acknowledged renewal was *sent*
 *  SE2 a successor marks the record dead before it takes our shards; from then on no renewal succeeds
 *  SE3 a jump between the monotonic and the wall clock (a suspension, a changed clock) ends the session, and so does a
 *      clock that differs from those of others; a process that is alone continues: see ClockWatch
 *  SE4 a lost session is final: all its shards are given up before a session with a new id begins
 */
import {
  decodeSessionRecord,
  encodeSessionRecord,
  firstCounter,
  type PlacementName,
  type RespNodeNews,
  type SessionRecord,
  type ShardNews,
} from '../../codec/leases/index.js';
import { describeError, FORMAT_LEVEL, type Random, type SessionId, type ShardName } from '../../kernel/index.js';
import { type Clock, type LeaseStore, type Log, RecurringFact, type Timer, type Timers } from '../../ports/index.js';
import type { Plane } from '../../protocol/index.js';
import type { ClockWatch } from './clock-watch.js';
import type { Membership } from './membership.js';
import { Placement } from './placement.js';

export interface SessionTimes {
  readonly heartbeatMs: number;
  readonly renewMs: number;
  readonly readLeaseMs: number;
}

/**
 * For a process that is alone: its record only has to stay younger than `SESSION_UNCHANGED_MS`, and each renewal is a
 * synced write. A heartbeat is only a check of the clocks (guarded-clock.ts).
 */
const ALONE: Pick<SessionTimes, 'heartbeatMs' | 'renewMs'> = { heartbeatMs: 1000, renewMs: 60_000 };

export interface ProcessSessionPorts {
  readonly leases: LeaseStore;
  readonly clock: Clock;
  readonly clocks: ClockWatch;
  readonly timers: Timers;
  readonly random: Random;
  readonly log: Log;
}

export class Session {
  /** Stays the same when the session is lost and another one begins. */
  readonly processId: SessionId;
  /** Heartbeats contain the revision of the wishes that this process has read. */
  readonly placement: Placement;
  #id: SessionId;
  readonly #onLost: ((reason: string) => void)[] = [];
  #revision = 0;
  #counter = 0;
  #readableUntilMs = Number.NEGATIVE_INFINITY;
  #state: 'new' | 'live' | 'lost' | 'closed' = 'new';
  #isLeaving = false;
  #leftAtMs: number | undefined;
  #heartbeat: Timer | undefined;
  #renewal: Timer | undefined;
  #hasBegun = false;
  #node: (() => RespNodeNews) | undefined;
  readonly #failedRenewals: RecurringFact;

  constructor(
    private readonly ports: ProcessSessionPorts,
    private readonly times: SessionTimes,
    private readonly membership: Membership,
    /** The planes of which it may own shards; empty: it owns none. */
    private readonly planes: readonly Plane[],
    /** Undefined: no earlier process has its place, and no later one gets it. */
    private readonly place?: PlacementName,
  ) {
    this.#failedRenewals = new RecurringFact(ports, 'session.renewal-failed', 'session.renewed');
    this.placement = new Placement(ports, membership);
    this.#id = this.#newId();
    this.processId = this.#id;
    // A new process needs our clock before it can own a shard.
    this.membership.whenHeard(({ process }, isNew) => {
      if (isNew && process !== this.processId && this.isLive) this.ports.timers.soon(() => this.#announceIfLive());
    });
  }

  get id(): SessionId {
    return this.#id;
  }

  /** The session that owns the shard, or is to own it. @param withinMs only of processes heard in this time */
  expectedOwner(shard: ShardName, withinMs: number): SessionId | undefined {
    return this.placement.ownerOf(shard, this.membership.candidates(withinMs, 0, shard));
  }

  /** Calls `listener` immediately when the session is lost (SE4). */
  whenLost(listener: (reason: string) => void): void {
    this.#onLost.push(listener);
  }

  get isLive(): boolean {
    return this.#state === 'live';
  }

  /**
   * True within the read lease (SE1). It awaits no lookup, because the check and the read that it guards must be one
   * synchronous step.
   */
  mayAnswerReads(lastAppendSentAtMs: number): boolean {
    if (this.#state !== 'live') return false;
    const nowMs = this.ports.clock.monotonicMs();
    if (!this.ports.clocks.isSteady()) return false;
    return nowMs < this.#readableUntilMs || nowMs < lastAppendSentAtMs + this.times.readLeaseMs;
  }

  /** Writes the record; retries until it is stored. */
  async start(): Promise<void> {
    while (this.#state !== 'closed') {
      const sentAtMs = this.ports.clock.monotonicMs();
      const outcome = await this.ports.leases.create(this.#key(), encodeSessionRecord(aliveAfter(0)));
      if (outcome.kind === 'stored') {
        this.#live(outcome.revision, sentAtMs);
        break;
      }
      // The id is known only here, so an existing record is from a try with a lost answer.
      const record = await this.ports.leases.get(this.#key()).catch(() => undefined);
      if (record !== undefined && decodeSessionRecord(record.value).isDead) {
        this.#id = this.#newId();
      } else if (record !== undefined) {
        this.#live(record.revision, sentAtMs);
        break;
      }
      await this.ports.timers.pause(this.times.heartbeatMs);
    }
    if (!this.#hasBegun) {
      this.#hasBegun = true;
      await this.placement.start();
      await this.ports.clocks.begin(this.processId, () => this.#livingOthers());
    }
    this.#beat();
    if (this.#state !== 'live') return;
    const { heartbeatMs, renewMs } = this.membership.isAlone ? ALONE : this.times;
    this.#heartbeat = this.ports.timers.every(heartbeatMs, () => this.#beat());
    this.#renewal = this.ports.timers.every(renewMs, () => this.#renew());
  }

  /** True when shards may be taken: not before our clock has been compared. */
  get mayTake(): boolean {
    return this.isLive && this.ports.clocks.isDecided;
  }

  /** True when our clock is in doubt and others' are not. */
  get isExcluded(): boolean {
    return this.ports.clocks.isExcluded;
  }

  noteJournal(shard: ShardName, clockMs: number): void {
    this.ports.clocks.noteJournal(shard, clockMs);
  }

  async #livingOthers(): Promise<SessionId[]> {
    const { leases, log } = this.ports;
    const living: SessionId[] = [];
    const look = async (key: string) => {
      const record = await leases.get(key);
      if (record !== undefined && !decodeSessionRecord(record.value).isDead) {
        living.push(key.slice(KEY_PREFIX.length) as SessionId);
      }
    };
    try {
      const keys = await leases.keys(KEY_PREFIX);
      await Promise.all(keys.filter((key) => key !== this.#key()).map(look));
    } catch (error) {
      // Other processes are still heard, but not waited for.
      log.warn('session.others-unknown', { cause: describeError(error) });
    }
    return living;
  }

  /** Announces the end of this process, so that it is given no more shards. */
  leave(): void {
    this.#isLeaving = true;
    this.#leftAtMs ??= this.ports.clock.monotonicMs();
    this.#announceIfLive();
  }

  get isLeaving(): boolean {
    return this.#isLeaving;
  }

  /** The time since that announcement; 0: there was none. */
  get leavingForMs(): number {
    return this.#leftAtMs === undefined ? 0 : this.ports.clock.monotonicMs() - this.#leftAtMs;
  }

  /** Every heartbeat contains the RESP address of this process, and its shards, from now on. */
  announceNode(node: () => RespNodeNews): void {
    this.#node = node;
    this.#announceIfLive();
  }

  /** Announces a change of a shard immediately. */
  tell(news: ShardNews): void {
    this.#announceIfLive([news]);
  }

  async close(): Promise<void> {
    const wasLive = this.#state === 'live';
    this.#stop('closed');
    this.placement.stop();
    if (!wasLive) return;
    const { leases, log } = this.ports;
    // A process without shards has no right to purge, which would let it remove any lease: a sweep removes its record
    // later (SessionSweep).
    const ended = this.planes.length > 0 ? leases.delete(this.#key()) : markSessionDead(leases, this.id, ENDED);
    await ended.catch((error: unknown) => log.warn('session.not-ended', { cause: describeError(error) }));
  }

  #live(revision: number, sentAtMs: number): void {
    if (this.#state === 'closed') return;
    this.#state = 'live';
    this.#revision = revision;
    this.#readableUntilMs = sentAtMs + this.times.readLeaseMs;
  }

  #beat(): void {
    if (this.#state !== 'live') return;
    const reason = this.ports.clocks.look();
    if (reason !== undefined) {
      this.#lose(reason);
      return;
    }
    this.membership.watchConnection();
    this.#announce();
  }

  #announce(news?: readonly ShardNews[]): void {
    const { id: session, planes, processId } = this;
    const canOwn = planes.length > 0;
    const clock = this.ports.clocks.reading();
    const wishes = this.placement.revision;
    const isLeaving = this.#isLeaving;
    const node = this.#node?.();
    const place = this.place ?? { name: processId, turn: 0 };
    const said = { session, canOwn, isLeaving, process: processId, clock, wishes, planes, follows: canOwn, place };
    const heartbeat = node === undefined ? said : { ...said, node };
    this.membership.announce(news === undefined ? heartbeat : { ...heartbeat, news });
  }

  #announceIfLive(news?: readonly ShardNews[]): void {
    if (this.isLive) this.#announce(news);
  }

  /** Never rejects: the next renewal tries again. */
  async #renew(): Promise<void> {
    try {
      await this.#renewOnce();
    } catch (error) {
      this.#failedRenewals.happened({ session: this.id, cause: describeError(error) });
    }
  }

  async #renewOnce(): Promise<void> {
    const sentAtMs = this.ports.clock.monotonicMs();
    this.#counter += 1;
    const value = encodeSessionRecord(aliveAfter(this.#counter));
    const outcome = await this.ports.leases.update(this.#key(), value, this.#revision);
    if (this.#state !== 'live') return;
    if (outcome.kind === 'stored') {
      this.#revision = outcome.revision;
      this.#readableUntilMs = sentAtMs + this.times.readLeaseMs;
      this.#failedRenewals.isWell({ session: this.id });
      return;
    }
    // After a lost answer to an earlier renewal there is a conflict, so the record is read.
    const record = await this.ports.leases.get(this.#key());
    if (this.#state !== 'live') return;
    if (record === undefined || decodeSessionRecord(record.value).isDead) {
      this.#lose('another process declared this session dead');
      return;
    }
    if (record.revision > this.#revision) this.#revision = record.revision;
  }

  #lose(reason: string): void {
    this.ports.log.warn('session.lost', { session: this.id, why: reason });
    this.#stop('lost');
    for (const listener of this.#onLost) listener(reason);
    this.ports.clocks.settle();
    this.ports.timers.after(this.times.heartbeatMs, () => {
      if (this.#state !== 'lost') return;
      this.#id = this.#newId();
      this.#counter = 0;
      this.start().then(
        () => this.ports.log.info('session.begun-again', { session: this.id }),
        (error: unknown) => this.ports.log.error('session.not-begun', { cause: describeError(error) }),
      );
    });
  }

  #newId(): SessionId {
    return `node-${Buffer.from(this.ports.random.bytes(8)).toString('hex')}` as SessionId;
  }

  #stop(state: 'lost' | 'closed'): void {
    this.#state = state;
    this.#heartbeat?.cancel();
    this.#renewal?.cancel();
    this.membership.forget(this.id);
  }

  #key(): string {
    return sessionKey(this.id);
  }
}

/** @param counter  the number of renewals */
function aliveAfter(counter: number): SessionRecord {
  return { counter: firstCounter(FORMAT_LEVEL) + counter, isDead: false, readsFormat: FORMAT_LEVEL };
}

const ENDED = { hasEnded: true } as const;
const KEY_PREFIX = 'session.';

export function sessionKey(session: SessionId): string {
  return `${KEY_PREFIX}${session}`;
}

/** The number of renewals of the session; equal numbers at two checks mean that it was not renewed in between. */
export async function renewalsOf(leases: LeaseStore, session: SessionId): Promise<number | undefined> {
  const record = await leases.get(sessionKey(session));
  return record === undefined ? undefined : decodeSessionRecord(record.value).counter;
}

/**
 * Marks a session dead, after which it cannot renew (SE2). Undefined when it has renewed in the meantime, or when that
 * is unknown.
 * @param end  set by the session itself, or by the supervisor of its process
 * @returns the number of its renewals
 */
export async function markSessionDead(
  leases: LeaseStore,
  session: SessionId,
  end: Pick<SessionRecord, 'hasEnded' | 'isGone'> = {},
): Promise<number | undefined> {
  const record = await leases.get(sessionKey(session));
  if (record === undefined) {
    // The record was removed, or a late server does not show it yet. Creating one decides it: success proves that there
    // was none.
    const ended = encodeSessionRecord({ counter: 0, isDead: true, ...ENDED });
    const created = await leases.create(sessionKey(session), ended);
    return created.kind === 'stored' ? 0 : undefined;
  }
  const found = decodeSessionRecord(record.value);
  if (found.isDead) return found.counter;
  // The time of its last renewal, because the mark may come hours later.
  const dead = encodeSessionRecord({ ...found, isDead: true, aliveAtMs: Math.floor(record.storedAtMs), ...end });
  const outcome = await leases.update(sessionKey(session), dead, record.revision);
  return outcome.kind === 'stored' ? found.counter : undefined;
}
