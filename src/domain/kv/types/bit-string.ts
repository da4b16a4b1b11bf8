/**
 * A long string while its bits are edited one by one. Strings do not change; making a new one for each bit
 * would copy ten megabytes a command. So the keyspace keeps a buffer instead from the first edit until
 * somebody reads the whole string: then it is copied once.
 */
import type { ByteString } from '../../../kernel/index.js';

/** Shorter strings are made anew: that costs a few microseconds. */
export const MIN_BIT_STRING_BYTES = 16 * 1024;
/** Room for growth: a bitmap that is filled in ascending order is copied a few times, not each time. */
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

  /** All of it, as a string: copies. */
  get text(): ByteString {
    return this.#buffer.toString('latin1', 0, this.#length);
  }

  /** The bytes themselves, for as long as nothing is changed. */
  get buffer(): Buffer {
    return this.#buffer.subarray(0, this.#length);
  }

  byteAt(index: number): number {
    return index < this.#length ? (this.#buffer[index] as number) : 0;
  }

  setByte(index: number, byte: number): void {
    this.#buffer[index] = byte;
  }

  /** Grows with zeros. */
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

/** The byte of a string in either form; 0 beyond its end. */
export function byteOf(bits: ByteString | BitString, index: number): number {
  if (index >= bits.length) return 0;
  return typeof bits === 'string' ? bits.charCodeAt(index) : bits.byteAt(index);
}
