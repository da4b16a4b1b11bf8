/**
 * SQLite files through a WebAssembly build: one binary for every platform, no compiler, no install script.
 *
 *  - Write-ahead log with the lock held for as long as the file is open: a commit is one sequential write, and a
 *    kill at any moment leaves the last commit. The newest commits may be gone after a power loss; they are folded anew.
 *  - Every statement is run to its end, or ended: one that still has rows to give is a reader, and the write-ahead log
 *    grows for as long as there is one.
 *  - What rows have left is used again, and given back where it is much: a file is at most a third larger than what is in
 *    it. Files made before that was so are only used again.
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

/**
 * Of a file's pages, held in memory, which stays with the thread that ever needed it. Four times as much wrote no faster into
 * a file of 50 MB: what is new lies together, and what is not held comes from the system's own cache.
 */
const CACHE_KIB = 8 * 1024;
/** Pages of the write-ahead log before they are copied into the file. */
const CHECKPOINT_PAGES = 4000;
/** Free pages that a file may have whatever its size, and their share beyond: used again soon, and not worth a move. */
const SPARE_PAGES = 1000;
const SPARE_SHARE = 1 / 4;
/** Given back in one step: about a megabyte. */
const STEP_PAGES = 256;
/** The value of `PRAGMA auto_vacuum` that gives pages back when they are asked for. */
const INCREMENTAL = 2;
const COMPANIONS = ['', '-wal', '-shm', '-journal', '.lock'];
/** Texts of the library for a file that cannot be read as one of its own. A full or failing disk is not among them. */
const DAMAGE = /malformed|not a database|corrupt/i;

export class SqliteFiles implements SqlFiles {
  constructor(private readonly path: string) {}

  open(): SqlFile {
    mkdirSync(dirname(this.path), { recursive: true, mode: 0o700 });
    rmSync(`${this.path}.lock`, { recursive: true, force: true });
    return guarded(() => {
      const database = new sqlite.Database(this.path);
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

function beginWith(database: Database): void {
  database.get('PRAGMA locking_mode = EXCLUSIVE');
  // A file that is new gets its header here, with seven syncs that keep nothing: the first copy of the log syncs all of it.
  // Without them a power loss leaves no file, or one that cannot be read, and either is made anew.
  database.exec('PRAGMA synchronous = OFF');
  // Before anything is written: it cannot be changed later.
  database.exec('PRAGMA auto_vacuum = INCREMENTAL');
  database.get('PRAGMA journal_mode = WAL');
  database.exec(`PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = OFF; PRAGMA temp_store = MEMORY;
    PRAGMA cache_size = -${CACHE_KIB};
    PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES}; PRAGMA journal_size_limit = 67108864;`);
  database.get('SELECT count(*) AS tables FROM sqlite_schema');
}

/**
 * Has the engine compile what opening a file runs through, on a database in memory that is thrown away. It compiles a
 * function of WebAssembly when that is first called, some 40 ms in all: a thread that waits for its task has them to spare.
 */
export function compileAhead(): void {
  const file = new OpenFile(new sqlite.Database());
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

  constructor(readonly database: Database) {
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
        // The file itself becomes shorter when the log is copied into it.
        if (this.#hasGivenBack) this.database.exec('PRAGMA wal_checkpoint(PASSIVE)');
        this.#hasGivenBack = false;
        return 0;
      }
      this.#hasGivenBack = true;
      // Not a statement: each page that it gives back is a row.
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
  #statement: Statement;

  constructor(
    private readonly database: Database,
    private readonly sql: string,
  ) {
    this.#statement = guarded(() => database.prepare(sql));
  }

  run(values: readonly SqlValue[]): number {
    return this.#ask((statement) => statement.run(values as SqlValue[]).changes);
  }

  insert(values: readonly SqlValue[]): number {
    return this.#ask((statement) => {
      const { changes, lastInsertRowid } = statement.run(values as SqlValue[]);
      return changes === 0 ? 0 : Number(lastInsertRowid);
    });
  }

  get(values: readonly SqlValue[]): SqlRow | undefined {
    // The library's own `get` stops at the row and leaves the statement open.
    return this.all(values)[0];
  }

  all(values: readonly SqlValue[]): readonly SqlRow[] {
    return this.#ask((statement) => statement.all(values as SqlValue[]) as SqlRow[]);
  }

  end(): void {
    if (this.#statement.isFinalized) return;
    try {
      this.#statement.finalize();
    } catch (error) {
      // It says again what the last run has failed with, and is ended all the same.
      if (!(error instanceof sqlite.SQLite3Error)) throw error;
    }
  }

  #ask<T>(question: (statement: Statement) => T): T {
    return guarded(() => {
      if (this.#statement.isFinalized) this.#statement = this.database.prepare(this.sql);
      try {
        return question(this.#statement);
      } catch (error) {
        // Half-way, and the library would refuse its next use.
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
