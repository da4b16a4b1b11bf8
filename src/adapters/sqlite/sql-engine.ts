/** The functions of a SQLite library that are used here; there are two libraries, one with encryption. */
import type { SqlValue } from '../../ports/index.js';

export interface SqlEngine {
  readonly isOpen: boolean;
  readonly inTransaction: boolean;
  exec(sql: string): void;
  get(sql: string): unknown;
  prepare(sql: string): EngineStatement;
  close(): void;
}

export interface EngineStatement {
  readonly isFinalized: boolean;
  run(values: SqlValue[]): { readonly changes: number; readonly lastInsertRowid: number | bigint };
  all(values: SqlValue[]): readonly Readonly<Record<string, unknown>>[];
  finalize(): void;
}

/** The libraries' texts for an unreadable file. A full or failing disk is not among them. */
export const DAMAGE = /malformed|not a database|corrupt/i;
