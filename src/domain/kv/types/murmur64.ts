/** MurmurHash64A, with which Redis hashes elements of a HyperLogLog and of filters; 64-bit numbers are two unsigned halves. */
import { type ByteString, bufferOfBytes } from '../../../kernel/index.js';

/** The multiplier of the hash, 0xc6a4a7935bd1e995. */
const M_HIGH = 0xc6a4a793;
const M_LOW = 0x5bd1e995;
/** Of a HyperLogLog. */
const SEED: Hash64 = { high: 0, low: 0xadc83b19 };

export interface Hash64 {
  high: number;
  low: number;
}

/** Multiplies by M, modulo 2^64. */
function timesM(n: Hash64): void {
  const { high, low } = n;
  const lowLow = low & 0xffff;
  const lowHigh = low >>> 16;
  const a = lowLow * (M_LOW & 0xffff);
  const b = lowHigh * (M_LOW & 0xffff) + (a >>> 16);
  const c = lowLow * (M_LOW >>> 16) + (b & 0xffff);
  const carry = lowHigh * (M_LOW >>> 16) + Math.floor(b / 0x10000) + Math.floor(c / 0x10000);
  n.low = (((c & 0xffff) << 16) | (a & 0xffff)) >>> 0;
  n.high = (carry + Math.imul(high, M_LOW) + Math.imul(low, M_HIGH)) >>> 0;
}

/** Multiplies by M, XORs with itself shifted by 47 bits, multiplies by M. */
function mix(k: Hash64): void {
  timesM(k);
  k.low = (k.low ^ (k.high >>> 15)) >>> 0;
  timesM(k);
}

/** Bytes hashed per slice: some tenths of a millisecond. */
const SLICE_BYTES = 64 * 1024;

/** Whether hashing the text needs slices. */
export function isLongToHash({ length }: ByteString): boolean {
  return length > SLICE_BYTES;
}

export function murmur64(text: ByteString, seed = SEED): Hash64 {
  const bytes = bufferOfBytes(text);
  const h = begun(bytes, seed);
  hashWords(h, bytes, 0, bytes.length & ~7);
  return ended(h, bytes);
}

export function* murmur64InSlices(text: ByteString, seed = SEED): Generator<void, Hash64> {
  const bytes = bufferOfBytes(text);
  const h = begun(bytes, seed);
  const end = bytes.length & ~7;
  for (let from = 0; from < end; from += SLICE_BYTES) {
    yield;
    hashWords(h, bytes, from, Math.min(end, from + SLICE_BYTES));
  }
  return ended(h, bytes);
}

function begun({ length }: Buffer, seed: Hash64): Hash64 {
  const h: Hash64 = { high: 0, low: length >>> 0 };
  timesM(h);
  h.low = (h.low ^ seed.low) >>> 0;
  h.high = (h.high ^ seed.high) >>> 0;
  return h;
}

function hashWords(h: Hash64, bytes: Buffer, from: number, end: number): void {
  const k: Hash64 = { high: 0, low: 0 };
  for (let at = from; at < end; at += 8) {
    k.low = bytes.readUInt32LE(at);
    k.high = bytes.readUInt32LE(at + 4);
    mix(k);
    h.low = (h.low ^ k.low) >>> 0;
    h.high = (h.high ^ k.high) >>> 0;
    timesM(h);
  }
}

function ended(h: Hash64, bytes: Buffer): Hash64 {
  const end = bytes.length & ~7;
  if (end < bytes.length) {
    for (let i = bytes.length - 1; i >= end; i -= 1) {
      const shift = (i - end) * 8;
      if (shift >= 32) h.high = (h.high ^ ((bytes[i] as number) << (shift - 32))) >>> 0;
      else h.low = (h.low ^ ((bytes[i] as number) << shift)) >>> 0;
    }
    timesM(h);
  }
  h.low = (h.low ^ (h.high >>> 15)) >>> 0;
  timesM(h);
  h.low = (h.low ^ (h.high >>> 15)) >>> 0;
  return h;
}
