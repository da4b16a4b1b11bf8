/** Older packed formats that Redis still reads: ziplists, zipmaps and intsets. */
import type { ByteString } from '../../../../kernel/index.js';
import { BadFormat } from './rdb-reader.js';

const ZIPLIST_HEADER_BYTES = 10;
const END = 0xff;
const LONG_PREVIOUS = 0xfe;

/** @throws BadFormat */
export function decodeZiplist(bytes: Buffer): ByteString[] {
  if (bytes.length < ZIPLIST_HEADER_BYTES + 1 || bytes.readUInt32LE(0) !== bytes.length)
    throw new BadFormat('a ziplist');
  const words: ByteString[] = [];
  let at = ZIPLIST_HEADER_BYTES;
  while (bytes[at] !== END) {
    at += bytes[at] === LONG_PREVIOUS ? 5 : 1;
    const entry = decodeEntry(bytes, at);
    words.push(entry.word);
    at = entry.next;
    if (at >= bytes.length) throw new BadFormat('a ziplist without an end');
  }
  return words;
}

function decodeEntry(bytes: Buffer, at: number): { word: ByteString; next: number } {
  // The longest header has five bytes and the longest integer nine; every entry is followed by the end mark.
  const form = bytes[at];
  if (form === undefined) throw new BadFormat('a ziplist entry that ends too soon');
  const text = (from: number, length: number) => {
    if (from + length >= bytes.length) throw new BadFormat('a ziplist entry that ends too soon');
    return { word: bytes.toString('latin1', from, from + length), next: from + length };
  };
  const number = (count: number, read: () => number | bigint) => {
    if (at + 1 + count >= bytes.length) throw new BadFormat('a ziplist entry that ends too soon');
    return { word: String(read()), next: at + 1 + count };
  };
  if (form < 0x40) return text(at + 1, form);
  if (form < 0x80) return text(at + 2, ((form & 0x3f) << 8) | (bytes[at + 1] ?? 0));
  if (form === 0x80) return at + 5 < bytes.length ? text(at + 5, bytes.readUInt32BE(at + 1)) : text(bytes.length, 0);
  if (form === 0xc0) return number(2, () => bytes.readInt16LE(at + 1));
  if (form === 0xd0) return number(4, () => bytes.readInt32LE(at + 1));
  if (form === 0xe0) return number(8, () => bytes.readBigInt64LE(at + 1));
  if (form === 0xf0) return number(3, () => bytes.readIntLE(at + 1, 3));
  if (form === 0xfe) return number(1, () => bytes.readInt8(at + 1));
  if (form > 0xf0 && form < 0xfe) return { word: String((form & 0x0f) - 1), next: at + 1 };
  throw new BadFormat('a ziplist entry of no known form');
}

/**
 * Decodes a zipmap, the predecessor of ziplists for hashes: a count that may be wrong, then words preceded by their
 * length. @throws BadFormat
 */
export function decodeZipmap(bytes: Buffer): ByteString[] {
  const words: ByteString[] = [];
  let at = 1;
  const word = (free: 0 | 1): void => {
    const isLong = bytes[at] === LONG_PREVIOUS;
    if (at + 6 > bytes.length && isLong) throw new BadFormat('a zipmap that ends too soon');
    const length = isLong ? bytes.readUInt32LE(at + 1) : (bytes[at] ?? 0);
    const from = at + (isLong ? 5 : 1) + free;
    // A value is followed by bytes that a shorter value left unused.
    const unused = free === 1 ? (bytes[from - 1] ?? 0) : 0;
    at = from + length + unused;
    if (at >= bytes.length) throw new BadFormat('a zipmap that ends too soon');
    words.push(bytes.toString('latin1', from, from + length));
  };
  while (bytes[at] !== END) {
    word(0);
    word(1);
  }
  if (at !== bytes.length - 1) throw new BadFormat('a zipmap with more behind its end');
  return words;
}

/** @throws BadFormat */
export function decodeIntset(bytes: Buffer): ByteString[] {
  const width = bytes.length >= 8 ? bytes.readUInt32LE(0) : 0;
  const count = width === 0 ? 0 : bytes.readUInt32LE(4);
  if (![2, 4, 8].includes(width) || count === 0 || bytes.length !== 8 + count * width) throw new BadFormat('an intset');
  const words: ByteString[] = [];
  for (let at = 8; at < bytes.length; at += width) {
    words.push(String(width === 8 ? bytes.readBigInt64LE(at) : bytes.readIntLE(at, width)));
  }
  return words;
}
