/**
 * SQLite files through a WebAssembly build: one binary for every platform, without a compiler or an install script.
 *
 * - The write-ahead log has its lock held while the file is open: a commit is one sequential write, and a kill at any
 *   moment leaves the last commit. The newest commits may be lost at a power loss; they are folded again.
 * - Every statement is run to its end or ended, because one with unread rows is a reader, and the write-ahead log
 *   grows while there is a reader.
 * - Free pages are reused, and returned when there are many: a file is at most a third larger than its contents.
 *   Files made by old releases only reuse them.
 * - The library marks a lock by a directory next to the file, which remains after a kill. The data directory belongs to
 *   one process, so an existing mark is from a dead one.
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
import { DAMAGE, type EngineStatement, type SqlEngine } from './sql-engine.js';

/**
 * Pages of a file in memory, which the thread keeps once it needed them. Four times as much was not faster for a file
 * of 50 MB: new rows are together, and other pages come from the system's cache.
 */
const CACHE_KIB = 8 * 1024;
/** Pages of the write-ahead log before they are copied into the file. */
const CHECKPOINT_PAGES = 4000;
/**
 * Free pages that a file of any size may have, and their additional share: they are soon reused, and not worth moving.
 */
const SPARE_PAGES = 1000;
const SPARE_SHARE = 1 / 4;
/** Returned in one step: about a megabyte. */
const STEP_PAGES = 256;
/** The value of `PRAGMA auto_vacuum` that returns pages on request. */
const INCREMENTAL = 2;
const COMPANIONS = ['', '-wal', '-shm', '-journal', '.lock'];

export class SqliteFiles implements SqlFiles {
  /** @param engine opens a file; by default without encryption */
  constructor(
    private readonly path: string,
    private readonly engine: (path: string) => SqlEngine = plainEngine,
  ) {}

  open(): SqlFile {
    mkdirSync(dirname(this.path), { recursive: true, mode: 0o700 });
    rmSync(`${this.path}.lock`, { recursive: true, force: true });
    return guarded(() => {
      const database = this.engine(this.path);
      try {
        beginWith(database);
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

  /** Replaces the other file. Neither may be open. */
  moveTo(other: SqliteFiles): void {
    other.remove();
    for (const companion of COMPANIONS) {
      if (existsSync(`${this.path}${companion}`)) renameSync(`${this.path}${companion}`, `${other.path}${companion}`);
    }
  }
}

function plainEngine(path?: string): SqlEngine {
  return new sqlite.Database(path);
}

function beginWith(database: SqlEngine): void {
  database.get('PRAGMA locking_mode = EXCLUSIVE');
  // A new file gets its header here, with seven needless syncs: the first copy of the log syncs all of it. Without them
  // a power loss leaves no file or an unreadable one, and either is rebuilt.
  database.exec('PRAGMA synchronous = OFF');
  // Set before the first write, because it cannot be changed later.
  database.exec('PRAGMA auto_vacuum = INCREMENTAL');
  database.get('PRAGMA journal_mode = WAL');
  database.exec(`PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = OFF; PRAGMA temp_store = MEMORY;
    PRAGMA cache_size = -${CACHE_KIB};
    PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES}; PRAGMA journal_size_limit = 67108864;`);
  database.get('SELECT count(*) AS tables FROM sqlite_schema');
}

/**
 * Compiles the functions used for opening a file, on a temporary database in memory. The engine compiles a WebAssembly
 * function at its first call, about 40 ms in total, which a thread that waits for its task can spare.
 */
export function compileAhead(): void {
  const file = new OpenFile(plainEngine());
  try {
    beginWith(file.database);
    file.exec(`CREATE TABLE example (id INTEGER PRIMARY KEY, word TEXT NOT NULL, amount INTEGER) STRICT;
      CREATE INDEX example_by_word ON example (word, amount)`);
    const insert = file.prepare(
      'INSERT INTO example (word, amount) VALUES (?, ?) ON CONFLICT DO UPDATE SET amount = amount + 1',
    );
    file.transaction(() => insert.run(['one', 1]));
    file
      .prepare('SELECT word, sum(amount) AS amount FROM example WHERE word > ? GROUP BY word ORDER BY id DESC LIMIT 1')
      .get(['']);
  } finally {
    file.close();
  }
}

class OpenFile implements SqlFile {
  readonly #statements: Prepared[] = [];

  readonly #sizes: SqlStatement;
  #hasGivenBack = false;

  constructor(readonly database: SqlEngine) {
    this.#sizes =
      this.prepare(`SELECT freelist_count AS spare, page_count AS pages, auto_vacuum AS mode, page_size AS size
      FROM pragma_freelist_count, pragma_page_count, pragma_auto_vacuum, pragma_page_size`);
  }

  exec(sql: string): void {
    guarded(() => this.database.exec(sql));
  }

  prepare(sql: string): SqlStatement {
    const statement = new Prepared(this.database, sql);
    this.#statements.push(statement);
    return statement;
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

  giveBack(): number {
    return guarded(() => {
      const { spare, pages, mode, size } = this.#sizes.get([]) as Readonly<Record<string, number>>;
      if (mode !== INCREMENTAL || (spare as number) <= Math.max(SPARE_PAGES, (pages as number) * SPARE_SHARE)) {
        // The file becomes shorter when the log is copied into it.
        if (this.#hasGivenBack) this.database.exec('PRAGMA wal_checkpoint(PASSIVE)');
        this.#hasGivenBack = false;
        return 0;
      }
      this.#hasGivenBack = true;
      // Not a statement, because each returned page is a row.
      this.database.exec(`PRAGMA incremental_vacuum(${STEP_PAGES})`);
      return STEP_PAGES * (size as number);
    });
  }

  close(): void {
    for (const statement of this.#statements.splice(0)) statement.end();
    if (this.database.isOpen) guarded(() => this.database.close());
  }
}

class Prepared implements SqlStatement {
  #statement: EngineStatement;

  constructor(
    private readonly database: SqlEngine,
    private readonly sql: string,
  ) {
    this.#statement = guarded(() => database.prepare(sql));
  }

  run(values: readonly SqlValue[]): number {
    return this.#ask((statement) => statement.run([...values]).changes);
  }

  insert(values: readonly SqlValue[]): number {
    return this.#ask((statement) => {
      const { changes, lastInsertRowid } = statement.run([...values]);
      return changes === 0 ? 0 : Number(lastInsertRowid);
    });
  }

  get(values: readonly SqlValue[]): SqlRow | undefined {
    // The library's `get` stops at the row and leaves the statement open.
    return this.all(values)[0];
  }

  all(values: readonly SqlValue[]): readonly SqlRow[] {
    return this.#ask((statement) => statement.all([...values]) as readonly SqlRow[]);
  }

  end(): void {
    if (this.#statement.isFinalized) return;
    try {
      this.#statement.finalize();
    } catch (error) {
      // It repeats the error of the last run, and the statement is ended all the same.
      if (!(error instanceof sqlite.SQLite3Error)) throw error;
    }
  }

  #ask<T>(question: (statement: EngineStatement) => T): T {
    return guarded(() => {
      if (this.#statement.isFinalized) this.#statement = this.database.prepare(this.sql);
      try {
        return question(this.#statement);
      } catch (error) {
        // The statement is half done, and the library would refuse its next use.
        this.end();
        throw error;
      }
    });
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
