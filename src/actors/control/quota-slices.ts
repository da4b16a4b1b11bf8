/**
 * Daily limits without a request to the control actor for each command: this process holds a slice of the limit for
 * each database and UTC day, and asks for another before it runs out.
 *
 *  QS1 only granted commands pass: the grants of all processes never exceed the limit
 *  QS2 a refusal by the control actor holds for `REFUSAL_MS` only, because another process may return its slice and a
 *      limit may be raised
 *  QS3 each database has one request in progress, for all commands that wait for it
 *  QS4 after a long silence slices are returned unused before further commands pass: the control actor may have
 *      counted this process as ended and granted them to others
 */
import { utcDayOf } from '../../domain/control/index.js';
import { type DatabaseId, describeError, MillraceError, type SessionId } from '../../kernel/index.js';
import type { Clock, KvGrant, Log, Quota } from '../../ports/index.js';
import type { ControlClient } from './control-client.js';

export interface QuotaSlicesPorts {
  readonly client: ControlClient;
  readonly clock: Clock;
  readonly log: Log;
}

/** A slice is a hundredth of the limit, so little is left unused in other processes. */
const SLICE_DIVISOR = 100;
/** At a million commands per second this slice lasts 10 ms, several times the duration of a request. */
const MAX_SLICE = 10_000;
/** How long a refusal holds (QS2). */
const REFUSAL_MS = 1000;
/**
 * The silence that returns slices (QS4). Well below the silence after which the control actor ends a session's leases
 * (control-duties.ts).
 */
const LONG_SILENCE_MS = 10_000;

interface QuotaSlice {
  readonly database: DatabaseId;
  readonly day: number;
  limit: number;
  /** Granted for the day in total, as far as this process knows. */
  known: number;
  remaining: number;
  /** Commands that wait for an answer. */
  demand: number;
  refusedUntilMs: number;
  asking: Promise<void> | undefined;
  /** While set, no command passes. */
  givingBack: Promise<void> | undefined;
}

export class QuotaSlices implements Quota {
  readonly #heldByDatabase = new Map<DatabaseId, QuotaSlice>();
  #day = 0;

  constructor(
    private readonly ports: QuotaSlicesPorts,
    private readonly session: SessionId,
  ) {}

  take(grant: KvGrant, commands: number): boolean | Promise<boolean> {
    const limit = grant.limits.maxRequestsPerDay;
    if (limit <= 0) return true;
    const held = this.#heldOf(grant.database, limit);
    if (held.demand === 0 && this.#takeNow(held, commands)) return true;
    if (this.#isRefused(held)) return false;
    return this.#takeLater(grant.database, limit, commands);
  }

  /** Returns the rest of every slice. @returns when the control actor has answered or failed */
  async giveBack(): Promise<void> {
    await Promise.all([...this.#heldByDatabase.values()].map((held) => this.#giveBackOne(held)));
  }

  /** Called by the observer of the control stream after a silence (QS4). */
  backInTouch(silentForMs: number): void {
    if (silentForMs >= LONG_SILENCE_MS) void this.giveBack();
  }

  #heldOf(database: DatabaseId, limit: number): QuotaSlice {
    const day = utcDayOf(this.ports.clock.nowMs());
    if (day !== this.#day) {
      // Slices of the day before are worthless.
      this.#heldByDatabase.clear();
      this.#day = day;
    }
    let held = this.#heldByDatabase.get(database);
    if (held === undefined) {
      const refusedUntilMs = Number.NEGATIVE_INFINITY;
      held = {
        database,
        day,
        limit,
        known: 0,
        remaining: 0,
        demand: 0,
        refusedUntilMs,
        asking: undefined,
        givingBack: undefined,
      };
      this.#heldByDatabase.set(database, held);
    }
    if (held.limit !== limit) {
      held.limit = limit;
      held.refusedUntilMs = Number.NEGATIVE_INFINITY;
    }
    return held;
  }

  #takeNow(held: QuotaSlice, commands: number): boolean {
    if (held.givingBack !== undefined || held.remaining < commands) return false;
    held.remaining -= commands;
    const isLow = held.remaining < sliceOf(held.limit) / 2;
    if (isLow && held.asking === undefined && !this.#isRefused(held)) this.#askAhead(held);
    return true;
  }

  #isRefused(held: QuotaSlice): boolean {
    return this.ports.clock.monotonicMs() < held.refusedUntilMs;
  }

  async #takeLater(database: DatabaseId, limit: number, commands: number): Promise<boolean> {
    for (;;) {
      // Looked up again each time, because the day may have changed.
      const held = this.#heldOf(database, limit);
      if (this.#takeNow(held, commands)) return true;
      if (this.#isRefused(held)) return false;
      held.demand += commands;
      try {
        await (held.givingBack ?? held.asking ?? this.#ask(held));
      } finally {
        held.demand -= commands;
      }
    }
  }

  #askAhead(held: QuotaSlice): void {
    this.#ask(held).catch((error: unknown) => {
      this.ports.log.debug('quota.ask-failed', { database: held.database, cause: describeError(error) });
    });
  }

  /** Starts the one request of the database (QS3). */
  #ask(held: QuotaSlice): Promise<void> {
    const asking = this.#askFor(held).finally(() => {
      held.asking = undefined;
    });
    held.asking = asking;
    return asking;
  }

  async #askFor(held: QuotaSlice): Promise<void> {
    // Commands that arrive together with the first one are added a moment later.
    await Promise.resolve();
    const { database, day, known } = held;
    const wanted = Math.max(sliceOf(held.limit), held.demand - held.remaining);
    const { session } = this;
    const reply = await this.ports.client.send({ type: 'LeaseQuota', session, database, day, known, wanted });
    if (reply.type === 'Rejected') {
      throw new MillraceError('SHARD_UNAVAILABLE', `no quota: ${reply.message}`, { database, reason: reply.reason });
    }
    if (reply.type !== 'QuotaLeased') throw unexpected(reply.type);
    held.known += reply.granted;
    held.remaining += reply.granted;
    if (reply.granted === 0) held.refusedUntilMs = this.ports.clock.monotonicMs() + REFUSAL_MS;
  }

  #giveBackOne(held: QuotaSlice): Promise<void> {
    if (held.givingBack !== undefined) return held.givingBack;
    const givingBack = this.#give(held).finally(() => {
      held.givingBack = undefined;
    });
    held.givingBack = givingBack;
    return givingBack;
  }

  async #give(held: QuotaSlice): Promise<void> {
    // A grant of the request in progress is returned with the rest; its error is reported to its caller.
    if (held.asking !== undefined) await held.asking.catch(() => undefined);
    const unused = held.remaining;
    held.remaining = 0;
    if (unused === 0) return;
    const { database, day, known } = held;
    const { session } = this;
    try {
      const reply = await this.ports.client.send({ type: 'ReturnQuota', session, database, day, known, unused });
      if (reply.type === 'QuotaReturned') held.known = reply.reserved;
    } catch (error) {
      // The return may still happen, so this process does not use the slice. If it does not happen, the slice is lost.
      this.ports.log.debug('quota.return-failed', { database, cause: describeError(error) });
    }
  }
}

function sliceOf(limit: number): number {
  return Math.max(1, Math.min(Math.floor(limit / SLICE_DIVISOR), MAX_SLICE));
}

function unexpected(type: string): MillraceError {
  return new MillraceError('DEFECT', `the control actor answered a question for quota with ${type}`);
}
