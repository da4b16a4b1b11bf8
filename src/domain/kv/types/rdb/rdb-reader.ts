/**
 * Reads the format that RdbWriter writes, and the compressed strings that Redis also writes. Every read is bounded by
 * the size of the payload.
 */
import type { ByteString } from '../../../../kernel/index.js';
import { decompressLzf } from '../lzf.js';

/** The payload does not have the expected format. */
export class BadFormat extends Error {}

const INT8 = 0xc0;
const INT16 = 0xc1;
const INT32 = 0xc2;
const COMPRESSED = 0xc3;
const LENGTH_32 = 0x80;
const LENGTH_64 = 0x81;

export class RdbReader {
  #at = 0;

  constructor(
    private readonly bytes: Buffer,
    /** The longest string that decompression may produce. */
    private readonly maxBytes: number,
  ) {}

  get isAtEnd(): boolean {
    return this.#at === this.bytes.length;
  }

  /** The read position; settable, to read a part twice. */
  get position(): number {
    return this.#at;
  }

  set position(at: number) {
    this.#at = at;
  }

  byte(): number {
    this.#need(1);
    const value = this.bytes[this.#at] as number;
    this.#at += 1;
    return value;
  }

  raw(count: number): Buffer {
    this.#need(count);
    const part = this.bytes.subarray(this.#at, this.#at + count);
    this.#at += count;
    return part;
  }

  /** A 64-bit length; counters and ids are encoded as lengths too. */
  bigSize(): bigint {
    const first = this.byte();
    if (first < 0x40) return BigInt(first);
    if (first < 0x80) return BigInt(((first & 0x3f) << 8) | this.byte());
    if (first === LENGTH_32) return BigInt(this.raw(4).readUInt32BE(0));
    if (first === LENGTH_64) return this.raw(8).readBigUInt64BE(0);
    throw new BadFormat('not a length');
  }

  /** A size or count, which cannot exceed the bytes of the payload. */
  size(): number {
    const value = this.bigSize();
    if (value > BigInt(this.bytes.length)) throw new BadFormat('a length beyond the payload');
    return Number(value);
  }

  string(): ByteString {
    const form = this.bytes[this.#at];
    if (form === INT8) return String(this.#skip(1).raw(1).readInt8(0));
    if (form === INT16) return String(this.#skip(1).raw(2).readInt16LE(0));
    if (form === INT32) return String(this.#skip(1).raw(4).readInt32LE(0));
    if (form === COMPRESSED) return this.#skip(1).#compressed();
    return this.raw(this.size()).toString('latin1');
  }

  /** Skips a string without decompressing it. */
  skipString(): void {
    const form = this.bytes[this.#at];
    if (form === COMPRESSED) {
      const packedBytes = this.#skip(1).size();
      this.bigSize();
      this.raw(packedBytes);
    } else if (form === INT8 || form === INT16 || form === INT32) this.string();
    else this.raw(this.size());
  }

  /** A string that contains a nested structure, as bytes. */
  blob(): Buffer {
    return Buffer.from(this.string(), 'latin1');
  }

  instant(): number {
    return Number(this.raw(8).readBigInt64LE(0));
  }

  double(): number {
    return this.raw(8).readDoubleLE(0);
  }

  /** A double as text after a length byte, the older format. */
  textDouble(): number {
    const length = this.byte();
    if (length === 255) return Number.NEGATIVE_INFINITY;
    if (length === 254) return Number.POSITIVE_INFINITY;
    if (length === 253) return Number.NaN;
    return Number(this.raw(length).toString('latin1'));
  }

  #compressed(): ByteString {
    const packedBytes = this.size();
    const plainBytes = this.bigSize();
    if (plainBytes > BigInt(this.maxBytes)) throw new BadFormat('a string that is too long');
    const plain = decompressLzf(this.raw(packedBytes), Number(plainBytes));
    if (plain === undefined) throw new BadFormat('a string that does not unpack');
    return plain.toString('latin1');
  }

  #skip(count: number): this {
    this.#at += count;
    return this;
  }

  #need(count: number): void {
    if (count < 0 || this.#at + count > this.bytes.length) throw new BadFormat('the payload ends too soon');
  }
}
