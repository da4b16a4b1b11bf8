/**
 * Parses and prints numbers as Redis does. A 64-bit integer is a number where that is exact and a bigint otherwise:
 * counting stays fast and no digits are lost.
 */
import type { ByteString } from '../../kernel/index.js';

export const INT64_MAX = 9223372036854775807n;
export const INT64_MIN = -9223372036854775808n;
export const MAX_UNSIGNED_64 = (1n << 64n) - 1n;

/** An unsigned 64-bit integer: a number if exact, otherwise a bigint. */
export type Unsigned64 = number | bigint;

const CANONICAL_INTEGER = /^(?:0|-?[1-9][0-9]{0,18})$/;
/** As C's parser and Redis accept them: leading blanks and a plus are allowed. */
const UNSIGNED_DIGITS = /^[ \t\n\v\f\r]*\+?([0-9]+)$/;
/** Longer texts have leading zeros or are out of range; parsing them would be slow. */
const MAX_UNSIGNED_DIGITS = 64;
const DECIMAL = /^[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$/;
const INFINITE = /^([+-]?)inf(?:inity)?$/i;

/** Undefined unless the text is canonical: no plus, no leading zero, no blank, within 64 bits. */
export function parseInt64(text: ByteString): number | bigint | undefined {
  if (text.length > 20 || !CANONICAL_INTEGER.test(text)) return undefined;
  if (text.length <= 15) return Number(text);
  const value = BigInt(text);
  if (value > INT64_MAX || value < INT64_MIN) return undefined;
  return narrow(value);
}

/** Undefined unless the text is an unsigned 64-bit integer. */
export function parseUnsigned64(text: ByteString): Unsigned64 | undefined {
  const digits = UNSIGNED_DIGITS.exec(text)?.[1];
  if (digits === undefined || digits.length > MAX_UNSIGNED_DIGITS) return undefined;
  if (digits.length <= 15) return Number(digits);
  const value = BigInt(digits);
  if (value > MAX_UNSIGNED_64) return undefined;
  return narrow(value);
}

/** A number if it is exact. */
export function narrow(value: bigint): number | bigint {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}

/** Undefined for text that is not a number, has surrounding blanks, or is NaN. Infinities are accepted. */
export function parseFloatStrict(text: ByteString): number | undefined {
  if (DECIMAL.test(text)) return Number(text);
  const infinite = INFINITE.exec(text);
  if (infinite === null) return undefined;
  return infinite[1] === '-' ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
}

/** Whole doubles are printed as integers up to here, as in Redis. */
const MAX_WHOLE = 2 ** 62;
const SHORTEST = /^(-?)([0-9]+)(?:\.([0-9]+))?(?:e([+-][0-9]+))?$/;

/** A double as Redis prints scores: the shortest digits that parse to the same value, `inf`, `-inf`, `nan`. */
export function formatDouble(value: number): ByteString {
  if (Number.isSafeInteger(value)) return Object.is(value, -0) ? '-0' : String(value);
  if (Number.isNaN(value)) return 'nan';
  if (value === Number.POSITIVE_INFINITY) return 'inf';
  if (value === Number.NEGATIVE_INFINITY) return '-inf';
  if (Number.isInteger(value) && Math.abs(value) <= MAX_WHOLE) return String(BigInt(value));
  const parts = SHORTEST.exec(String(value));
  if (parts === null) return String(value);
  const [, sign = '', whole = '', fraction = '', exponentText = '0'] = parts;
  const written = `${whole}${fraction}`;
  const digits = written.replace(/^0+/, '').replace(/0+$/, '');
  // The value is digits × 10^scale.
  const scale = Number(exponentText) - fraction.length + (written.length - written.replace(/0+$/, '').length);
  const exponent = scale + digits.length - 1;
  if (scale >= 0 && Math.abs(exponent) < digits.length + 7) return `${sign}${digits}${'0'.repeat(scale)}`;
  if (scale < 0 && (scale > -7 || Math.abs(exponent) < 4)) {
    const point = digits.length + scale;
    return point > 0
      ? `${sign}${digits.slice(0, point)}.${digits.slice(point)}`
      : `${sign}0.${'0'.repeat(-point)}${digits}`;
  }
  const rest = digits.length > 1 ? `.${digits.slice(1)}` : '';
  return `${sign}${digits[0]}${rest}e${exponent < 0 ? '-' : '+'}${Math.abs(exponent)}`;
}
