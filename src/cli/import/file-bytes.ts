/**
 * A file read from its beginning to its end, a piece at a time: bytes one by one, in short runs or passed over, with the
 * checksum of all that was read, and with what was read since a mark where somebody wants it whole.
 *
 *  FBY1 memory is one piece and what is kept; nothing is made of a length that the file claims before its bytes are there
 *  FBY2 what ends too soon or makes no sense is a DamagedFile that names the offset
 */
import { readSync } from 'node:fs';
import { Crc64 } from '../../domain/kv/index.js';
import { type ByteString, bytesOfBuffer } from '../../kernel/index.js';

/** Large enough that a call of the system is nothing beside it. */
const PIECE_BYTES = 256 * 1024;
const MOST_MARK_BYTES = 16;

/** What is in the file cannot be what it says it is. */
export class DamagedFile extends Error {
  constructor(
    readonly offset: number,
    problem: string,
  ) {
    super(`${problem}, at byte ${offset}`);
  }
}

/** The file ends within something. */
export class EndsTooSoon extends DamagedFile {
  constructor(offset: number) {
    super(offset, 'the file ends too soon');
  }
}

/** What was read since `keep`; its bytes are gone where they were more than was allowed. */
export interface Kept {
  readonly bytes: ByteString | undefined;
  readonly size: number;
}

export class FileBytes {
  readonly #piece = Buffer.allocUnsafe(PIECE_BYTES);
  #at = 0;
  #end = 0;
  /** Of the piece's first byte in the file. */
  #pieceOffset = 0;
  /** Before it everything is in the checksum, and kept. */
  #takenAt = 0;
  #checksum = new Crc64();
  #kept: Buffer[] | undefined;
  #keptBytes = 0;
  #mostKeptBytes = 0;

  /** @param file an open file; whoever opened it closes it */
  constructor(private readonly file: number) {}

  /** Of the next byte. */
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

  /** The next byte, which stays the next one. */
  peek(): number | undefined {
    return this.ahead()[0];
  }

  /** A few bytes, at most a piece; they are there until something else is read. */
  run(count: number): Buffer {
    while (this.#end - this.#at < count) if (!this.#readMore()) throw new EndsTooSoon(this.#pieceOffset + this.#end);
    this.#at += count;
    return this.#piece.subarray(this.#at - count, this.#at);
  }

  /** As many of the next bytes as a mark at the beginning may have; they stay the next ones. */
  ahead(): Buffer {
    while (this.#end - this.#at < MOST_MARK_BYTES) if (!this.#readMore()) break;
    return this.#piece.subarray(this.#at, Math.min(this.#end, this.#at + MOST_MARK_BYTES));
  }

  /** Bytes as a string of their own. */
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

  /** From here on what is read is kept, up to so many bytes. */
  keep(mostBytes: number): void {
    this.#take();
    this.#kept = [];
    this.#keptBytes = 0;
    this.#mostKeptBytes = mostBytes;
  }

  /** Ends that. */
  kept(): Kept {
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

  /** What has been read and not been looked at yet goes into the checksum, and is kept. */
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

  /** @returns whether there was any */
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
