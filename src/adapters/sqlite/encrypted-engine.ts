/**
 * SQLite with encrypted pages: a WebAssembly build with SQLite3 Multiple Ciphers (ChaCha20-Poly1305 for each page, also in the
 * write-ahead log). It reads and writes through the file system below, because the build has only one in memory.
 *
 *  ENC1 a file opens only with the key that it was made with; otherwise it is reported as damaged, and is built again
 *  ENC2 no page leaves this process unencrypted: temporary tables are in memory
 *
 * A data directory belongs to one process, so there are no locks.
 */
import { randomFillSync } from 'node:crypto';
import fs from 'node:fs';
import { dirname } from 'node:path';
import { describeError } from '../../kernel/index.js';
import { SqlFailure, type SqlRow, type SqlValue } from '../../ports/index.js';
import { DAMAGE, type EngineStatement, type SqlEngine } from './sql-engine.js';

type Library = Awaited<ReturnType<typeof import('@evolu/sqlite-wasm')['default']>>;
type OpenDatabase = InstanceType<Library['oo1']['DB']>;
type PreparedStatement = ReturnType<OpenDatabase['prepare']>;

const FILE_SYSTEM = 'millrace-files';
/** The name that the library gives to the layer with ciphers above a file system. */
const CIPHERS = `multipleciphers-${FILE_SYSTEM}`;
const CIPHER = 'chacha20';
const MAX_PATH_BYTES = 4096;
const SECTOR_BYTES = 4096;
/** As in files without encryption; the library's own is twice as much. */
const PAGE_BYTES = 4096;
/** SQLite counts time in days of the Julian calendar. */
const DAY_MS = 86_400_000;
const EPOCH_AS_JULIAN_DAY = 2_440_587.5;

/** Loads the library. @param key 32 bytes @returns opens a file */
export async function encryptedEngine(key: Uint8Array): Promise<(path: string) => SqlEngine> {
  const { default: load } = await import('@evolu/sqlite-wasm');
  const library = await load();
  // It would print the statement of an error, with its values.
  library.config.warn = () => undefined;
  library.config.error = () => undefined;
  installFiles(library);
  const text = Buffer.from(key).toString('hex');
  return (path) => guarded(() => new EncryptedDatabase(library, path, text));
}

class EncryptedDatabase implements SqlEngine {
  readonly #database: OpenDatabase;

  constructor(
    private readonly library: Library,
    path: string,
    key: string,
  ) {
    this.#database = new library.oo1.DB({ filename: path, flags: 'c', vfs: CIPHERS });
    // Before any other statement, because it reads the file.
    this.#database.exec(`PRAGMA cipher = '${CIPHER}'; PRAGMA key = 'raw:${key}'; PRAGMA page_size = ${PAGE_BYTES}`);
  }

  get isOpen(): boolean {
    return this.#database.isOpen();
  }

  get inTransaction(): boolean {
    return this.isOpen && this.#autocommit() === 0;
  }

  #autocommit(): unknown {
    return this.library.wasm.xCallWrapped('sqlite3_get_autocommit', 'int', ['sqlite3*'], this.#database);
  }

  exec(sql: string): void {
    guarded(() => this.#database.exec(sql));
  }

  get(sql: string): unknown {
    return guarded(() => this.#database.selectValue(sql));
  }

  prepare(sql: string): EngineStatement {
    return guarded(() => new EncryptedStatement(this.library, this.#database, this.#database.prepare(sql)));
  }

  close(): void {
    this.#database.close();
  }
}

class EncryptedStatement implements EngineStatement {
  isFinalized = false;

  constructor(
    private readonly library: Library,
    private readonly database: OpenDatabase,
    private readonly statement: PreparedStatement,
  ) {}

  run(values: SqlValue[]) {
    return guarded(() => {
      this.#bind(values);
      this.statement.stepReset();
      const { capi } = this.library;
      return {
        changes: Number(capi.sqlite3_changes(this.database)),
        lastInsertRowid: Number(capi.sqlite3_last_insert_rowid(this.database)),
      };
    });
  }

  all(values: SqlValue[]): SqlRow[] {
    return guarded(() => {
      this.#bind(values);
      const rows: SqlRow[] = [];
      while (this.statement.step()) rows.push(this.statement.get({}) as SqlRow);
      this.statement.reset();
      return rows;
    });
  }

  finalize(): void {
    this.isFinalized = true;
    this.statement.finalize();
  }

  #bind(values: SqlValue[]): void {
    if (values.length > 0) this.statement.bind(values);
  }
}

/** The same kind of error for every failure of the library. */
function guarded<T>(act: () => T): T {
  try {
    return act();
  } catch (error) {
    const text = describeError(error);
    throw new SqlFailure(text, DAMAGE.test(text), error);
  }
}

/** Gives the library the files of this machine, and the layer with ciphers above them. */
function installFiles(library: Library): void {
  const { capi, wasm, vfs } = library;
  const files = new MachineFiles(library);
  vfs.installVfs({ io: { struct: files.struct, methods: files.methods() } });
  const system = new capi.sqlite3_vfs();
  system.$iVersion = 1;
  system.$szOsFile = new capi.sqlite3_file().structInfo.sizeof;
  system.$mxPathname = MAX_PATH_BYTES;
  vfs.installVfs({ vfs: { struct: system, name: FILE_SYSTEM, methods: systemMethods(library, files) } });
  const code: unknown = wasm.xCallWrapped('sqlite3mc_vfs_create', 'int', ['string', 'int'], FILE_SYSTEM, 0);
  if (code !== 0) throw new SqlFailure(`the ciphers of the SQLite library cannot be used (code ${code})`, false);
}

/** The open files of the library. Its methods return codes of SQLite. */
class MachineFiles {
  readonly struct: InstanceType<Library['capi']['sqlite3_io_methods']>;
  readonly #descriptors = new Map<unknown, number>();

  constructor(private readonly library: Library) {
    this.struct = new library.capi.sqlite3_io_methods();
  }

  /** @throws the error of the file system */
  open(file: number, path: string, mayCreate: boolean): void {
    const how = fs.constants.O_RDWR | (mayCreate ? fs.constants.O_CREAT : 0);
    this.#descriptors.set(file, fs.openSync(path, how, 0o600));
    const opened = new this.library.capi.sqlite3_file(file);
    opened.$pMethods = this.struct.pointer;
    opened.dispose();
  }

  /** @returns the code of `act`, `failure` if it throws, or the code of a full disk */
  step(failure: number, act: () => number): number {
    try {
      return act();
    } catch (error) {
      return (error as NodeJS.ErrnoException).code === 'ENOSPC' ? this.library.capi.SQLITE_FULL : failure;
    }
  }

  bytesAt(at: number, count: number): Uint8Array {
    return this.library.wasm.heap8u().subarray(at, at + count);
  }

  methods() {
    const { capi, wasm } = this.library;
    const of = (file: number) => this.#descriptors.get(file) as number;
    return {
      xClose: (file: number) =>
        this.step(capi.SQLITE_IOERR_CLOSE, () => {
          fs.closeSync(of(file));
          this.#descriptors.delete(file);
          return 0;
        }),
      xRead: (file: number, into: number, count: number, offset: number) =>
        this.step(capi.SQLITE_IOERR_READ, () => {
          const bytes = this.bytesAt(into, count);
          const read = fs.readSync(of(file), bytes, 0, count, Number(offset));
          bytes.fill(0, read);
          return read === count ? 0 : capi.SQLITE_IOERR_SHORT_READ;
        }),
      xWrite: (file: number, from: number, count: number, offset: number) =>
        this.step(capi.SQLITE_IOERR_WRITE, () => {
          const written = fs.writeSync(of(file), this.bytesAt(from, count), 0, count, Number(offset));
          return written === count ? 0 : capi.SQLITE_FULL;
        }),
      xTruncate: (file: number, size: number) =>
        this.step(capi.SQLITE_IOERR_TRUNCATE, () => {
          fs.ftruncateSync(of(file), Number(size));
          return 0;
        }),
      xSync: (file: number) =>
        this.step(capi.SQLITE_IOERR_FSYNC, () => {
          fs.fsyncSync(of(file));
          return 0;
        }),
      xFileSize: (file: number, out: number) =>
        this.step(capi.SQLITE_IOERR_FSTAT, () => {
          wasm.poke64(out, fs.fstatSync(of(file), { bigint: true }).size);
          return 0;
        }),
      xLock: () => 0,
      xUnlock: () => 0,
      xCheckReservedLock: (_: number, out: number) => {
        wasm.poke32(out, 0);
        return 0;
      },
      xFileControl: () => capi.SQLITE_NOTFOUND,
      xSectorSize: () => SECTOR_BYTES,
      xDeviceCharacteristics: () => 0,
    };
  }
}

function systemMethods({ capi, wasm }: Library, files: MachineFiles) {
  const pathAt = (name: number) => wasm.cstrToJs(name) ?? '';
  return {
    xOpen: (_: number, name: number, file: number, flags: number, outFlags: number) =>
      files.step(capi.SQLITE_CANTOPEN, () => {
        files.open(file, pathAt(name), (flags & capi.SQLITE_OPEN_CREATE) !== 0);
        if (outFlags) wasm.poke32(outFlags, flags);
        return 0;
      }),
    xDelete: (_: number, name: number, syncsFolder: number) =>
      files.step(capi.SQLITE_IOERR_DELETE, () => {
        fs.rmSync(pathAt(name), { force: true });
        if (syncsFolder) syncFolder(dirname(pathAt(name)));
        return 0;
      }),
    xAccess: (_: number, name: number, __: number, out: number) => {
      wasm.poke32(out, Number(fs.existsSync(pathAt(name))));
      return 0;
    },
    xFullPathname: (_: number, name: number, room: number, out: number) =>
      wasm.cstrncpy(out, name, room) < room ? 0 : capi.SQLITE_CANTOPEN,
    xGetLastError: () => undefined,
    xRandomness: (_: number, count: number, out: number) => {
      randomFillSync(files.bytesAt(out, count));
      return count;
    },
    xSleep: () => 0,
    xCurrentTime: (_: number, out: number) => {
      wasm.poke64f(out, EPOCH_AS_JULIAN_DAY + Date.now() / DAY_MS);
      return 0;
    },
  };
}

function syncFolder(path: string): void {
  const folder = fs.openSync(path, 'r');
  try {
    fs.fsyncSync(folder);
  } finally {
    fs.closeSync(folder);
  }
}
