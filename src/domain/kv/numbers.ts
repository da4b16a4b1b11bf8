/**
 * Numbers as Redis reads and prints them. 64-bit integers are numbers where a number holds them
 * exactly and bigints beyond, so that counting stays fast and nothing loses digits.
 */
import type { ByteString } from '../../kernel/index.js';

export const INT64_MAX = 9223372036854775807n;
export const INT64_MIN = -9223372036854775808n;

const CANONICAL_INTEGER = /^(?:0|-?[1-9][0-9]{0,18})$/;
const DECIMAL = /^[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$/;
const INFINITE = /^([+-]?)inf(?:inity)?$/i;

/** Undefined unless canonical: no plus, no leading zero, no blank, within 64 bits. */
export function parseInt64(text: ByteString): number | bigint | undefined {
  if (text.length > 20 || !CANONICAL_INTEGER.test(text)) return undefined;
  if (text.length <= 15) return Number(text);
  const value = BigInt(text);
  if (value > INT64_MAX || value < INT64_MIN) return undefined;
  return narrow(value);
}

/** A number where a number is exact. */
export function narrow(value: bigint): number | bigint {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}

/** Undefined for what is not a number, has blanks around it, or is NaN. Infinities are read. */
export function parseFloatStrict(text: ByteString): number | undefined {
  if (DECIMAL.test(text)) return Number(text);
  const infinite = INFINITE.exec(text);
  if (infinite === null) return undefined;
  return infinite[1] === '-' ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
}
