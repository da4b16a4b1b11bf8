/**
 * This process's claim to be alive. Heartbeats go out on plain NATS, on the main loop on purpose: they
 * prove that it turns. Less often the session's record is renewed by compare-and-set.
 *
 *  S1 reads are answered only within the read lease, counted from when the last acknowledged renewal was *sent*
 *  S2 a successor marks the record dead before it takes our shards; from then on no renewal succeeds
 *  S3 a jump between the monotonic and the wall clock (a suspended machine) loses the session
 *  S4 a lost session is over for good: everything held in its name is given up before a new one, with
 *     a new id, begins
 */
import { decodeSessionRecord, encodeSessionRecord } from '../../codec/leases/index.js';
import { describeError, type Random, type SessionId } from '../../kernel/index.js';
import type { Clock, LeaseStore, Log, Timer, Timers } from '../../ports/index.js';
import type { Membership } from './membership.js';

export interface SessionTimes {
  readonly heartbeatMs: number;
  readonly renewMs: number;
  readonly readLeaseMs: number;
  /** Clocks drifting apart faster than this between two heartbeats is a suspended machine. */
  readonly clockJumpMs: number;
}

export interface SessionPorts {
  readonly leases: LeaseStore;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly random: Random;
  readonly log: Log;
}

export class Session {
  /** Stays the same when the session is lost and another one begins. */
  readonly processId: SessionId;
  #id: SessionId;
  readonly #onLost: ((why: string) => void)[] = [];
  #revision = 0;
  #counter = 0;
  #readableUntilMs = Number.NEGATIVE_INFINITY;
  #state: 'new' | 'live' | 'lost' | 'closed' = 'new';
  #isLeaving = false;
  #heartbeat: Timer | undefined;
  #renewal: Timer | undefined;
  #clockOffsetMs = 0;

  constructor(
    private readonly ports: SessionPorts,
    private readonly times: SessionTimes,
    private readonly membership: Membership,
    private readonly canOwn: boolean,
  ) {
    this.#id = this.#newId();
    this.processId = this.#id;
  }

  get id(): SessionId {
    return this.#id;
  }

  /** Calls `listener` at once whenever the session is lost (S4). */
  whenLost(listener: (why: string) => void): void {
    this.#onLost.push(listener);
  }

  get isLive(): boolean {
    return this.#state === 'live';
  }

  /** S1. Never looks anything up: the check and the read it guards are one synchronous step. */
  mayAnswerReads(lastAppendSentAtMs: number): boolean {
    if (this.#state !== 'live') return false;
    const nowMs = this.ports.clock.monotonicMs();
    if (this.#hasJumped()) return false;
    return nowMs < this.#readableUntilMs || nowMs < lastAppendSentAtMs + this.times.readLeaseMs;
  }

  /** Writes the record; retries until it is there. */
  async start(): Promise<void> {
    this.#clockOffsetMs = this.#offsetMs();
    while (this.#state !== 'closed') {
      const sentAtMs = this.ports.clock.monotonicMs();
      const outcome = await this.ports.leases.create(this.#key(), encodeSessionRecord({ counter: 0, isDead: false }));
      if (outcome.kind === 'stored') {
        this.#live(outcome.revision, sentAtMs);
        break;
      }
      // Nobody else knows this id: a record that is there is ours, from a try whose answer was lost.
      const record = await this.ports.leases.get(this.#key()).catch(() => undefined);
      if (record !== undefined && decodeSessionRecord(record.value).isDead) {
        this.#id = this.#newId();
      } else if (record !== undefined) {
        this.#live(record.revision, sentAtMs);
        break;
      }
      await new Promise<void>((resolve) => this.ports.timers.after(this.times.heartbeatMs, resolve));
    }
    this.#beat();
    if (this.#state === 'live') this.#scheduleRenewal();
  }

  /** Says that this process means to go: nobody should give it shards any more. */
  leave(): void {
    this.#isLeaving = true;
    if (this.#state === 'live') this.#announce();
  }

  async close(): Promise<void> {
    const wasLive = this.#state === 'live';
    this.#stop('closed');
    if (wasLive) await this.ports.leases.delete(this.#key()).catch(() => undefined);
  }

  #live(revision: number, sentAtMs: number): void {
    if (this.#state === 'closed') return;
    this.#state = 'live';
    this.#revision = revision;
    this.#readableUntilMs = sentAtMs + this.times.readLeaseMs;
  }

  #beat(): void {
    if (this.#state !== 'live') return;
    if (this.#hasJumped()) {
      this.#lose('the clock jumped: the machine was suspended');
      return;
    }
    this.#clockOffsetMs = this.#offsetMs();
    this.membership.watchConnection();
    this.#announce();
    this.#heartbeat = this.ports.timers.after(this.times.heartbeatMs, () => this.#beat());
  }

  #announce(): void {
    const { id: session, canOwn, processId } = this;
    this.membership.announce({ session, canOwn, isLeaving: this.#isLeaving, process: processId });
  }

  #scheduleRenewal(): void {
    this.#renewal = this.ports.timers.after(this.times.renewMs, () => {
      this.#renew().then(
        () => {
          if (this.#state === 'live') this.#scheduleRenewal();
        },
        (error: unknown) => {
          this.ports.log.warn('session.renewal-failed', { session: this.id, cause: describeError(error) });
          if (this.#state === 'live') this.#scheduleRenewal();
        },
      );
    });
  }

  async #renew(): Promise<void> {
    const sentAtMs = this.ports.clock.monotonicMs();
    this.#counter += 1;
    const value = encodeSessionRecord({ counter: this.#counter, isDead: false });
    const outcome = await this.ports.leases.update(this.#key(), value, this.#revision);
    if (this.#state !== 'live') return;
    if (outcome.kind === 'stored') {
      this.#revision = outcome.revision;
      this.#readableUntilMs = sentAtMs + this.times.readLeaseMs;
      return;
    }
    // A lost answer to an earlier renewal looks like a conflict: what stands there decides.
    const record = await this.ports.leases.get(this.#key());
    if (this.#state !== 'live') return;
    if (record === undefined || decodeSessionRecord(record.value).isDead) {
      this.#lose('another process took this session for dead');
      return;
    }
    if (record.revision > this.#revision) this.#revision = record.revision;
  }

  #lose(why: string): void {
    this.ports.log.warn('session.lost', { session: this.id, why });
    this.#stop('lost');
    for (const listener of this.#onLost) listener(why);
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

  #hasJumped(): boolean {
    return Math.abs(this.#offsetMs() - this.#clockOffsetMs) > this.times.clockJumpMs;
  }

  #offsetMs(): number {
    return this.ports.clock.nowMs() - this.ports.clock.monotonicMs();
  }

  #key(): string {
    return sessionKey(this.id);
  }
}

export function sessionKey(session: SessionId): string {
  return `session.${session}`;
}

/** S2: after this, the session cannot renew. False when it showed a sign of life meanwhile, or nobody knows. */
export async function markSessionDead(leases: LeaseStore, session: SessionId): Promise<boolean> {
  const record = await leases.get(sessionKey(session));
  if (record === undefined) {
    // It has ended, or a lagging server does not show it yet: only a record of our own settles that.
    const created = await leases.create(sessionKey(session), encodeSessionRecord({ counter: 0, isDead: true }));
    return created.kind === 'stored';
  }
  const { counter, isDead } = decodeSessionRecord(record.value);
  if (isDead) return true;
  const outcome = await leases.update(
    sessionKey(session),
    encodeSessionRecord({ counter, isDead: true }),
    record.revision,
  );
  return outcome.kind === 'stored';
}
