/**
 * Inserts rows in batches, because a statement alone costs as much as two rows.
 *
 *  MAR1 rows are in the table after `flush`, in the order in which they were added, and not before: a reader within
 *       the transaction flushes first
 */
import type { SqlFile, SqlStatement, SqlValue } from '../ports/index.js';

/** Rows of the largest statement; a rest is inserted by statements of half the size, and so on. */
const MOST = 32;

export class AddedRows {
  readonly #values: SqlValue[] = [];
  readonly #statements = new Map<number, SqlStatement>();

  /**
   * @param insert an INSERT statement up to its rows
   * @param rest the end of the statement
   */
  constructor(
    private readonly file: Pick<SqlFile, 'prepare'>,
    private readonly insert: string,
    private readonly columns: number,
    private readonly rest = '',
  ) {}

  /** @returns the number of existing rows that the statement ignored */
  add(...row: readonly SqlValue[]): number {
    const values = this.#values;
    for (let at = 0; at < row.length; at += 1) values.push(row[at] as SqlValue);
    return values.length < MOST * this.columns ? 0 : this.flush();
  }

  /** @returns as `add` */
  flush(): number {
    const values = this.#values;
    const { columns } = this;
    let left = 0;
    for (let from = 0, width = MOST; from < values.length; ) {
      while (values.length - from < width * columns) width /= 2;
      const to = from + width * columns;
      const some = from === 0 && to === values.length ? values : values.slice(from, to);
      left += width - this.#statement(width).run(some);
      from = to;
    }
    values.length = 0;
    return left;
  }

  /** Called after a rolled-back transaction. */
  forget(): void {
    this.#values.length = 0;
  }

  /** Statements are prepared on first use. */
  #statement(rows: number): SqlStatement {
    const known = this.#statements.get(rows);
    if (known !== undefined) return known;
    const row = `(${Array(this.columns).fill('?').join(', ')})`;
    const made = this.file.prepare(`${this.insert} VALUES ${Array(rows).fill(row).join(', ')} ${this.rest}`);
    this.#statements.set(rows, made);
    return made;
  }
}

/** Ids of rows that are inserted later: ascending, as the table itself would assign them. */
export class RowIds {
  readonly #newest: SqlStatement;
  #last: number | undefined;

  constructor(file: Pick<SqlFile, 'prepare'>, table: string) {
    this.#newest = file.prepare(`SELECT max(id) AS id FROM ${table}`);
  }

  next(): number {
    this.#last = (this.#last ?? (this.#newest.get([])?.id as number | null) ?? 0) + 1;
    return this.#last;
  }

  /** Called after a rolled-back transaction. */
  forget(): void {
    this.#last = undefined;
  }
}
