/**
 * Writes values as MessagePack directly into one growing buffer, without intermediate values.
 *
 *  PK1 the bytes depend only on the value: equal values have equal bytes
 *  PK2 `Unpacker` accepts everything that is written: a number that should be an integer and is not is a defect,
 *      detected before it reaches the journal
 *  PK3 every string is restored exactly, also one with a lone surrogate, which is written as UTF-16
 */
import { assert } from '../errors.js';

/** Extension type of a text that UTF-8 cannot encode; its body is UTF-16LE. */
export const UTF16_TEXT = 1;

/** The most bytes of a header: a tag, four bytes of length, the type. Bodies of certain lengths have their own tags. */
const EXTENSION_HEAD = 6;
const FIXED_EXTENSIONS: readonly number[] = [1, 2, 4, 8, 16];
const INITIAL_BYTES = 4096;
/** Results up to this size are copied out of the buffer; a larger one takes over the buffer. */
const COPIED_BYTES = 32 * 1024;
/** Shorter texts are written character by character, which is cheaper than a native call. */
const SHORT_TEXT = 48;
const TWO_32 = 2 ** 32;
const LONE_SURROGATE = /\p{Surrogate}/u;

export class Packer {
  private buffer = Buffer.allocUnsafeSlow(INITIAL_BYTES);
  private at = 0;

  /** Returns the bytes that `write` writes. Not reentrant. */
  pack(write: (out: this) => void): Uint8Array {
    this.at = 0;
    write(this);
    return this.taken();
  }

  /** As `pack`, without a copy: a view that is valid until the next call. */
  passing(write: (out: this) => void): Uint8Array {
    this.at = 0;
    write(this);
    return this.buffer.subarray(0, this.at);
  }

  list(count: number): void {
    this.reserve(5);
    if (count < 16) this.buffer[this.at++] = 0x90 | count;
    else this.sized(count, undefined, 0xdc, 0xdd);
  }

  /** Names and values follow alternately. */
  map(count: number): void {
    this.reserve(5);
    if (count < 16) this.buffer[this.at++] = 0x80 | count;
    else this.sized(count, undefined, 0xde, 0xdf);
  }

  /** Writes bytes that are an encoded value. */
  raw(value: Uint8Array): void {
    this.reserve(value.length);
    this.buffer.set(value, this.at);
    this.at += value.length;
  }

  nil(): void {
    this.reserve(1);
    this.buffer[this.at++] = 0xc0;
  }

  flag(value: boolean): void {
    this.reserve(1);
    this.buffer[this.at++] = value ? 0xc3 : 0xc2;
  }

  whole(value: number): void {
    assert(Number.isSafeInteger(value), 'a record holds a number that is not an integer', { value });
    this.reserve(9);
    if (value < 0) this.wide(0xd3, value);
    else if (value < 0x80) this.buffer[this.at++] = value;
    else if (value < TWO_32) this.sized(value, 0xcc, 0xcd, 0xce);
    else this.wide(0xcf, value);
  }

  /** An integer in as few bytes as possible. */
  integer(value: number): void {
    if (!(value < 0 && value >= -0x80000000)) {
      this.whole(value);
      return;
    }
    this.reserve(5);
    assert(Number.isSafeInteger(value), 'a record holds a number that is not an integer', { value });
    const { buffer } = this;
    if (value < -0x20) buffer[this.at++] = value >= -0x80 ? 0xd0 : value >= -0x8000 ? 0xd1 : 0xd2;
    if (value >= -0x80) this.at = buffer.writeInt8(value, this.at);
    else if (value >= -0x8000) this.at = buffer.writeInt16BE(value, this.at);
    else this.at = buffer.writeInt32BE(value, this.at);
  }

  /** Any number: as an integer if it is one, otherwise as a double. */
  number(value: number): void {
    if (Number.isSafeInteger(value) && !Object.is(value, -0)) {
      this.whole(value);
      return;
    }
    this.reserve(9);
    this.buffer[this.at] = 0xcb;
    this.at = this.buffer.writeDoubleBE(value, this.at + 1);
  }

  text(value: string): void {
    const length = value.length;
    if (length >= SHORT_TEXT) {
      this.longText(value);
      return;
    }
    this.reserve(length + 2);
    const { buffer } = this;
    let at = this.at;
    if (length >= 32) buffer[at++] = 0xd9;
    buffer[at++] = length < 32 ? 0xa0 | length : length;
    for (let index = 0; index < length; index += 1) {
      const code = value.charCodeAt(index);
      if (code >= 0x80) {
        this.longText(value);
        return;
      }
      buffer[at++] = code;
    }
    this.at = at;
  }

  bytes(value: Uint8Array): void {
    const { length } = value;
    this.reserve(length + 5);
    this.sized(length, 0xc4, 0xc5, 0xc6);
    this.buffer.set(value, this.at);
    this.at += length;
  }

  /** An extension value; `write` writes its body. */
  extension(type: number, write: (out: this) => void): void {
    this.reserve(EXTENSION_HEAD);
    const head = this.at;
    const body = head + EXTENSION_HEAD;
    this.at = body;
    write(this);
    const length = this.at - body;
    this.at = head;
    const fixed = FIXED_EXTENSIONS.indexOf(length);
    if (fixed >= 0) this.buffer[this.at++] = 0xd4 + fixed;
    else this.sized(length, 0xc7, 0xc8, 0xc9);
    this.buffer[this.at++] = type;
    this.buffer.copyWithin(this.at, body, body + length);
    this.at += length;
  }

  private longText(value: string): void {
    const length = Buffer.byteLength(value, 'utf8');
    if (length !== value.length && LONE_SURROGATE.test(value)) {
      this.utf16(value);
      return;
    }
    this.reserve(length + 5);
    if (length < 32) this.buffer[this.at++] = 0xa0 | length;
    else this.sized(length, 0xd9, 0xda, 0xdb);
    this.at += this.buffer.write(value, this.at, length === value.length ? 'latin1' : 'utf8');
  }

  private utf16(value: string): void {
    const length = value.length * 2;
    this.reserve(length + 6);
    this.sized(length, 0xc7, 0xc8, 0xc9);
    this.buffer[this.at++] = UTF16_TEXT;
    this.at += this.buffer.write(value, this.at, 'utf16le');
  }

  /** Writes a tag and a number below 2^32 in 1, 2 or 4 bytes; the space is already reserved. */
  private sized(value: number, tag8: number | undefined, tag16: number, tag32: number): void {
    const { buffer } = this;
    if (value < 0x100 && tag8 !== undefined) {
      buffer[this.at++] = tag8;
      buffer[this.at++] = value;
    } else if (value < 0x10000) {
      buffer[this.at++] = tag16;
      this.at = buffer.writeUInt16BE(value, this.at);
    } else {
      buffer[this.at++] = tag32;
      this.at = buffer.writeUInt32BE(value, this.at);
    }
  }

  private wide(tag: number, value: number): void {
    const high = Math.floor(value / TWO_32);
    this.buffer[this.at] = tag;
    this.at = this.buffer.writeUInt32BE(high >>> 0, this.at + 1);
    this.at = this.buffer.writeUInt32BE(value - high * TWO_32, this.at);
  }

  private reserve(bytes: number): void {
    const needed = this.at + bytes;
    if (needed <= this.buffer.length) return;
    const grown = Buffer.allocUnsafeSlow(Math.max(needed + INITIAL_BYTES, Math.min(2 * this.buffer.length, 2 ** 20)));
    this.buffer.copy(grown, 0, 0, this.at);
    this.buffer = grown;
  }

  private taken(): Uint8Array {
    const { buffer, at } = this;
    if (at > COPIED_BYTES) {
      this.buffer = Buffer.allocUnsafeSlow(INITIAL_BYTES);
      return buffer.subarray(0, at);
    }
    const copy = Buffer.allocUnsafe(at);
    buffer.copy(copy, 0, 0, at);
    return copy;
  }
}
