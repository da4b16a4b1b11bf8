/**
 * The age of a queue's backlog in the past, from the ends of its messages: at each moment the age of the oldest message
 * that was due and had not ended. A message that has not ended yet is given by the caller, because the log does not list
 * those.
 */
import type { AccountId } from '../../kernel/index.js';
import type { Backlog, BacklogQuery, SqlFile } from '../../ports/index.js';
import { rangeOf } from '../log-rows/log-places.js';
import { RowSearch } from '../log-rows/row-search.js';
import { STATE_NUMBERS } from '../log-rows/schema.js';
import { type Prepared, prepared } from '../statements.js';

/** Rows per step: a few milliseconds. */
const STEP_ROWS = 500;
/** From this share of its limit on, old events of an account may have been removed. */
const PRUNED_SHARE = 0.9;
const ENDS = [STATE_NUMBERS.DELIVERED, STATE_NUMBERS.FAILED, STATE_NUMBERS.CANCELED];

export class BacklogAges {
  readonly #events: RowSearch;
  readonly #sql: Prepared<typeof STATEMENTS>;

  /** @param maxEventsOf the number of events that an account keeps */
  constructor(
    file: SqlFile,
    private readonly maxEventsOf: (account: AccountId) => number,
  ) {
    this.#events = new RowSearch(file, 'events');
    this.#sql = prepared(file, STATEMENTS);
  }

  /**
   * Reads from the newest end to the oldest. When the time is over, or older events are no longer kept, the earlier
   * moments are left out.
   * @param isLate called after each step
   */
  *read(name: AccountId, query: BacklogQuery, isLate: () => boolean): Generator<void, Backlog> {
    const { momentsMs, waitingSinceMs } = query;
    const since = momentsMs.map((atMs) => Math.min(atMs, waitingSinceMs));
    const account = this.#sql.account.get([name]);
    const reachedMs = account === undefined ? 0 : yield* this.#ends(account.id as number, query, since, isLate);
    const isPruned = account !== undefined && (account.events as number) >= this.maxEventsOf(name) * PRUNED_SHARE;
    const oldestMs = isPruned ? (this.#sql.oldest.get([account.id as number])?.atMs as number) : 0;
    const points = momentsMs.map((atMs, at) => [atMs, atMs - (since[at] as number)] as const);
    return { points: points.filter(([atMs]) => atMs >= Math.max(reachedMs, oldestMs)) };
  }

  /** @returns the instant that was reached when the time was over; 0: all ends were read */
  *#ends(
    account: number,
    { momentsMs, queueName }: BacklogQuery,
    since: number[],
    isLate: () => boolean,
  ): Generator<void, number> {
    const filter = { queueName: [queueName], fromMs: momentsMs[0] ?? 0 };
    const order = 'latestFirst';
    const search = { account, filter, states: ENDS, order, ...rangeOf(filter, order, undefined) } as const;
    let rows = 0;
    for (const { place, row } of this.#events.run({ ...search, accept: () => true })) {
      if (row !== undefined) {
        this.#include(row.message as number, row.at_ms as number, momentsMs, since);
        rows += 1;
        if (rows % STEP_ROWS !== 0) continue;
      }
      if (isLate()) return place.atMs;
      yield;
    }
    return 0;
  }

  #include(message: number, endedAtMs: number, momentsMs: readonly number[], since: number[]): void {
    const row = this.#sql.message.get([message]);
    if (row === undefined) return;
    const dueMs = Math.max(row.created_ms as number, row.not_before_ms as number);
    for (let at = momentsMs.length - 1; at >= 0; at -= 1) {
      const atMs = momentsMs[at] as number;
      if (atMs < dueMs) return;
      if (atMs < endedAtMs) since[at] = Math.min(since[at] as number, dueMs);
    }
  }
}

const STATEMENTS = {
  account: 'SELECT id, events FROM accounts WHERE name = ?',
  oldest: 'SELECT min(at_ms) AS atMs FROM events WHERE account = ?',
  message: 'SELECT created_ms, not_before_ms FROM messages WHERE id = ?',
} as const;
