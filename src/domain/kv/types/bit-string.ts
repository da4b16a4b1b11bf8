/**
 * A long string in a mutable buffer while its bits are edited. Strings are immutable, so each SETBIT would copy the
 * whole string, for example ten megabytes. The keyspace keeps this buffer from the first edit until the string is read
 * as a whole, and copies it once then.
 */
import type { ByteString } from '../../../kernel/index.js';

/** Shorter strings are copied on each edit, which takes a few microseconds. */
export const MIN_BIT_STRING_BYTES = 16 * 1024;
/** Spare capacity: a bitmap that is filled in ascending order is copied a few times, not at each step. */
const GROWTH = 1.25;

export class BitString {
  #buffer: Buffer;
  #length: number;

  constructor(text: ByteString) {
    this.#buffer = Buffer.from(text, 'latin1');
    this.#length = text.length;
  }

  get length(): number {
    return this.#length;
  }

  /** The whole content as a string; copies. */
  get text(): ByteString {
    return this.#buffer.toString('latin1', 0, this.#length);
  }

  /** The bytes themselves; valid until the next change. */
  get buffer(): Buffer {
    return this.#buffer.subarray(0, this.#length);
  }

  byteAt(index: number): number {
    return index < this.#length ? (this.#buffer[index] as number) : 0;
  }

  setByte(index: number, byte: number): void {
    this.#buffer[index] = byte;
  }

  /** Extends the string with zeros. */
  extend(length: number): void {
    if (length <= this.#length) return;
    if (length > this.#buffer.length) {
      const larger = Buffer.alloc(Math.ceil(length * GROWTH));
      this.#buffer.copy(larger, 0, 0, this.#length);
      this.#buffer = larger;
    }
    this.#length = length;
  }
}

/** The byte of a string in either representation; 0 beyond its end. */
export function byteOf(bits: ByteString | BitString, index: number): number {
  if (index >= bits.length) return 0;
  return typeof bits === 'string' ? bits.charCodeAt(index) : bits.byteAt(index);
}
