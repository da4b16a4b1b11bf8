/** Single bits, counts and positions: SETBIT, GETBIT, BITCOUNT, BITPOS. */
import type { ByteString } from '../../../../kernel/index.js';
import type { Args } from '../../args.js';
import type { CommandContext, Handler, SlicedHandler } from '../../command-spec.js';
import { ERRORS, ErrorReply, type Reply } from '../../reply.js';
import type { BitString } from '../../types/bit-string.js';
import { recordExpiry } from '../expire-time.js';
import { BITMAP_SLICE_BYTES, bitAt, bitOffset, editBits, piece } from './bit-access.js';

/** Counts and finds bits in bytes; bit 0 is the highest bit of the first byte. */
const ONES = Uint8Array.from({ length: 256 }, (_, byte) => onesOfWord(byte));

function onesOfWord(word: number): number {
  let v = word - ((word >>> 1) & 0x55555555);
  v = (v & 0x33333333) + ((v >>> 2) & 0x33333333);
  v = (v + (v >>> 4)) & 0x0f0f0f0f;
  return Math.imul(v, 0x01010101) >>> 24;
}

function countOnes(bytes: Uint8Array): number {
  let count = 0;
  const aligned = (4 - (bytes.byteOffset & 3)) & 3;
  const head = Math.min(aligned, bytes.length);
  for (let i = 0; i < head; i += 1) count += ONES[bytes[i] as number] as number;
  const wordCount = (bytes.length - head) >> 2;
  const words = wordCount > 0 ? new Int32Array(bytes.buffer, bytes.byteOffset + head, wordCount) : [];
  for (let i = 0; i < wordCount; i += 1) count += onesOfWord(words[i] as number);
  for (let i = head + wordCount * 4; i < bytes.length; i += 1) count += ONES[bytes[i] as number] as number;
  return count;
}

/** The position of the first bit equal to `bit`, or -1. */
function findBit(bytes: Uint8Array, bit: 0 | 1): number {
  const skipped = bit === 1 ? 0 : 0xff;
  for (let i = 0; i < bytes.length; i += 1) {
    const byte = bytes[i] as number;
    if (byte === skipped) continue;
    const wanted = bit === 1 ? byte : ~byte & 0xff;
    return i * 8 + Math.clz32(wanted) - 24;
  }
  return -1;
}

const badBit = new ErrorReply('ERR bit is not an integer or out of range');
const badBitArgument = new ErrorReply('ERR The bit argument must be 1 or 0.');

/** SETBIT key offset 0 | 1 → the previous bit. WRONGTYPE, offset or bit out of range. */
export const setBit: Handler = (context) => {
  const { args, keyspace, effects } = context;
  const key = args.bytes(1);
  const offset = bitOffset(args.bytes(2));
  const word = args.bytes(3);
  if (word !== '0' && word !== '1') throw badBit;
  const index = Math.floor(offset / 8);
  const present = keyspace.peekBits(key);
  const old = present === undefined ? 0 : bitAt(present, offset);
  if (present === undefined || index >= present.length || old !== Number(word)) {
    const editor = editBits(context, key, index);
    const mask = 0x80 >> (offset % 8);
    const byte = editor.byteAt(index);
    editor.setByte(index, word === '1' ? byte | mask : byte & ~mask);
    editor.save();
    effects.push('SETBIT', key, String(offset), word);
    recordExpiry(context, key);
  }
  context.notify('$', 'setbit', key);
  return old;
};

/** GETBIT key offset → 0 or 1. WRONGTYPE, offset out of range. */
export const getBit: Handler = ({ args, keyspace }) => {
  const offset = bitOffset(args.bytes(2));
  const bits = keyspace.peekBits(args.bytes(1));
  return bits === undefined ? 0 : bitAt(bits, offset);
};

/** Bits [start, end) of a string. */
interface BitRange {
  readonly start: number;
  readonly end: number;
}

/** Words `start end [BYTE | BIT]` from index `at` on; undefined: an empty range. */
function rangeOf({ args }: CommandContext, at: number, length: number): BitRange | undefined {
  const unit = args.length > at + 2 ? args.option(at + 2) : 'BYTE';
  const total = unit === 'BIT' ? length * 8 : length;
  let start = args.offset(at);
  let end = args.length > at + 1 ? args.offset(at + 1) : total - 1;
  if (start < 0) start = Math.max(0, total + start);
  if (end < 0) end = Math.max(0, total + end);
  end = Math.min(end, total - 1);
  if (start > end) return undefined;
  return unit === 'BIT' ? { start, end: end + 1 } : { start: start * 8, end: (end + 1) * 8 };
}

/**
 * Whether both ends are negative with the first after the second. BITPOS, unlike BITCOUNT, does not check this: both
 * ends may be clamped to zero.
 */
function isTurnedAround({ args }: CommandContext): boolean {
  if (args.length < 4) return false;
  const [start, end] = [args.offset(2), args.offset(3)];
  return start < 0 && end < 0 && start > end;
}

/** Validates the words of a range before lookups, in Redis's order. */
function checkRange({ args }: CommandContext, at: number, unitFirst: boolean): void {
  if (args.length > at + 3) throw ERRORS.syntax;
  if (args.length > at) args.offset(at);
  if (unitFirst) checkUnit(args, at + 2);
  if (args.length > at + 1) args.offset(at + 1);
  checkUnit(args, at + 2);
}

function checkUnit(args: Args, at: number): void {
  if (args.length > at && !['BIT', 'BYTE'].includes(args.option(at))) throw ERRORS.syntax;
}

/**
 * The bytes of a range in pieces, with the bits outside the range set to `outside`: [bytes, offset of their first bit].
 */
function* pieces(bits: ByteString | BitString, range: BitRange, outside: 0 | 1): Generator<[Buffer, number]> {
  const firstByte = Math.floor(range.start / 8);
  const endByte = Math.ceil(range.end / 8);
  for (let at = firstByte; at < endByte; at += BITMAP_SLICE_BYTES) {
    let bytes = piece(bits, at, Math.min(BITMAP_SLICE_BYTES, endByte - at));
    const cutHead = at === firstByte ? range.start % 8 : 0;
    const isLast = at + bytes.length === endByte;
    const keptInLast = isLast && range.end % 8 > 0 ? range.end % 8 : 8;
    if (cutHead > 0 || keptInLast < 8) {
      bytes = Buffer.from(bytes);
      const last = bytes.length - 1;
      const headMask = 0xff & ~(0xff >> cutHead);
      const tailMask = 0xff >> keptInLast;
      if (outside === 0) {
        bytes[0] = (bytes[0] as number) & ~headMask;
        bytes[last] = (bytes[last] as number) & ~tailMask;
      } else {
        bytes[0] = (bytes[0] as number) | headMask;
        bytes[last] = (bytes[last] as number) | tailMask;
      }
    }
    yield [bytes, at * 8];
  }
}

/** Whether the string at the key is long. */
export function isLong({ args, keyspace }: CommandContext): boolean {
  return (keyspace.peekBits(args.bytes(1))?.length ?? 0) > BITMAP_SLICE_BYTES;
}

/** BITCOUNT key [start end [BYTE | BIT]] → the number of set bits. WRONGTYPE. */
export const countBits: SlicedHandler = function* (context): Generator<void, Reply> {
  const { args, keyspace } = context;
  if (args.length === 3) throw ERRORS.syntax;
  checkRange(context, 2, false);
  const bits = keyspace.peekBits(args.bytes(1));
  if (bits === undefined) return 0;
  const range = args.length > 2 ? rangeOf(context, 2, bits.length) : { start: 0, end: bits.length * 8 };
  if (range === undefined || isTurnedAround(context)) return 0;
  let count = 0;
  for (const [bytes] of pieces(bits, range, 0)) {
    count += countOnes(bytes);
    yield;
  }
  return count;
};

/**
 * BITPOS key 0 | 1 [start [end [BYTE | BIT]]] → the offset of the first such bit, or −1. Without an end the string
 * counts as followed by zeros. WRONGTYPE.
 */
export const findFirstBit: SlicedHandler = function* (context): Generator<void, Reply> {
  const { args, keyspace } = context;
  const bit = args.offset(2);
  if (bit !== 0 && bit !== 1) throw badBitArgument;
  checkRange(context, 3, true);
  const bits = keyspace.peekBits(args.bytes(1));
  if (bits === undefined) return bit === 1 ? -1 : 0;
  const range = args.length > 3 ? rangeOf(context, 3, bits.length) : { start: 0, end: bits.length * 8 };
  if (range === undefined || range.end === 0) return -1;
  for (const [bytes, offset] of pieces(bits, range, bit === 1 ? 0 : 1)) {
    const found = findBit(bytes, bit);
    if (found >= 0) return offset + found;
    yield;
  }
  return bit === 0 && args.length < 5 ? bits.length * 8 : -1;
};
