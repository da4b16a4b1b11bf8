/**
 * Which runs the log lets go of: those that ended beyond an age, and of each account those that ended first when it has
 * more events of them than its number. A run goes whole, in steps; one that goes on stays, and one in the DLQ.
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

  /** One step, within a transaction of the caller. @returns rows removed; 0: nothing is to go */
  prune(account: number, oldestMs: number, maxEvents: number, count: number): number {
    let removed = 0;
    while (removed < count) {
      const run = this.#sql.first.get([account]);
      if (run === undefined) break;
      const events = this.#sql.events.get([account])?.run_events as number;
      if ((run.ended_ms as number) >= oldestMs && events <= maxEvents) break;
      // What is removed in part is not shown.
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
