/**
 * Rows that are added to a table many at a time: one statement costs as much by itself as two rows do.
 *
 *  MAR1 rows are in the table after `flush`, in the order in which they were added, and not before: whoever looks there
 *      within the transaction asks for it first
 */
import type { SqlFile, SqlStatement, SqlValue } from '../ports/index.js';

/** Most rows of one statement; fewer are added by statements of half as many, and half of that. */
const MOST = 32;

export class AddedRows {
  readonly #values: SqlValue[] = [];
  readonly #statements = new Map<number, SqlStatement>();

  /** @param insert an INSERT up to its rows. @param rest what follows them */
  constructor(
    private readonly file: Pick<SqlFile, 'prepare'>,
    private readonly insert: string,
    private readonly columns: number,
    private readonly rest = '',
  ) {}

  /** @returns rows that were in the table already, where the statement leaves those */
  add(...row: readonly SqlValue[]): number {
    const values = this.#values;
    for (let at = 0; at < row.length; at += 1) values.push(row[at] as SqlValue);
    return values.length < MOST * this.columns ? 0 : this.flush();
  }

  /** @returns the same */
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

  /** After a transaction that was undone. */
  forget(): void {
    this.#values.length = 0;
  }

  /** Prepared when it is needed. */
  #statement(rows: number): SqlStatement {
    const known = this.#statements.get(rows);
    if (known !== undefined) return known;
    const row = `(${Array(this.columns).fill('?').join(', ')})`;
    const made = this.file.prepare(`${this.insert} VALUES ${Array(rows).fill(row).join(', ')} ${this.rest}`);
    this.#statements.set(rows, made);
    return made;
  }
}

/** Ids of rows that are added later: each one more than the one before, as the table itself would give them. */
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

  /** After a transaction that was undone. */
  forget(): void {
    this.#last = undefined;
  }
}
