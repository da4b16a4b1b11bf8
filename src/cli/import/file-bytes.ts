/**
 * Reads a file from start to end, piece by piece: single bytes, short runs or skipped bytes, with the checksum of all
 * read bytes, and optionally the bytes since a mark.
 *
 *  FBY1 memory is bounded by one piece and the kept bytes; no memory is allocated for a length in the file before its
 *       bytes have arrived
 *  FBY2 a truncated or invalid file causes a DamagedFile with the offset
 */
import { readSync } from 'node:fs';
import { Crc64 } from '../../domain/kv/index.js';
import { type ByteString, bytesOfBuffer } from '../../kernel/index.js';

/** Large enough that the cost of system calls is negligible. */
const PIECE_BYTES = 256 * 1024;
const MOST_MARK_BYTES = 16;

/** The content contradicts the file's format. */
export class DamagedFile extends Error {
  constructor(
    readonly offset: number,
    problem: string,
  ) {
    super(`${problem}, at byte ${offset}`);
  }
}

/** The file is truncated. */
export class EndsTooSoon extends DamagedFile {
  constructor(offset: number) {
    super(offset, 'the file ends too soon');
  }
}

/** The bytes read since `keep`; undefined if they were more than allowed. */
export interface KeptBytes {
  readonly bytes: ByteString | undefined;
  readonly size: number;
}

export class FileBytes {
  readonly #piece = Buffer.allocUnsafe(PIECE_BYTES);
  #at = 0;
  #end = 0;
  /** File offset of the piece's first byte. */
  #pieceOffset = 0;
  /** All bytes before it are in the checksum and the kept bytes. */
  #takenAt = 0;
  #checksum = new Crc64();
  #kept: Buffer[] | undefined;
  #keptBytes = 0;
  #mostKeptBytes = 0;

  /** @param file an open file; the caller closes it */
  constructor(private readonly file: number) {}

  /** Offset of the next byte. */
  get offset(): number {
    return this.#pieceOffset + this.#at;
  }

  get isAtEnd(): boolean {
    return this.#at === this.#end && !this.#readMore();
  }

  byte(): number {
    if (this.isAtEnd) throw new EndsTooSoon(this.offset);
    const value = this.#piece[this.#at] as number;
    this.#at += 1;
    return value;
  }

  /** Returns the next byte without consuming it. */
  peek(): number | undefined {
    return this.ahead()[0];
  }

  /** A few bytes, at most a piece; valid until the next read. */
  run(count: number): Buffer {
    while (this.#end - this.#at < count) if (!this.#readMore()) throw new EndsTooSoon(this.#pieceOffset + this.#end);
    this.#at += count;
    return this.#piece.subarray(this.#at - count, this.#at);
  }

  /** The next bytes, up to the length of a file mark, without consuming them. */
  ahead(): Buffer {
    while (this.#end - this.#at < MOST_MARK_BYTES) if (!this.#readMore()) break;
    return this.#piece.subarray(this.#at, Math.min(this.#end, this.#at + MOST_MARK_BYTES));
  }

  /** A copy of the bytes as a string. */
  text(count: number): ByteString {
    if (count <= PIECE_BYTES) return bytesOfBuffer(this.run(count));
    this.keep(count);
    this.pass(count);
    return this.kept().bytes as ByteString;
  }

  pass(count: number): void {
    for (let left = count; left > 0; ) {
      if (this.isAtEnd) throw new EndsTooSoon(this.offset);
      const there = Math.min(left, this.#end - this.#at);
      this.#at += there;
      left -= there;
    }
  }

  /** Starts keeping read bytes, up to this number. */
  keep(mostBytes: number): void {
    this.#take();
    this.#kept = [];
    this.#keptBytes = 0;
    this.#mostKeptBytes = mostBytes;
  }

  /** Returns the kept bytes and stops keeping. */
  kept(): KeptBytes {
    this.#take();
    const pieces = this.#kept ?? [];
    this.#kept = undefined;
    const isWhole = this.#keptBytes <= this.#mostKeptBytes;
    return { bytes: isWhole ? bytesOfBuffer(Buffer.concat(pieces)) : undefined, size: this.#keptBytes };
  }

  /** CRC-64 of all bytes so far. */
  checksum(): Buffer {
    this.#take();
    return this.#checksum.toBytes();
  }

  damage(problem: string): DamagedFile {
    return new DamagedFile(this.offset, problem);
  }

  /** Adds newly read bytes to the checksum and to the kept bytes. */
  #take(): void {
    const from = this.#takenAt;
    if (from === this.#at) return;
    this.#checksum.add(this.#piece, from, this.#at);
    this.#takenAt = this.#at;
    if (this.#kept === undefined) return;
    this.#keptBytes += this.#at - from;
    if (this.#keptBytes > this.#mostKeptBytes) this.#kept = [];
    else this.#kept.push(Buffer.from(this.#piece.subarray(from, this.#at)));
  }

  /** @returns whether there were more bytes */
  #readMore(): boolean {
    this.#take();
    this.#piece.copyWithin(0, this.#at, this.#end);
    this.#pieceOffset += this.#at;
    this.#end -= this.#at;
    this.#at = 0;
    this.#takenAt = 0;
    const count = readSync(this.file, this.#piece, this.#end, PIECE_BYTES - this.#end, null);
    this.#end += count;
    return count > 0;
  }
}
