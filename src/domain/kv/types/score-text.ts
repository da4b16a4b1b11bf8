/**
 * Parses scores as C's strtod does, with Redis's limits: decimal, hexadecimal (`0x1.8p3`), `inf` and `infinity` in any
 * case; never NaN.
 */
import type { ByteString } from '../../../kernel/index.js';

const DECIMAL = /^[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$/;
const INFINITE = /^([+-]?)inf(?:inity)?$/i;
const HEXADECIMAL = /^([+-]?)0x(?=\.?[0-9a-f])([0-9a-f]*)\.?([0-9a-f]*)(?:p([+-]?[0-9]+))?$/i;
const NONZERO_DIGIT = /[1-9]/;
const NONZERO_HEX_DIGIT = /[1-9a-f]/i;
/** Beyond this many binary places every double is zero or infinite, regardless of its digits. */
const MAX_EXPONENT = 100_000;

/** A score; undefined for an invalid number or one out of a double's range. */
export function parseScore(text: ByteString): number | undefined {
  if (DECIMAL.test(text)) {
    const value = Number(text);
    if (value === 0) return NONZERO_DIGIT.test(text.replace(/e.*/i, '')) ? undefined : value;
    return Number.isFinite(value) ? value : undefined;
  }
  const infinite = INFINITE.exec(text);
  if (infinite !== null) return infinite[1] === '-' ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  const hexadecimal = HEXADECIMAL.exec(text);
  if (hexadecimal === null) return undefined;
  const value = hexadecimalValue(hexadecimal);
  if (value === 0) return NONZERO_HEX_DIGIT.test(`${hexadecimal[2]}${hexadecimal[3]}`) ? undefined : value;
  return Number.isFinite(value) ? value : undefined;
}

/**
 * The number in a bound of a range, or undefined. More is accepted than for scores: leading blanks, an empty text as 0,
 * too large numbers as infinite; the text ends at a zero byte.
 */
export function parseBoundNumber(given: ByteString): number | undefined {
  const end = given.indexOf('\x00');
  const text = end < 0 ? given : given.slice(0, end);
  if (text === '') return 0;
  const trimmed = text.replace(/^[ \t\n\v\f\r]+/, '');
  if (DECIMAL.test(trimmed)) return Number(trimmed);
  const infinite = INFINITE.exec(trimmed);
  if (infinite !== null) return infinite[1] === '-' ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  const hexadecimal = HEXADECIMAL.exec(trimmed);
  return hexadecimal === null ? undefined : hexadecimalValue(hexadecimal);
}

function hexadecimalValue([, sign, whole = '', fraction = '', exponent = '0']: RegExpExecArray): number {
  const mantissa = BigInt(`0x${whole}${fraction}`);
  const shift = Math.max(-MAX_EXPONENT, Math.min(MAX_EXPONENT, Number(exponent))) - 4 * fraction.length;
  const value = scaled(mantissa, shift);
  return sign === '-' ? -value : value;
}

/** The double nearest to mantissa × 2^shift. */
function scaled(mantissa: bigint, shift: number): number {
  if (mantissa === 0n) return 0;
  const bits = mantissa.toString(2).length;
  if (bits + shift > 1100) return Number.POSITIVE_INFINITY;
  if (bits + shift < -1100) return 0;
  // In two steps, because 2^shift alone may be out of range; the first is exact unless the result is subnormal.
  const half = Math.trunc(shift / 2);
  return Number(mantissa) * 2 ** half * 2 ** (shift - half);
}
