/** Redis's listpack: words in one block of memory, each followed by its length, so that it can be read backwards. */
import type { ByteString } from '../../../../kernel/index.js';
import { parseInt64 } from '../../numbers.js';
import { BadFormat } from './rdb-reader.js';

const HEADER_BYTES = 6;
const END = 0xff;
const MAX_COUNT = 0xffff;

export function encodeListpack(words: readonly (ByteString | number)[]): ByteString {
  let body = '';
  for (const word of words) {
    const entry = typeof word === 'number' ? encodeInteger(BigInt(word)) : encodeWord(word);
    body += entry + backwardLength(entry.length);
  }
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeUInt32LE(HEADER_BYTES + body.length + 1, 0);
  header.writeUInt16LE(Math.min(words.length, MAX_COUNT), 4);
  return `${header.toString('latin1')}${body}\xff`;
}

function encodeWord(word: ByteString): ByteString {
  const integer = parseInt64(word);
  if (integer !== undefined) return encodeInteger(BigInt(integer));
  const { length } = word;
  if (length < 64) return String.fromCharCode(0x80 | length) + word;
  if (length < 4096) return String.fromCharCode(0xe0 | (length >> 8), length & 0xff) + word;
  const head = Buffer.alloc(5);
  head[0] = 0xf0;
  head.writeUInt32LE(length, 1);
  return head.toString('latin1') + word;
}

function encodeInteger(value: bigint): ByteString {
  if (value >= 0n && value <= 127n) return String.fromCharCode(Number(value));
  if (value >= -4096n && value <= 4095n) {
    const bits = Number(value) & 0x1fff;
    return String.fromCharCode(0xc0 | (bits >> 8), bits & 0xff);
  }
  if (value >= -32768n && value <= 32767n) return withBytes(0xf1, value, 2);
  if (value >= -8388608n && value <= 8388607n) return withBytes(0xf2, value, 3);
  if (value >= -2147483648n && value <= 2147483647n) return withBytes(0xf3, value, 4);
  return withBytes(0xf4, value, 8);
}

function withBytes(form: number, value: bigint, count: number): ByteString {
  const bytes = Buffer.alloc(9);
  bytes[0] = form;
  bytes.writeBigInt64LE(value, 1);
  return bytes.toString('latin1', 0, 1 + count);
}

/** Seven bits per byte, the most significant first; all bytes but the first have the high bit set. */
function backwardLength(length: number): ByteString {
  let bytes = String.fromCharCode((length & 0x7f) | (length > 0x7f ? 0x80 : 0));
  for (let rest = Math.floor(length / 128); rest > 0; rest = Math.floor(rest / 128)) {
    bytes = String.fromCharCode((rest & 0x7f) | (rest > 0x7f ? 0x80 : 0)) + bytes;
  }
  return bytes;
}

/** @throws BadFormat */
export function decodeListpack(bytes: Buffer): ByteString[] {
  if (bytes.length < HEADER_BYTES + 1 || bytes.readUInt32LE(0) !== bytes.length) throw new BadFormat('a listpack');
  const words: ByteString[] = [];
  let at = HEADER_BYTES;
  while (bytes[at] !== END) {
    const entry = decodeEntry(bytes, at);
    words.push(entry.word);
    at += entry.bytes + backwardLength(entry.bytes).length;
    if (at >= bytes.length) throw new BadFormat('a listpack without an end');
  }
  if (at !== bytes.length - 1) throw new BadFormat('a listpack with more behind its end');
  return words;
}

function decodeEntry(bytes: Buffer, at: number): { word: ByteString; bytes: number } {
  const first = bytes[at] as number;
  if (first < 0x80) return { word: String(first), bytes: 1 };
  if (first < 0xc0) return text(bytes, at + 1, first & 0x3f, 1);
  const need = (count: number) => {
    if (at + count > bytes.length) throw new BadFormat('a listpack entry that ends too soon');
  };
  if (first < 0xe0) {
    need(2);
    const bits = ((first & 0x1f) << 8) | (bytes[at + 1] as number);
    return { word: String(bits >= 0x1000 ? bits - 0x2000 : bits), bytes: 2 };
  }
  if (first < 0xf0) {
    need(2);
    return text(bytes, at + 2, ((first & 0x0f) << 8) | (bytes[at + 1] as number), 2);
  }
  need(first === 0xf4 ? 9 : 5 - (first === 0xf0 || first === 0xf3 ? 0 : first === 0xf2 ? 1 : 2));
  if (first === 0xf0) return text(bytes, at + 5, bytes.readUInt32LE(at + 1), 5);
  if (first === 0xf1) return { word: String(bytes.readInt16LE(at + 1)), bytes: 3 };
  if (first === 0xf2) return { word: String(bytes.readIntLE(at + 1, 3)), bytes: 4 };
  if (first === 0xf3) return { word: String(bytes.readInt32LE(at + 1)), bytes: 5 };
  if (first === 0xf4) return { word: String(bytes.readBigInt64LE(at + 1)), bytes: 9 };
  throw new BadFormat('a listpack entry of no known form');
}

function text(bytes: Buffer, from: number, length: number, head: number): { word: ByteString; bytes: number } {
  if (from + length >= bytes.length) throw new BadFormat('a listpack entry that ends too soon');
  return { word: bytes.toString('latin1', from, from + length), bytes: head + length };
}
