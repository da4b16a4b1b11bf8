/**
 * Daily limits without a question for each command: this process holds slices of them, a slice for each
 * database and UTC day, and asks the control actor for another before it runs out.
 *
 *  QS1 nothing is let through that was not granted: the grants of all processes never exceed the limit
 *  QS2 a refusal was decided by the control actor; it is believed for `REFUSAL_MS`, no longer, because
 *      another process may give back what it holds and a limit may be raised
 *  QS3 one question at a time for each database, for all who wait for it together
 *  QS4 after a long silence slices are given back unused before anything is let through: the control
 *      actor may have taken this process for dead and given them to others
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

/** A hundredth of the limit: what is left unused in other processes is little. */
const SLICE_DIVISOR = 100;
/** At a million commands a second a slice still lasts 10 ms, several times what a question takes. */
const MAX_SLICE = 10_000;
/** QS2. */
const REFUSAL_MS = 1000;
/** QS4. Well below the silence after which the control actor ends a session's leases (control-duties.ts). */
const LONG_SILENCE_MS = 10_000;

interface Held {
  readonly database: DatabaseId;
  readonly day: number;
  limit: number;
  /** Granted for the day in all, as far as is known here. */
  known: number;
  remaining: number;
  /** Commands that wait for an answer. */
  demand: number;
  refusedUntilMs: number;
  asking: Promise<void> | undefined;
  /** Nothing is taken meanwhile. */
  givingBack: Promise<void> | undefined;
}

export class QuotaSlices implements Quota {
  readonly #heldByDatabase = new Map<DatabaseId, Held>();
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

  /** Gives back what is left of every slice. @returns when the control actor has it, or did not answer */
  async giveBack(): Promise<void> {
    await Promise.all([...this.#heldByDatabase.values()].map((held) => this.#giveBackOne(held)));
  }

  /** QS4: to be called by whoever notices that the control stream was silent. */
  backInTouch(silentForMs: number): void {
    if (silentForMs >= LONG_SILENCE_MS) void this.giveBack();
  }

  #heldOf(database: DatabaseId, limit: number): Held {
    const day = utcDayOf(this.ports.clock.nowMs());
    if (day !== this.#day) {
      // What is left of yesterday is worth nothing to anybody.
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

  #takeNow(held: Held, commands: number): boolean {
    if (held.givingBack !== undefined || held.remaining < commands) return false;
    held.remaining -= commands;
    const isLow = held.remaining < sliceOf(held.limit) / 2;
    if (isLow && held.asking === undefined && !this.#isRefused(held)) this.#askAhead(held);
    return true;
  }

  #isRefused(held: Held): boolean {
    return this.ports.clock.monotonicMs() < held.refusedUntilMs;
  }

  async #takeLater(database: DatabaseId, limit: number, commands: number): Promise<boolean> {
    for (;;) {
      // Looked up again each time: the day may have changed.
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

  #askAhead(held: Held): void {
    this.#ask(held).catch((error: unknown) => {
      this.ports.log.debug('quota.ask-failed', { database: held.database, cause: describeError(error) });
    });
  }

  /** QS3. */
  #ask(held: Held): Promise<void> {
    const asking = this.#askFor(held).finally(() => {
      held.asking = undefined;
    });
    held.asking = asking;
    return asking;
  }

  async #askFor(held: Held): Promise<void> {
    // Those who wait together are known a moment after the first of them.
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

  #giveBackOne(held: Held): Promise<void> {
    if (held.givingBack !== undefined) return held.givingBack;
    const givingBack = this.#give(held).finally(() => {
      held.givingBack = undefined;
    });
    held.givingBack = givingBack;
    return givingBack;
  }

  async #give(held: Held): Promise<void> {
    // What a question on its way is granted goes back with the rest; whether it failed is told to who asked.
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
      // It may be given back still, so it is not used any more; if it is not, it is charged to this process for nothing.
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
