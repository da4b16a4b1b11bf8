/**
 * Retention of the log: removes events above an age, and the oldest events of an account above its limit, in steps of
 * a few milliseconds. The row, body and envelope of an ended message go with its last event. Workflow runs have the
 * same age limit and a separate limit of the same number.
 */
import type { AccountId } from '../../kernel/index.js';
import type { SqlFile, SqlRow } from '../../ports/index.js';
import { STATE_NUMBERS } from '../log-rows/schema.js';
import { RunRetention } from '../run-log/run-retention.js';
import type { RunRows } from '../run-log/run-rows.js';
import { type Prepared, prepared } from '../statements.js';
import type { QueueRows } from './queue-rows.js';

export interface RetentionLimits {
  readonly maxAgeMs: number;
  /** The limit of accounts without an individual one. */
  readonly maxEvents: number;
}

export interface RetentionRules {
  readonly maxAgeMs: number;
  maxEventsOf(account: AccountId): number;
}

/** Two weeks, as documented; a million events take about 300 MB. */
export const DEFAULT_RETENTION: RetentionLimits = { maxAgeMs: 14 * 24 * 3600 * 1000, maxEvents: 1_000_000 };

const STEP_EVENTS = 500;
const STEP_ACCOUNTS = 200;
const ENDED: ReadonlySet<unknown> = new Set([STATE_NUMBERS.DELIVERED, STATE_NUMBERS.FAILED, STATE_NUMBERS.CANCELED]);

export class MessageLogRetention {
  /** Accounts that may be above a limit. */
  readonly #due = new Set<number>();
  /** Further such accounts, so far known only by name. */
  readonly #dueNames = new Set<AccountId>();
  readonly #sql: Prepared<typeof STATEMENTS>;
  readonly #runs: RunRetention;

  constructor(
    file: SqlFile,
    private readonly rows: QueueRows,
    runs: RunRows,
    private readonly rules: RetentionRules,
  ) {
    this.#runs = new RunRetention(file, runs);
    this.#sql = prepared(file, STATEMENTS);
    this.lookAtAll();
  }

  lookAt(accounts: Iterable<number>): void {
    for (const account of accounts) this.#due.add(account);
  }

  /** Accounts with a changed limit. */
  lookAtNamed(names: Iterable<AccountId>): void {
    for (const name of names) this.#dueNames.add(name);
  }

  /** Called regularly, because events expire without a change. */
  lookAtAll(): void {
    for (const row of this.#sql.accounts.all([])) this.#due.add(row.id as number);
  }

  get isDue(): boolean {
    return this.#due.size > 0 || this.#dueNames.size > 0;
  }

  /**
   * One step, within the caller's transaction.
   * @returns rows removed
   */
  step(nowMs: number): number {
    let looked = 0;
    for (const name of this.#dueNames) {
      if (looked >= STEP_ACCOUNTS) return 0;
      this.#dueNames.delete(name);
      const id = this.#sql.idOf.get([name])?.id as number | undefined;
      if (id !== undefined) this.#due.add(id);
      looked += 1;
    }
    for (const account of this.#due) {
      const oldestMs = nowMs - this.rules.maxAgeMs;
      const row = this.#sql.events.get([account]);
      const maxEvents = this.rules.maxEventsOf(row?.name as AccountId);
      let removed = this.#prune(account, oldestMs, (row?.events as number) - maxEvents);
      if (removed < STEP_EVENTS) {
        removed += this.#runs.prune(account, oldestMs, maxEvents, STEP_EVENTS - removed);
      }
      if (removed < STEP_EVENTS) this.#due.delete(account);
      if (removed > 0) return removed;
      looked += 1;
      if (looked >= STEP_ACCOUNTS) return 0;
    }
    return 0;
  }

  #prune(account: number, oldestMs: number, excess: number): number {
    if (excess <= 0 && ((this.#sql.oldest.get([account])?.at_ms as number | undefined) ?? oldestMs) >= oldestMs)
      return 0;
    const rows = this.#sql.first
      .all([account, STEP_EVENTS])
      .filter((row, at) => at < excess || (row.at_ms as number) < oldestMs);
    const last = rows.at(-1);
    if (last === undefined) return 0;
    this.#sql.drop.run([account, last.at_ms as number, last.n as number]);
    this.#sql.count.run([rows.length, account]);
    for (const { response } of rows) this.rows.shared.dropResponse(response);
    for (const id of endedIn(rows, (message) => this.#isGone(message))) this.rows.dropMessageUnlessNeeded(id);
    return rows.length;
  }

  #isGone(message: number): boolean {
    return this.#sql.isGone.get([message])?.is_gone === 1;
  }
}

const STATEMENTS = {
  accounts: 'SELECT id FROM accounts',
  idOf: 'SELECT id FROM accounts WHERE name = ?',
  events: 'SELECT name, events FROM accounts WHERE id = ?',
  oldest: 'SELECT at_ms FROM events WHERE account = ? ORDER BY at_ms, n LIMIT 1',
  first: 'SELECT at_ms, n, state, message, response FROM events WHERE account = ? ORDER BY at_ms, n LIMIT ?',
  drop: 'DELETE FROM events WHERE account = ? AND (at_ms, n) <= (?, ?)',
  count: 'UPDATE accounts SET events = events - ? WHERE id = ?',
  isGone: 'SELECT is_gone FROM messages WHERE id = ?',
} as const;

/** Messages that end in these events or are already gone: no further events follow for them. */
function endedIn(rows: readonly SqlRow[], isGone: (message: number) => boolean): ReadonlySet<number> {
  const ended = new Set<number>();
  for (const { message, state } of rows) {
    if (ENDED.has(state) || isGone(message as number)) ended.add(message as number);
  }
  return ended;
}
