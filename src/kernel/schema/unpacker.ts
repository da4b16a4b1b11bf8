/**
 * Reads values from MessagePack as `Packer` writes them. Truncated values, values of an unexpected kind and encodings
 * that `Packer` does not produce are refused.
 *
 * A value keeps at most twice its own bytes in memory: contents are copied out of the buffer unless they are most of
 * it.
 */
import { bufferOver } from '../bytes.js';
import { MillraceError } from '../errors.js';
import { UTF16_TEXT } from './packer.js';

export type ValueKind = 'nil' | 'flag' | 'number' | 'text' | 'bytes' | 'list' | 'map' | 'extension';

/** Kinds by tag, from 0xc0 on; no value begins with 0xc1. */
const KINDS: readonly (ValueKind | undefined)[] = [
  ...(['nil', undefined, 'flag', 'flag', 'bytes', 'bytes', 'bytes', 'extension', 'extension', 'extension'] as const),
  ...new Array<'number'>(10).fill('number'),
  ...new Array<'extension'>(5).fill('extension'),
  ...(['text', 'text', 'text', 'list', 'list', 'map', 'map'] as const),
];
const TWO_32 = 2 ** 32;
const REPLACEMENT = '\ufffd';

export class Unpacker {
  private readonly buffer: Buffer;
  private at = 0;

  constructor(bytes: Uint8Array) {
    this.buffer = Buffer.isBuffer(bytes) ? bytes : bufferOver(bytes);
  }

  get isAtEnd(): boolean {
    return this.at === this.buffer.length;
  }

  list(): number {
    const tag = this.byte();
    let count: number;
    if (tag >= 0x90 && tag <= 0x9f) count = tag & 0x0f;
    else if (tag === 0xdc) count = this.unsigned(2);
    else if (tag === 0xdd) count = this.unsigned(4);
    else return refuse('a list');
    // Each value takes at least a byte, so that a damaged count cannot cause a long loop or a large allocation.
    if (count > this.buffer.length - this.at) refuse('a list');
    return count;
  }

  /** The number of names, each followed by its value. */
  map(): number {
    const tag = this.byte();
    if (tag >= 0x80 && tag <= 0x8f) return tag & 0x0f;
    if (tag === 0xde) return this.unsigned(2);
    return tag === 0xdf ? this.unsigned(4) : refuse('values with names');
  }

  /** The bytes of the next value of any kind. */
  raw(): Uint8Array {
    const start = this.at;
    this.skip();
    return this.buffer.subarray(start, this.at);
  }

  /** Consumes the next value if it has these bytes; otherwise false. */
  takes(encoded: Uint8Array): boolean {
    const { buffer, at } = this;
    if (at + encoded.length > buffer.length) return false;
    for (let index = 0; index < encoded.length; index += 1) if (buffer[at + index] !== encoded[index]) return false;
    this.at = at + encoded.length;
    return true;
  }

  skip(): void {
    for (let left = 1; left > 0; left -= 1) {
      const tag = this.byte();
      if (tag >= 0x80 && tag <= 0x8f) left += 2 * (tag & 0x0f);
      else if (tag >= 0x90 && tag <= 0x9f) left += tag & 0x0f;
      else if (tag >= 0xa0 && tag <= 0xbf) this.past(tag & 0x1f);
      else if (tag === 0xdc || tag === 0xdd) left += this.unsigned(tag === 0xdc ? 2 : 4);
      else if (tag === 0xde || tag === 0xdf) left += 2 * this.unsigned(tag === 0xde ? 2 : 4);
      else this.past(this.bytesBehind(tag));
    }
  }

  /** The kind of the next value, which is not consumed. */
  kind(): ValueKind {
    const tag = this.buffer[this.at] ?? refuse('anything');
    if (tag >= 0xa0 && tag <= 0xbf) return 'text';
    if (tag < 0x80 || tag >= 0xe0) return 'number';
    if (tag <= 0x8f) return 'map';
    if (tag <= 0x9f) return 'list';
    return KINDS[tag - 0xc0] ?? refuse('anything');
  }

  /** @param read must consume exactly the body of the extension */
  extension<T>(read: (type: number, from: this) => T): T {
    const tag = this.byte();
    const isSized = tag >= 0xc7 && tag <= 0xc9;
    if (!isSized && !(tag >= 0xd4 && tag <= 0xd8)) refuse('a value of a type of its own');
    const length = isSized ? this.unsigned((1 << (tag - 0xc7)) as 1 | 2 | 4) : 1 << (tag - 0xd4);
    const type = this.unsigned(1);
    const end = this.at + length;
    const value = read(type, this);
    return this.at === end ? value : refuse('what its length says');
  }

  /** Consumes a nil; false if the next value is not nil. */
  takesNil(): boolean {
    if (this.buffer[this.at] !== 0xc0) return false;
    this.at += 1;
    return true;
  }

  /** Consumes a true; false if the next value is not true. */
  takesTrue(): boolean {
    if (this.buffer[this.at] !== 0xc3) return false;
    this.at += 1;
    return true;
  }

  flag(): boolean {
    const tag = this.byte();
    if (tag === 0xc3) return true;
    return tag === 0xc2 ? false : refuse('a yes or no');
  }

  whole(): number {
    const tag = this.byte();
    if (tag < 0x80) return tag;
    switch (tag) {
      case 0xcc:
        return this.unsigned(1);
      case 0xcd:
        return this.unsigned(2);
      case 0xce:
        return this.unsigned(4);
      case 0xcf:
        return safe(this.unsigned(4) * TWO_32 + this.unsigned(4));
      case 0xd3:
        return safe((this.unsigned(4) | 0) * TWO_32 + this.unsigned(4));
      case 0xd0:
        return (this.unsigned(1) << 24) >> 24;
      case 0xd1:
        return (this.unsigned(2) << 16) >> 16;
      case 0xd2:
        return this.unsigned(4) | 0;
      default:
        return tag >= 0xe0 ? tag - 0x100 : refuse('an integer');
    }
  }

  number(): number {
    if (this.buffer[this.at] !== 0xcb) return this.whole();
    this.at += 1;
    return this.buffer.readDoubleBE(this.past(8));
  }

  /** @param lenient decodes text that is not valid UTF-8 */
  text(lenient: (body: Uint8Array) => string = refuseText): string {
    const tag = this.byte();
    if (tag >= 0xa0 && tag <= 0xbf) return this.utf8(tag & 0x1f, lenient);
    switch (tag) {
      case 0xd9:
        return this.utf8(this.unsigned(1), lenient);
      case 0xda:
        return this.utf8(this.unsigned(2), lenient);
      case 0xdb:
        return this.utf8(this.unsigned(4), lenient);
      case 0xc7:
        return this.utf16(this.unsigned(1));
      case 0xc8:
        return this.utf16(this.unsigned(2));
      case 0xc9:
        return this.utf16(this.unsigned(4));
      default:
        return refuse('a text');
    }
  }

  bytes(): Uint8Array {
    const length = this.bytesLength();
    const start = this.past(length);
    const { buffer } = this.buffer;
    const isMostOfIt = length * 2 >= buffer.byteLength;
    if (isMostOfIt) return new Uint8Array(buffer, this.buffer.byteOffset + start, length);
    // Short ones share a block of Node's pool, because a separate array for each costs more than its bytes.
    return Buffer.from(this.buffer.subarray(start, start + length));
  }

  /** A name that is read often, found by its bytes if it was read before. */
  name(): string {
    const length = (this.buffer[this.at] ?? 0) - 0xa0;
    if (length < 0 || length > 0x1f || this.at + length >= this.buffer.length) return this.text();
    const name = familiarText(this.buffer, this.at + 1, length);
    if (name === undefined) return this.text();
    this.at += 1 + length;
    return name;
  }

  /** As `bytes`, but a view of the whole buffer, which stays in memory as long as the view. */
  view(): Uint8Array {
    const length = this.bytesLength();
    const start = this.past(length);
    return this.buffer.subarray(start, start + length);
  }

  /** As `bytes`, as a string with one character per byte, to be used as a key. */
  bytesAsLatin1(): string {
    const length = this.bytesLength();
    const start = this.past(length);
    return this.buffer.toString('latin1', start, start + length);
  }

  /** @throws JOURNAL_DAMAGED when bytes are left */
  end(): void {
    if (!this.isAtEnd) refuse('its end');
  }

  /** The number of bytes after the tag of a value that is neither a list nor a map. */
  private bytesBehind(tag: number): number {
    if (tag < 0x80 || tag >= 0xe0 || tag === 0xc0 || tag === 0xc2 || tag === 0xc3) return 0;
    if (tag >= 0xc4 && tag <= 0xc6) return this.unsigned((1 << (tag - 0xc4)) as 1 | 2 | 4);
    if (tag >= 0xc7 && tag <= 0xc9) return 1 + this.unsigned((1 << (tag - 0xc7)) as 1 | 2 | 4);
    if (tag === 0xca || tag === 0xcb) return tag === 0xca ? 4 : 8;
    if (tag >= 0xcc && tag <= 0xcf) return 1 << (tag - 0xcc);
    if (tag >= 0xd0 && tag <= 0xd3) return 1 << (tag - 0xd0);
    if (tag >= 0xd4 && tag <= 0xd8) return 1 + (1 << (tag - 0xd4));
    if (tag >= 0xd9 && tag <= 0xdb) return this.unsigned((1 << (tag - 0xd9)) as 1 | 2 | 4);
    return refuse('anything');
  }

  private bytesLength(): number {
    const tag = this.byte();
    if (tag === 0xc4) return this.unsigned(1);
    if (tag === 0xc5) return this.unsigned(2);
    return tag === 0xc6 ? this.unsigned(4) : refuse('bytes');
  }

  private utf8(length: number, lenient: (body: Uint8Array) => string): string {
    const start = this.past(length);
    const text = this.buffer.toString('utf8', start, start + length);
    if (text.includes(REPLACEMENT)) {
      const body = this.buffer.subarray(start, start + length);
      if (!Buffer.from(text, 'utf8').equals(body)) return lenient(body);
    }
    return text;
  }

  private utf16(length: number): string {
    if (this.byte() !== UTF16_TEXT || length % 2 !== 0) refuse('a text');
    const start = this.past(length);
    return this.buffer.toString('utf16le', start, start + length);
  }

  private byte(): number {
    return this.buffer[this.at++] ?? refuse('anything');
  }

  private unsigned(bytes: 1 | 2 | 4): number {
    const start = this.past(bytes);
    if (bytes === 4) return this.buffer.readUInt32BE(start);
    return bytes === 2 ? this.buffer.readUInt16BE(start) : (this.buffer[start] as number);
  }

  /** Consumes `bytes` bytes; returns their start. */
  private past(bytes: number): number {
    const start = this.at;
    if (start + bytes > this.buffer.length) refuse('what its length says');
    this.at = start + bytes;
    return start;
  }
}

const refuseText = () => refuse('a text in UTF-8');

function safe(value: number): number {
  return Number.isSafeInteger(value) ? value : refuse('an integer');
}

export function refuse(expected: string): never {
  throw new MillraceError('JOURNAL_DAMAGED', `a record cannot be read: ${expected} is expected`);
}

/** Of texts of at most 31 bytes, so that all together take less than 64 KB. */
const NAME_PLACES = 1024;

/**
 * Names that are read again and again, by a hash of their bytes: a native call for each costs more than to compare a few
 * bytes. A later one takes the place of an earlier one.
 */
const known: string[] = new Array<string>(NAME_PLACES).fill('');

/** @returns undefined for a text with other characters than ASCII */
function familiarText(buffer: Buffer, start: number, length: number): string | undefined {
  const end = start + length;
  let hash = length;
  for (let at = start; at < end; at += 1) {
    const byte = buffer[at] as number;
    if (byte >= 0x80) return undefined;
    hash = (Math.imul(hash, 31) + byte) | 0;
  }
  const place = (hash ^ (hash >>> 10)) & (NAME_PLACES - 1);
  const found = known[place] as string;
  if (isText(found, buffer, start, length)) return found;
  const text = buffer.toString('latin1', start, end);
  known[place] = text;
  return text;
}

function isText(text: string, buffer: Buffer, start: number, length: number): boolean {
  if (text.length !== length) return false;
  for (let at = 0; at < length; at += 1) if (text.charCodeAt(at) !== buffer[start + at]) return false;
  return true;
}
