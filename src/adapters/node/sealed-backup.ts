/**
 * The files of a backup, encrypted with AES-256-GCM in blocks of 64 KiB. `key.json` has a data key that belongs to this backup
 * alone, sealed with the operator's key (`MILLRACE_ENCRYPTION_KEY`), so that the directory and that key are enough to read it.
 *
 *  SBK1 names, lengths and digests are those of the clear contents, so a manifest is the same with and without encryption
 *  SBK2 a block that was changed, moved or taken from another file is reported as damage
 */
import { createHash } from 'node:crypto';
import { MillraceError, type Random } from '../../kernel/index.js';
import type { BackupFiles, FileRef } from '../../ports/index.js';
import { DataKey, masterKeyId } from './data-key.js';
import { openBytes, SEALED_BYTES, sealBytes } from './sealed-bytes.js';
import { keyIdIn } from './sealing.js';

const KEY_FILE = 'key.json';
/** Small enough for a look at one record, large enough that a nonce and a tag cost little. */
const BLOCK_BYTES = 64 * 1024;
const STORED_BYTES = BLOCK_BYTES + SEALED_BYTES;

/** Sends the pieces of a file through, and @returns the reference of the file: its name, length and digest. */
export async function referTo(
  name: string,
  pieces: AsyncIterable<Uint8Array>,
  write: (pieces: AsyncIterable<Uint8Array>) => Promise<unknown>,
): Promise<FileRef> {
  const hash = createHash('sha256');
  let bytes = 0;
  const counted = async function* () {
    for await (const piece of pieces) {
      hash.update(piece);
      bytes += piece.length;
      yield piece;
    }
  };
  await write(counted());
  return { name, bytes, sha256: hash.digest('hex') };
}

/** @param master of the operator; undefined: the backup is not encrypted. @returns the files to write to */
export async function sealedForWriting(
  files: BackupFiles,
  master: string | undefined,
  random: Random,
): Promise<BackupFiles> {
  if (master === undefined) return files;
  const key = DataKey.make(random);
  await files.write(KEY_FILE, one(Buffer.from(`${JSON.stringify({ sealed: key.sealedWith(master) })}\n`)));
  return new SealedBackup(files, key.keyFor('backups'));
}

/** @returns the files to read from. @throws BAD_CONFIG when the backup is encrypted with another key than `master` */
export async function sealedForReading(
  files: BackupFiles,
  master: string | undefined,
  random: Random,
): Promise<BackupFiles> {
  const stored = await files.read(KEY_FILE);
  if (stored === undefined) return files;
  const sealed = sealedIn(await whole(stored));
  const keyId = keyIdIn(sealed);
  if (keyId === undefined) throw new MillraceError('JOURNAL_DAMAGED', `${KEY_FILE} of the backup has no sealed key`);
  if (master === undefined || masterKeyId(master, random) !== keyId) {
    throw new MillraceError('BAD_CONFIG', `the backup is encrypted: set MILLRACE_ENCRYPTION_KEY to key ${keyId}`);
  }
  return new SealedBackup(files, DataKey.open(sealed, master, random).keyFor('backups'));
}

class SealedBackup implements BackupFiles {
  constructor(
    private readonly files: BackupFiles,
    private readonly key: Uint8Array,
  ) {}

  write(name: string, pieces: AsyncIterable<Uint8Array>): Promise<FileRef> {
    return referTo(name, pieces, (counted) => this.files.write(name, this.#sealed(name, counted)));
  }

  async read(name: string): Promise<AsyncIterable<Uint8Array> | undefined> {
    const stored = await this.files.read(name);
    return stored && this.#opened(name, stored);
  }

  async readAt(name: string, offset: number, bytes: number): Promise<Uint8Array> {
    const first = Math.floor(offset / BLOCK_BYTES);
    const count = Math.ceil((offset + bytes) / BLOCK_BYTES) - first;
    const stored = await this.files.readAt(name, first * STORED_BYTES, count * STORED_BYTES);
    const clear: Buffer[] = [];
    for (let at = 0; at < stored.length; at += STORED_BYTES) {
      clear.push(this.#open(name, first + clear.length, stored.subarray(at, at + STORED_BYTES)));
    }
    const from = offset - first * BLOCK_BYTES;
    return Buffer.concat(clear).subarray(from, from + bytes);
  }

  list(prefix: string): Promise<readonly string[]> {
    return this.files.list(prefix);
  }

  removeAll(prefix: string): Promise<void> {
    return this.files.removeAll(prefix);
  }

  async *#sealed(name: string, pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    let number = 0;
    for await (const block of inBlocks(pieces, BLOCK_BYTES)) {
      yield sealBytes(this.key, block, placeOf(name, number));
      number += 1;
    }
  }

  async *#opened(name: string, stored: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    let number = 0;
    for await (const block of inBlocks(stored, STORED_BYTES)) {
      yield this.#open(name, number, block);
      number += 1;
    }
  }

  #open(name: string, number: number, block: Uint8Array): Buffer {
    const clear = openBytes(this.key, block, placeOf(name, number));
    if (clear !== undefined) return clear;
    throw new MillraceError('JOURNAL_DAMAGED', `${name} of the backup was changed after it was written`, { name });
  }
}

/** A block is bound to its file and its place there (SBK2). */
function placeOf(name: string, number: number): string {
  return `${name} ${number}`;
}

/** The same bytes in blocks of one size; the last one may be shorter. */
async function* inBlocks(pieces: AsyncIterable<Uint8Array>, size: number): AsyncGenerator<Uint8Array> {
  let held: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of pieces) {
    held.push(piece);
    bytes += piece.length;
    if (bytes < size) continue;
    const joined = Buffer.concat(held);
    let at = 0;
    for (; bytes - at >= size; at += size) yield joined.subarray(at, at + size);
    held = [joined.subarray(at)];
    bytes -= at;
  }
  if (bytes > 0) yield Buffer.concat(held);
}

async function* one(piece: Uint8Array): AsyncGenerator<Uint8Array> {
  yield piece;
}

async function whole(pieces: AsyncIterable<Uint8Array>): Promise<string> {
  const read: Uint8Array[] = [];
  for await (const piece of pieces) read.push(piece);
  return Buffer.concat(read).toString('utf8');
}

function sealedIn(text: string): string {
  try {
    const { sealed } = JSON.parse(text) as { readonly sealed?: unknown };
    return typeof sealed === 'string' ? sealed : '';
  } catch {
    return '';
  }
}
