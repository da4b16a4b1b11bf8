/**
 * A local, disposable file of tables: what read models are kept in. Everything is synchronous and belongs in a
 * thread of its own; nothing that exists nowhere else is ever stored here.
 *
 *  SQ1 what a transaction changed is there wholly or not at all, also after the process was killed in it
 *  SQ2 a text ends at its first NUL: what may hold one and must not lose it is stored as bytes or as JSON
 *  SQ3 a file whose bytes make no sense is reported (`isDamaged`), never answered from
 */
export type SqlValue = number | string | Uint8Array | null;
export type SqlRow = Readonly<Record<string, SqlValue>>;

export interface SqlStatement {
  /** The statement gives no rows. @returns rows changed. @throws SqlFailure, as all of these do */
  run(values: readonly SqlValue[]): number;
  /** @returns the new row's id; 0 when the statement says to leave a row that is there already */
  insert(values: readonly SqlValue[]): number;
  /** The first row. It is run to its end, so let it find one at most: by a key, or `LIMIT 1`. */
  get(values: readonly SqlValue[]): SqlRow | undefined;
  all(values: readonly SqlValue[]): readonly SqlRow[];
}

export interface SqlFile {
  exec(sql: string): void;
  prepare(sql: string): SqlStatement;
  /** Commits what `work` did, or undoes it when it throws. Not nested. */
  transaction<T>(work: () => T): T;
  /**
   * Outside of a transaction: gives back some of the space that nothing is in any more, where it is worth it. A step
   * takes some milliseconds. @returns bytes; 0: not worth it, or not possible with this file
   */
  giveBack(): number;
  close(): void;
}

export interface SqlFiles {
  /** Makes the file where there is none. @throws SqlFailure */
  open(): SqlFile;
  /** Removes the file and all that belongs to it. Nobody may have it open. */
  remove(): void;
}

export class SqlFailure extends Error {
  constructor(
    message: string,
    /** The file is of no use any more: remove it. */
    readonly isDamaged: boolean,
    cause?: unknown,
  ) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'SqlFailure';
  }
}
