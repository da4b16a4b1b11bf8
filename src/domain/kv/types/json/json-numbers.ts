/**
 * Parses, prints and computes JSON numbers without losing digits: integers of up to 64 bits stay integers (signed or
 * unsigned, as in Redis's JSON module); all others are floats.
 */
import type { ByteString } from '../../../../kernel/index.js';
import { INT64_MIN, narrow } from '../../numbers.js';
import { type JsonNumber, WholeFloat } from './json-value.js';

const UINT64_MAX = (1n << 64n) - 1n;
/** A number holds any integer of this many digits exactly. */
const EXACT_DIGITS = 15;

/** Undefined if it is too large for a float. @param literal in JSON's grammar */
export function readNumber(literal: ByteString, isFloat: boolean): JsonNumber | undefined {
  if (!isFloat) {
    if (literal === '-0') return new WholeFloat(-0);
    if (literal.length <= EXACT_DIGITS) return Number(literal);
    // An integer beyond 64 bits becomes a float; above 20 characters no bigint is needed to know that.
    const integer = literal.length <= 20 ? integerWithin64Bits(BigInt(literal)) : undefined;
    if (integer !== undefined) return integer;
  }
  return floatOf(Number(literal));
}

/** Undefined for infinities and NaN. */
function floatOf(value: number): JsonNumber | undefined {
  if (!Number.isFinite(value)) return undefined;
  return Number.isInteger(value) ? new WholeFloat(value) : value;
}

function integerWithin64Bits(value: bigint): number | bigint | undefined {
  return value > UINT64_MAX || value < INT64_MIN ? undefined : narrow(value);
}

function isInteger(value: JsonNumber): value is number | bigint {
  return typeof value === 'bigint' || (typeof value === 'number' && Number.isInteger(value));
}

function asFloat(value: JsonNumber): number {
  return value instanceof WholeFloat ? value.value : Number(value);
}

/**
 * JSON text: integers as digits; floats with a point or an exponent and the shortest digits that parse to the same
 * value.
 */
export function formatNumber(value: JsonNumber): ByteString {
  if (isInteger(value)) return String(value);
  const float = asFloat(value);
  if (float === 0) return Object.is(float, -0) ? '-0.0' : '0.0';
  const size = Math.abs(float);
  // Where JavaScript's own notation is the same, it is faster.
  if (!(value instanceof WholeFloat) && size >= 1e-5 && size < 1e16) return String(float);
  const [, sign = '', head = '', tail = '', exponentText = '0'] = SHORTEST.exec(float.toExponential()) ?? [];
  const digits = head + tail;
  const point = Number(exponentText) + 1;
  if (point > 0 && point <= PLAIN_DIGITS) {
    if (digits.length <= point) return `${sign}${digits.padEnd(point, '0')}.0`;
    return `${sign}${digits.slice(0, point)}.${digits.slice(point)}`;
  }
  if (point <= 0 && point > -PLAIN_ZEROS) return `${sign}0.${'0'.repeat(-point)}${digits}`;
  return `${sign}${head}${tail === '' ? '' : `.${tail}`}e${point - 1}`;
}

const SHORTEST = /^(-?)([0-9])(?:\.([0-9]+))?e([+-][0-9]+)$/;
/** Up to this many digits before the point; larger numbers have an exponent. */
const PLAIN_DIGITS = 16;
const PLAIN_ZEROS = 5;

export type Arithmetic = 'plus' | 'times' | 'power';

/** The result of two integers is an integer if it fits 64 bits, otherwise a float; undefined if it is not finite. */
export function reckon(how: Arithmetic, a: JsonNumber, b: JsonNumber): JsonNumber | undefined {
  if (isInteger(a) && isInteger(b)) {
    const exact = reckonIntegers(how, BigInt(a), BigInt(b));
    if (exact !== undefined) return exact;
  }
  const [x, y] = [asFloat(a), asFloat(b)];
  return floatOf(how === 'plus' ? x + y : how === 'times' ? x * y : x ** y);
}

function reckonIntegers(how: Arithmetic, a: bigint, b: bigint): number | bigint | undefined {
  if (how === 'plus') return integerWithin64Bits(a + b);
  if (how === 'times') return integerWithin64Bits(a * b);
  if (b < 0n) return undefined;
  if (a === 0n || a === 1n) return Number(b === 0n ? 1n : a);
  if (a === -1n) return b % 2n === 0n ? 1 : -1;
  // Other bases exceed 64 bits before the 65th power.
  return b > 64n ? undefined : integerWithin64Bits(a ** b);
}
