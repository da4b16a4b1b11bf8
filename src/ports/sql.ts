/**
 * A local, disposable file of tables for read models. All calls are synchronous and belong in a separate thread. Every
 * row can be rebuilt from other stored data.
 *
 *  SQ1 the changes of a transaction are complete or absent, also after the process was killed during it
 *  SQ2 a text ends at its first NUL: a value that may contain one is stored as bytes or JSON
 *  SQ3 a damaged file is reported (`isDamaged`), and no answer is made from it
 */
export type SqlValue = number | string | Uint8Array | null;
export type SqlRow = Readonly<Record<string, SqlValue>>;

export interface SqlStatement {
  /** The statement returns no rows. @returns rows changed. @throws SqlFailure, as all of these do */
  run(values: readonly SqlValue[]): number;
  /** @returns the new row's id; 0 when the statement keeps an existing row */
  insert(values: readonly SqlValue[]): number;
  /** The first row. The statement runs to its end, so it should find at most one: by a key, or `LIMIT 1`. */
  get(values: readonly SqlValue[]): SqlRow | undefined;
  all(values: readonly SqlValue[]): readonly SqlRow[];
}

export interface SqlFile {
  exec(sql: string): void;
  prepare(sql: string): SqlStatement;
  /** Commits the changes of `work`, or undoes them when it throws. Not nested. */
  transaction<T>(work: () => T): T;
  /**
   * Outside of a transaction: returns some unused space of the file, where it is worth it. A step takes some
   * milliseconds. @returns bytes; 0: not worth it, or not possible with this file
   */
  giveBack(): number;
  close(): void;
}

export interface SqlFiles {
  /** Creates the file if it is missing. @throws SqlFailure */
  open(): SqlFile;
  /** Removes the file and its companions. It must not be open. */
  remove(): void;
}

export class SqlFailure extends Error {
  constructor(
    message: string,
    /** The file is unusable: remove it. */
    readonly isDamaged: boolean,
    cause?: unknown,
  ) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'SqlFailure';
  }
}
