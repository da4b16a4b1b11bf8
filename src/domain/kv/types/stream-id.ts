/**
 * The id of a stream entry: milliseconds and a sequence number, 64 bits each. Stored as 16 big-endian bytes, so that
 * ids can be compared as strings and used as keys.
 */
import type { ByteString } from '../../../kernel/index.js';
import type { Unsigned64 } from '../numbers.js';

/** 16 bytes: milliseconds, then sequence. */
export type StreamId = ByteString;

export const MIN_ID: StreamId = '\0'.repeat(16);
export const MAX_ID: StreamId = '\xff'.repeat(16);
const MIN_HALF = '\0'.repeat(8);
const MAX_HALF = '\xff'.repeat(8);
const TWO_32 = 2 ** 32;
/** High words below this give a number that is exact. */
const EXACT_HIGH = 2 ** 21;

export function packId(ms: Unsigned64, sequence: Unsigned64): StreamId {
  return packHalf(ms) + packHalf(sequence);
}

/** `ms-seq`, as shown to clients. */
export function formatId(id: StreamId): ByteString {
  return `${half(id, 0)}-${half(id, 8)}`;
}

/** The time of the entry; large ones are rounded. */
export function millisecondsOf(id: StreamId): number {
  return Number(half(id, 0));
}

/** The next higher id; undefined for the highest. */
export function idAfter(id: StreamId): StreamId | undefined {
  if (id === MAX_ID) return undefined;
  if (id.endsWith(MAX_HALF)) return packHalf(step(half(id, 0), 1)) + MIN_HALF;
  return id.slice(0, 8) + packHalf(step(half(id, 8), 1));
}

/** The next lower id; undefined for the lowest. */
export function idBefore(id: StreamId): StreamId | undefined {
  if (id === MIN_ID) return undefined;
  if (id.endsWith(MIN_HALF)) return packHalf(step(half(id, 0), -1)) + MAX_HALF;
  return id.slice(0, 8) + packHalf(step(half(id, 8), -1));
}

/** The next id in the same millisecond; undefined when its sequence is exhausted. */
export function nextInMillisecond(id: StreamId): StreamId | undefined {
  return id.endsWith(MAX_HALF) ? undefined : idAfter(id);
}

function step(value: Unsigned64, by: 1 | -1): Unsigned64 {
  const near = Number(value) + by;
  return typeof value === 'number' && Number.isSafeInteger(near) ? near : BigInt(value) + BigInt(by);
}

function packHalf(value: Unsigned64): ByteString {
  let high: number;
  let low: number;
  if (typeof value === 'number') {
    high = Math.floor(value / TWO_32);
    low = value % TWO_32;
  } else {
    high = Number(value >> 32n);
    low = Number(value & 0xffffffffn);
  }
  return String.fromCharCode(
    high >>> 24,
    (high >>> 16) & 0xff,
    (high >>> 8) & 0xff,
    high & 0xff,
    low >>> 24,
    (low >>> 16) & 0xff,
    (low >>> 8) & 0xff,
    low & 0xff,
  );
}

function half(id: StreamId, at: number): Unsigned64 {
  const high = word(id, at);
  const low = word(id, at + 4);
  return high < EXACT_HIGH ? high * TWO_32 + low : (BigInt(high) << 32n) | BigInt(low);
}

function word(id: StreamId, at: number): number {
  return (
    id.charCodeAt(at) * 0x1000000 +
    ((id.charCodeAt(at + 1) << 16) | (id.charCodeAt(at + 2) << 8) | id.charCodeAt(at + 3))
  );
}
