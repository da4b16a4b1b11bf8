/**
 * Arithmetic with the indexes of an array: 64 bits, as numbers where that is exact and as bigints beyond. An index is
 * split into a page, whose number is always exact, and an offset in that page.
 */
import type { ByteString } from '../../../kernel/index.js';
import { MAX_UNSIGNED_64, narrow, parseUnsigned64, type Unsigned64 } from '../numbers.js';

/** The slots of a page; ARINFO shows the number. */
export const PAGE_INDEXES = 4096;
const PAGE_BITS = 12n;

/** The highest index; one more is the terminal state of the insert cursor. */
const MAX_ARRAY_INDEX = MAX_UNSIGNED_64 - 1n;

/** Undefined unless the text is an index. */
export function parseIndex(text: ByteString): Unsigned64 | undefined {
  const index = parseUnsigned64(text);
  return index === undefined || index > MAX_ARRAY_INDEX ? undefined : index;
}

export function pageOf(index: Unsigned64): number {
  return typeof index === 'number' ? Math.floor(index / PAGE_INDEXES) : Number(index >> PAGE_BITS);
}

export function offsetOf(index: Unsigned64): number {
  return typeof index === 'number' ? index % PAGE_INDEXES : Number(index & BigInt(PAGE_INDEXES - 1));
}

export function indexAt(page: number, offset: number): Unsigned64 {
  const index = page * PAGE_INDEXES + offset;
  return Number.isSafeInteger(index) ? index : narrow((BigInt(page) << PAGE_BITS) + BigInt(offset));
}

/** May exceed the highest index. @param by a whole number, which may be negative */
export function plus(index: Unsigned64, by: number): Unsigned64 {
  const sum = typeof index === 'number' ? index + by : 0;
  return typeof index === 'number' && Number.isSafeInteger(sum) ? sum : narrow(BigInt(index) + BigInt(by));
}

/** `count` indexes from `from` on all exist. */
export function hasRoom(from: Unsigned64, count: number): boolean {
  return plus(from, count - 1) <= MAX_ARRAY_INDEX;
}

/** How many indexes are from `low` to `high`, both included; infinite above 2^53. */
export function width(low: Unsigned64, high: Unsigned64): number {
  const span = narrow(BigInt(high) - BigInt(low));
  return typeof span === 'number' ? span + 1 : Number.POSITIVE_INFINITY;
}

export function modulo(index: Unsigned64, divisor: Unsigned64): Unsigned64 {
  if (index < divisor) return index;
  if (typeof index === 'number' && typeof divisor === 'number') return index % divisor;
  return narrow(BigInt(index) % BigInt(divisor));
}
