/**
 * Files with contents of indexes, one for each index of a partition: `<directory>/<partition>/<hash of the definition>`.
 * A file is a list of pieces, each with its length and checksum; an empty piece ends it. With a key, pieces are encrypted.
 *
 *  IXF1 bytes are returned as they were written, or not at all
 *  IXF2 a draft is removed only if its process has ended; several processes have one directory
 */
import { createHash, randomUUID } from 'node:crypto';
import { type FileHandle, open, readdir, rename, rm, rmdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { crc32 } from 'node:zlib';
import type { ByteString, PartitionName } from '../../kernel/index.js';
import type { IndexDraft, IndexFiles } from '../../ports/index.js';
import { ensureDirectory, PRIVATE_FILE, readFileIfThere } from './files.js';
import { isAlive } from './running-file.js';
import { openBytes, sealBytes } from './sealed-bytes.js';

const HEAD_BYTES = 8;
const SUFFIX = '.index';
/** The name of a draft begins with the id of its process. */
const DRAFT = /^(\d+)-.*\.draft$/;
/** A draft without a new piece for so long is not of the living process with its id. */
const DRAFT_IDLE_MS = 10 * 60_000;
/** Unfinished drafts of this process. */
const openDrafts = new Set<string>();

export class NodeIndexFiles implements IndexFiles {
  constructor(
    private readonly directory: string,
    private readonly key?: Uint8Array,
  ) {}

  async read(partition: PartitionName, index: ByteString): Promise<Uint8Array | undefined> {
    const file = await readFileIfThere(join(this.#directoryOf(partition), nameOf(index)));
    return file === undefined ? undefined : await joined(file, nameOf(index), this.key);
  }

  write(partition: PartitionName, index: ByteString): IndexDraft {
    return new Draft(this.#directoryOf(partition), nameOf(index), this.key);
  }

  async keepOnlyOf(partitions: readonly PartitionName[]): Promise<void> {
    const kept = new Set(partitions.map(folderOf));
    for (const name of await readdir(this.directory).catch(() => [])) {
      if (!kept.has(name)) await rm(join(this.directory, name), { recursive: true, force: true });
    }
  }

  async keepOnly(partition: PartitionName, indexes: readonly ByteString[]): Promise<void> {
    const directory = this.#directoryOf(partition);
    const kept = new Set(indexes.map(nameOf));
    const present = await readdir(directory).catch(() => []);
    for (const name of present) {
      const path = join(directory, name);
      if (!kept.has(name) && !(await isOpenDraft(path, name))) await rm(path, { force: true });
    }
    if (kept.size === 0 && present.length > 0) await rmdir(directory).catch(() => undefined);
  }

  #directoryOf(partition: PartitionName): string {
    return join(this.directory, folderOf(partition));
  }
}

function folderOf(partition: PartitionName): string {
  return partition.replace(/[^\w-]/g, '_');
}

function nameOf(index: ByteString): string {
  return createHash('sha256').update(index, 'latin1').digest('hex').slice(0, 40) + SUFFIX;
}

/** Whether a process may still write the file. */
async function isOpenDraft(path: string, name: string): Promise<boolean> {
  const [, id] = DRAFT.exec(name) ?? [];
  if (id === undefined) return false;
  if (Number(id) === process.pid) return openDrafts.has(path);
  if (!isAlive(Number(id))) return false;
  // The id may be that of a process which was started after the writer's end.
  const changed = await stat(path).catch(() => undefined);
  return changed !== undefined && Date.now() - changed.mtimeMs < DRAFT_IDLE_MS;
}

/** A piece is bound to its file and its place there. */
function placeOf(name: string, at: number): string {
  return `${name} ${at}`;
}

/** The pieces without their heads; undefined when one is damaged or the end is missing. */
async function joined(file: Buffer, name: string, key: Uint8Array | undefined): Promise<Uint8Array | undefined> {
  let length = 0;
  for (let at = 0; at + HEAD_BYTES <= file.length; ) {
    const bytes = file.readUInt32LE(at);
    const sum = file.readUInt32LE(at + 4);
    const from = at + HEAD_BYTES;
    if (bytes === 0)
      return at + HEAD_BYTES === file.length && sum === length >>> 0 ? file.subarray(0, length) : undefined;
    if (from + bytes > file.length || crc32(file.subarray(from, from + bytes)) !== sum) return undefined;
    const stored = file.subarray(from, from + bytes);
    const piece = key === undefined ? stored : openBytes(key, stored, placeOf(name, length));
    if (piece === undefined) return undefined;
    // The pieces are moved together in place.
    file.set(piece, length);
    length += piece.length;
    at = from + bytes;
    await nextTurn();
  }
  return undefined;
}

class Draft implements IndexDraft {
  readonly #draft: string;
  #file: FileHandle | undefined;
  #length = 0;

  constructor(
    private readonly directory: string,
    private readonly name: string,
    private readonly key: Uint8Array | undefined,
  ) {
    this.#draft = join(directory, `${process.pid}-${randomUUID()}.draft`);
    openDrafts.add(this.#draft);
  }

  async append(piece: Uint8Array): Promise<void> {
    if (piece.length === 0) return;
    const stored = this.key === undefined ? piece : sealBytes(this.key, piece, placeOf(this.name, this.#length));
    await this.#write(stored, crc32(stored));
    this.#length += piece.length;
  }

  async complete(): Promise<void> {
    await this.#write(new Uint8Array(0), this.#length >>> 0);
    await this.#file?.close();
    // It is not synced: after a loss of power a damaged file is found by its checksums.
    await rename(this.#draft, join(this.directory, this.name));
    openDrafts.delete(this.#draft);
  }

  async discard(): Promise<void> {
    openDrafts.delete(this.#draft);
    await this.#file?.close().catch(() => undefined);
    await rm(this.#draft, { force: true });
  }

  async #write(piece: Uint8Array, sum: number): Promise<void> {
    if (this.#file === undefined) {
      await ensureDirectory(this.directory);
      this.#file = await open(this.#draft, 'wx', PRIVATE_FILE);
    }
    const head = Buffer.alloc(HEAD_BYTES);
    head.writeUInt32LE(piece.length, 0);
    head.writeUInt32LE(sum, 4);
    await this.#file.writev([head, piece]);
  }
}
