/**
 * Retention of runs: removes those that ended before the age limit and, when an account has too many events, those
 * that ended first. A run is removed as a whole, in steps; active runs and runs in the DLQ stay.
 */
import type { SqlFile } from '../../ports/index.js';
import { type Prepared, prepared } from '../statements.js';
import type { RunRows } from './run-rows.js';

export class RunRetention {
  readonly #sql: Prepared<typeof STATEMENTS>;

  constructor(
    file: SqlFile,
    private readonly rows: RunRows,
  ) {
    this.#sql = prepared(file, STATEMENTS);
  }

  /**
   * One step, within the caller's transaction.
   * @returns rows removed; 0: none are due
   */
  prune(account: number, oldestMs: number, maxEvents: number, count: number): number {
    let removed = 0;
    while (removed < count) {
      const run = this.#sql.first.get([account]);
      if (run === undefined) break;
      const events = this.#sql.events.get([account])?.run_events as number;
      if ((run.ended_ms as number) >= oldestMs && events <= maxEvents) break;
      // A partly removed run is not shown.
      if (run.is_hidden === 0) this.#sql.hide.run([run.id as number]);
      const step = this.rows.removeSome(run.id as number, count - removed);
      if (step.events > 0) this.#sql.count.run([step.events, account]);
      removed += step.removed;
    }
    return removed;
  }
}

const STATEMENTS = {
  first: `SELECT id, ended_ms, is_hidden FROM runs INDEXED BY runs_free WHERE account = ? AND is_held = 0
    ORDER BY ended_ms LIMIT 1`,
  events: 'SELECT run_events FROM accounts WHERE id = ?',
  hide: 'UPDATE runs SET is_hidden = 1, ended_ms = 0 WHERE id = ?',
  count: 'UPDATE accounts SET run_events = run_events - ? WHERE id = ?',
} as const;
