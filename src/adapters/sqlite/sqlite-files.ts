/**
 * SQLite files through a WebAssembly build: one binary for every platform, no compiler, no install script.
 *
 *  - Write-ahead log with the lock held for as long as the file is open: a commit is one sequential write, and a
 *    kill at any moment leaves the last commit. The newest commits may be gone after a power loss; they are folded anew.
 *  - The library marks a lock by a directory beside the file, which outlives a killed process. Whoever opens a file
 *    is its only user (the data directory belongs to one process), so a mark that is found is a dead one's.
 */
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import sqlite from 'node-sqlite3-wasm';
import { describeError } from '../../kernel/index.js';
import {
  SqlFailure,
  type SqlFile,
  type SqlFiles,
  type SqlRow,
  type SqlStatement,
  type SqlValue,
} from '../../ports/index.js';

type Database = InstanceType<typeof sqlite.Database>;
type Statement = ReturnType<Database['prepare']>;

export interface SqliteOptions {
  /** Of pages held in memory. */
  readonly cacheKib?: number;
}

const DEFAULT_CACHE_KIB = 32 * 1024;
/** Pages of the write-ahead log before they are copied into the file. */
const CHECKPOINT_PAGES = 4000;
const COMPANIONS = ['', '-wal', '-shm', '-journal', '.lock'];
/** Texts of the library for a file that cannot be read as one of its own. A full or failing disk is not among them. */
const DAMAGE = /malformed|not a database|corrupt/i;

export class SqliteFiles implements SqlFiles {
  constructor(
    private readonly path: string,
    private readonly options: SqliteOptions = {},
  ) {}

  open(): SqlFile {
    mkdirSync(dirname(this.path), { recursive: true, mode: 0o700 });
    rmSync(`${this.path}.lock`, { recursive: true, force: true });
    return guarded(() => {
      const database = new sqlite.Database(this.path);
      try {
        database.get('PRAGMA locking_mode = EXCLUSIVE');
        database.get('PRAGMA journal_mode = WAL');
        database.exec(`PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = OFF; PRAGMA temp_store = MEMORY;
          PRAGMA cache_size = -${this.options.cacheKib ?? DEFAULT_CACHE_KIB};
          PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES}; PRAGMA journal_size_limit = 67108864;`);
        database.get('SELECT count(*) AS tables FROM sqlite_schema');
        return new OpenFile(database);
      } catch (error) {
        database.close();
        throw error;
      }
    });
  }

  remove(): void {
    for (const companion of COMPANIONS) rmSync(`${this.path}${companion}`, { recursive: true, force: true });
  }

  /** Takes the other's place, whatever that holds. Nobody may have either open. */
  moveTo(other: SqliteFiles): void {
    other.remove();
    for (const companion of COMPANIONS) {
      if (existsSync(`${this.path}${companion}`)) renameSync(`${this.path}${companion}`, `${other.path}${companion}`);
    }
  }

  get exists(): boolean {
    return existsSync(this.path);
  }
}

class OpenFile implements SqlFile {
  readonly #statements: Statement[] = [];

  constructor(private readonly database: Database) {}

  exec(sql: string): void {
    guarded(() => this.database.exec(sql));
  }

  prepare(sql: string): SqlStatement {
    const statement = guarded(() => this.database.prepare(sql));
    this.#statements.push(statement);
    return new Prepared(statement);
  }

  transaction<T>(work: () => T): T {
    this.exec('BEGIN');
    try {
      const result = work();
      this.exec('COMMIT');
      return result;
    } catch (error) {
      if (this.database.inTransaction) this.exec('ROLLBACK');
      throw error;
    }
  }

  close(): void {
    for (const statement of this.#statements.splice(0)) if (!statement.isFinalized) statement.finalize();
    if (this.database.isOpen) guarded(() => this.database.close());
  }
}

class Prepared implements SqlStatement {
  constructor(private readonly statement: Statement) {}

  run(values: readonly SqlValue[]): number {
    return guarded(() => this.statement.run(values as SqlValue[]).changes);
  }

  insert(values: readonly SqlValue[]): number {
    return guarded(() => {
      const { changes, lastInsertRowid } = this.statement.run(values as SqlValue[]);
      return changes === 0 ? 0 : Number(lastInsertRowid);
    });
  }

  get(values: readonly SqlValue[]): SqlRow | undefined {
    return guarded(() => (this.statement.get(values as SqlValue[]) as SqlRow | null) ?? undefined);
  }

  all(values: readonly SqlValue[]): readonly SqlRow[] {
    return guarded(() => this.statement.all(values as SqlValue[]) as SqlRow[]);
  }
}

function guarded<T>(act: () => T): T {
  try {
    return act();
  } catch (error) {
    if (error instanceof SqlFailure) throw error;
    if (!(error instanceof sqlite.SQLite3Error)) throw error;
    const text = describeError(error);
    throw new SqlFailure(text, DAMAGE.test(text), error);
  }
}
