/**
 * A backup's files in a directory that only its owner can read.
 *
 *  BD1 a directory with other files, or with a complete backup, is not written to
 *  BD2 an attempt leaves the file `incomplete` until the manifest is there; the next attempt first removes its files
 */
import { createHash } from 'node:crypto';
import { mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { MillraceError } from '../../kernel/index.js';
import { type BackupFiles, type BackupPlace, type FileRef, MANIFEST_FILE } from '../../ports/index.js';
import {
  ensureDirectory,
  PRIVATE_DIRECTORY,
  PRIVATE_FILE,
  readFileIfThere,
  syncDirectory,
  writeFileAtomic,
} from './files.js';

const INCOMPLETE_FILE = 'incomplete';
/** The only file left by an attempt that was killed in its first moments. */
const INCOMPLETE_DRAFT = `.${INCOMPLETE_FILE}.`;
const INCOMPLETE_TEXT = 'A backup is being written here, or was interrupted. Run it again to start over.\n';
/** The form of backup names: one or two words, which cannot leave the directory. */
const NAME = /^[A-Za-z0-9_-]+(\/[A-Za-z0-9_-]+)?(\.json)?\/?$/;
const FOLDER = /^[A-Za-z0-9_-]+$/;
const READ_BYTES = 1024 * 1024;

export class BackupDirectory implements BackupFiles {
  /** @param onFile  called for each file that is written or read */
  constructor(
    private readonly path: string,
    private readonly onFile: (name: string) => void = () => undefined,
  ) {}

  /**
   * Checks the directory and removes an incomplete attempt (BD1, BD2). @throws CONFLICT; the error of the file system
   */
  async begin(): Promise<void> {
    await ensureDirectory(this.path);
    const found = await readdir(this.path);
    if (found.includes(MANIFEST_FILE)) {
      throw new MillraceError('CONFLICT', `${this.path} holds a backup already: name another directory`);
    }
    const others = found.filter((name) => !name.startsWith(INCOMPLETE_DRAFT));
    if (others.length > 0 && !others.includes(INCOMPLETE_FILE)) {
      throw new MillraceError('CONFLICT', `${this.path} is not empty: name another directory`);
    }
    await writeFileAtomic(join(this.path, INCOMPLETE_FILE), INCOMPLETE_TEXT, PRIVATE_FILE);
    for (const name of found) {
      if (name !== INCOMPLETE_FILE) await rm(join(this.path, name), { recursive: true });
    }
  }

  /** The manifest is written. */
  async end(): Promise<void> {
    await rm(join(this.path, INCOMPLETE_FILE), { force: true });
  }

  async write(name: string, pieces: AsyncIterable<Uint8Array>): Promise<FileRef> {
    this.onFile(name);
    const path = this.#pathOf(name);
    const folder = dirname(path);
    await mkdir(folder, { recursive: true, mode: PRIVATE_DIRECTORY });
    const draft = `${path}.part`;
    const hash = createHash('sha256');
    let bytes = 0;
    const file = await open(draft, 'w', PRIVATE_FILE);
    try {
      for await (const piece of pieces) {
        hash.update(piece);
        bytes += piece.length;
        await file.writeFile(piece);
      }
      await file.sync();
    } catch (error) {
      await file.close();
      await rm(draft, { force: true });
      throw error;
    }
    await file.close();
    await rename(draft, path);
    // Both the folder and its name in the directory above.
    await syncDirectory(folder);
    if (folder !== this.path) await syncDirectory(this.path);
    return { name, bytes, sha256: hash.digest('hex') };
  }

  async read(name: string): Promise<AsyncIterable<Uint8Array> | undefined> {
    this.onFile(name);
    if (name === MANIFEST_FILE) {
      const whole = await readFileIfThere(this.#pathOf(name));
      return whole === undefined ? undefined : onePiece(whole);
    }
    try {
      const file = await open(this.#pathOf(name), 'r');
      return file.createReadStream({ highWaterMark: READ_BYTES });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw error;
    }
  }

  async readAt(name: string, offset: number, bytes: number): Promise<Uint8Array> {
    const file = await open(this.#pathOf(name), 'r');
    try {
      const buffer = Buffer.alloc(bytes);
      let filled = 0;
      while (filled < bytes) {
        const { bytesRead } = await file.read(buffer, filled, bytes - filled, offset + filled);
        if (bytesRead === 0) break;
        filled += bytesRead;
      }
      return buffer.subarray(0, filled);
    } finally {
      await file.close();
    }
  }

  async list(prefix: string): Promise<readonly string[]> {
    const found = await namesIn(this.#pathOf(prefix));
    return found.filter((name) => NAME.test(name)).map((name) => `${prefix}${name}`);
  }

  async removeAll(prefix: string): Promise<void> {
    await rm(this.#pathOf(prefix), { recursive: true, force: true });
  }

  /** Checks a name from a manifest, which may have been written by another program. */
  #pathOf(name: string): string {
    if (!NAME.test(name))
      throw new MillraceError('JOURNAL_DAMAGED', 'the manifest of the backup names an invalid file');
    return join(this.path, name);
  }
}

/** A directory with a folder for each backup. */
export class BackupDirectories implements BackupPlace {
  /** @param onFile  called for each file that is written or read */
  constructor(
    readonly label: string,
    private readonly onFile?: (name: string) => void,
  ) {}

  async folders(): Promise<readonly string[]> {
    return (await namesIn(this.label)).filter((name) => FOLDER.test(name));
  }

  filesOf(folder: string): BackupDirectory {
    return new BackupDirectory(join(this.label, folder), this.onFile);
  }

  async remove(folder: string): Promise<void> {
    const path = join(this.label, folder);
    await rm(join(path, MANIFEST_FILE), { force: true });
    await syncDirectory(path);
    await rm(path, { recursive: true, force: true });
  }

  isLocked(): Promise<boolean> {
    return Promise.resolve(false);
  }

  close(): void {
    // A directory has no connection.
  }
}

/** Names in order; none where there is no directory. */
async function namesIn(path: string): Promise<string[]> {
  try {
    return (await readdir(path)).sort();
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(String((error as NodeJS.ErrnoException).code))) return [];
    throw error;
  }
}

async function* onePiece(piece: Uint8Array): AsyncGenerator<Uint8Array> {
  yield piece;
}
