/**
 * Rows of a log on their way to its table: many of them in one statement, which costs as much as two rows itself. Whoever
 * asks the table for some, or ends its transaction, has the rest written first.
 */
import type { SqlFile, SqlValue } from '../../ports/index.js';
import { type Prepared, prepared } from '../statements.js';

const AT_ONCE = 32;

export class EventRows {
  /** Values, one row behind the other. */
  readonly #values: SqlValue[] = [];
  readonly #sql: Prepared<{ readonly one: string; readonly many: string }>;

  constructor(
    file: SqlFile,
    table: string,
    private readonly columns: number,
  ) {
    const row = `(${Array(columns).fill('?').join(', ')})`;
    this.#sql = prepared(file, {
      one: `INSERT INTO ${table} VALUES ${row}`,
      many: `INSERT INTO ${table} VALUES ${Array(AT_ONCE).fill(row).join(', ')}`,
    });
  }

  add(...row: SqlValue[]): void {
    for (const value of row) this.#values.push(value);
    if (this.#values.length < AT_ONCE * this.columns) return;
    this.#sql.many.run(this.#values);
    this.#values.length = 0;
  }

  addRest(): void {
    for (let at = 0; at < this.#values.length; at += this.columns) {
      this.#sql.one.run(this.#values.slice(at, at + this.columns));
    }
    this.#values.length = 0;
  }

  /** After a transaction that was undone. */
  forget(): void {
    this.#values.length = 0;
  }
}
