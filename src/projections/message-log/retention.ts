/**
 * Retention of the log: removes events above an age, and the oldest events of an account above its limit, in steps of
 * a few milliseconds. Answers to successful attempts have a shorter age and a limit of bytes; their events stay. The row, body and envelope of an ended message go with its last event. Workflow runs have the
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
  /** Of answers to successful attempts. */
  readonly maxAnswerAgeMs: number;
  /** The limit of accounts without an individual one. */
  readonly maxEvents: number;
}

export interface RetentionRules {
  readonly maxAgeMs: number;
  readonly maxAnswerAgeMs: number;
  maxEventsOf(account: AccountId): number;
}

const DAY_MS = 24 * 3600 * 1000;
/** Two weeks and three days, as documented; a million events take about 300 MB. */
export const DEFAULT_RETENTION: RetentionLimits = {
  maxAgeMs: 14 * DAY_MS,
  maxAnswerAgeMs: 3 * DAY_MS,
  maxEvents: 1_000_000,
};
/** An account's answers to successful attempts take at most this much for each event that it may have: about a gigabyte. */
const ANSWER_BYTES_PER_EVENT = 1024;

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
        removed += this.#dropAnswers(account, nowMs - this.rules.maxAnswerAgeMs, maxEvents * ANSWER_BYTES_PER_EVENT);
      }
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
    for (const { response, state } of rows) {
      if (state === STATE_NUMBERS.DELIVERED) this.rows.shared.dropAnswer(account, response);
      else this.rows.shared.dropResponse(response);
    }
    for (const id of endedIn(rows, (message) => this.#isGone(message))) this.rows.dropMessageUnlessNeeded(id);
    return rows.length;
  }

  /** @returns answers removed */
  #dropAnswers(account: number, oldestMs: number, maxBytes: number): number {
    let excess = (this.#sql.answerBytes.get([account])?.answer_bytes as number) - maxBytes;
    const oldest = this.#sql.oldestAnswer.get([account])?.at_ms as number | undefined;
    if (oldest === undefined || (excess <= 0 && oldest >= oldestMs)) return 0;
    let removed = 0;
    for (const { at_ms: atMs, n, response } of this.#sql.firstAnswers.all([account, STEP_EVENTS])) {
      if (excess <= 0 && (atMs as number) >= oldestMs) break;
      excess -= this.rows.shared.dropAnswer(account, response);
      this.#sql.withoutAnswer.run([account, atMs as number, n as number]);
      removed += 1;
    }
    return removed;
  }

  #isGone(message: number): boolean {
    return this.#sql.isGone.get([message])?.is_gone === 1;
  }
}

/** The condition of the index `events_with_answer`. */
const ANSWERED = `FROM events WHERE account = ? AND state = ${STATE_NUMBERS.DELIVERED} AND response IS NOT NULL ORDER BY at_ms, n`;

const STATEMENTS = {
  accounts: 'SELECT id FROM accounts',
  idOf: 'SELECT id FROM accounts WHERE name = ?',
  events: 'SELECT name, events FROM accounts WHERE id = ?',
  oldest: 'SELECT at_ms FROM events WHERE account = ? ORDER BY at_ms, n LIMIT 1',
  first: 'SELECT at_ms, n, state, message, response FROM events WHERE account = ? ORDER BY at_ms, n LIMIT ?',
  drop: 'DELETE FROM events WHERE account = ? AND (at_ms, n) <= (?, ?)',
  count: 'UPDATE accounts SET events = events - ? WHERE id = ?',
  answerBytes: 'SELECT answer_bytes FROM accounts WHERE id = ?',
  oldestAnswer: `SELECT at_ms ${ANSWERED} LIMIT 1`,
  firstAnswers: `SELECT at_ms, n, response ${ANSWERED} LIMIT ?`,
  withoutAnswer: 'UPDATE events SET response = NULL WHERE account = ? AND at_ms = ? AND n = ?',
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
