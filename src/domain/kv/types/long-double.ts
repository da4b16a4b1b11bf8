/**
 * Adds numbers like an x86 long double: a 64-bit mantissa, rounding half to even, printed with at most 17 decimals
 * (INCRBYFLOAT) or 17 digits (AROP). Replies and stored values depend on these digits, and a JavaScript number has 11
 * bits too few. Values are exact: mantissa · 2^exponent.
 */
import type { ByteString } from '../../../kernel/index.js';

export interface LongDouble {
  readonly mantissa: bigint;
  readonly exponent: number;
}

export type Sum = { readonly kind: 'finite'; readonly text: ByteString } | { readonly kind: 'infinite' };

const MANTISSA_BITS = 64;
/** Values of 2^16384 and above are infinite. */
const MAX_EXPONENT = 16384;
/** Values below 2^-16445 underflow to zero; Redis refuses such a text. */
const MIN_EXPONENT = -16445;
/** Redis does not accept longer texts as numbers, and parsing them would be slow. */
const MAX_TEXT = 5 * 1024;
const DECIMALS = 17;
const DIGITS = 17;

const DECIMAL = /^([+-]?)([0-9]*)\.?([0-9]*)(?:[eE]([+-]?[0-9]+))?$/;
const INFINITE = /^[+-]?inf(?:inity)?$/i;

export function isFloatText(text: ByteString): boolean {
  return parse(text) !== undefined;
}

/** The sum of two numbers given as text; undefined if either is not a number. */
export function addLongDoubles(left: ByteString, right: ByteString): Sum | undefined {
  const a = parse(left);
  const b = parse(right);
  if (a === undefined || b === undefined) return undefined;
  if (a === 'infinite' || b === 'infinite') return { kind: 'infinite' };
  const rounded = sumOf(a, b);
  return isInfinite(rounded) ? { kind: 'infinite' } : { kind: 'finite', text: print(rounded) };
}

/** The number as text; an infinite one as a JavaScript number; undefined if it is none. */
export function parseLongDouble(text: ByteString): LongDouble | number | undefined {
  const value = parse(text);
  if (value !== 'infinite') return value;
  return text.startsWith('-') ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
}

export function sumOf(a: LongDouble, b: LongDouble): LongDouble {
  const exponent = Math.min(a.exponent, b.exponent);
  return round((a.mantissa << BigInt(a.exponent - exponent)) + (b.mantissa << BigInt(b.exponent - exponent)), exponent);
}

export function isLess(a: LongDouble, b: LongDouble): boolean {
  const exponent = Math.min(a.exponent, b.exponent);
  return a.mantissa << BigInt(a.exponent - exponent) < b.mantissa << BigInt(b.exponent - exponent);
}

/** The whole part. */
export function truncated({ mantissa, exponent }: LongDouble): bigint {
  if (exponent >= 0) return mantissa << BigInt(exponent);
  const whole = (mantissa < 0n ? -mantissa : mantissa) >> BigInt(-exponent);
  return mantissa < 0n ? -whole : whole;
}

/** At most 17 digits, with an exponent for very small and very large numbers, as C's `%.17Lg`. */
export function generalText({ mantissa, exponent }: LongDouble): ByteString {
  if (mantissa === 0n) return '0';
  const sign = mantissa < 0n ? '-' : '';
  const magnitude = mantissa < 0n ? -mantissa : mantissa;
  const above = exponent >= 0 ? magnitude << BigInt(exponent) : magnitude;
  const below = exponent >= 0 ? 1n : 1n << BigInt(-exponent);
  let power = above >= below ? String(above / below).length - 1 : -String(below / above).length;
  let digits = scaledDigits(above, below, power);
  // The power was an estimate, and rounding may add a digit.
  while (digits.length !== DIGITS) {
    power += digits.length > DIGITS ? 1 : -1;
    digits = scaledDigits(above, below, power);
  }
  const significant = digits.replace(/0+$/, '');
  if (power < -4 || power >= DIGITS) {
    const rest = significant.length > 1 ? `.${significant.slice(1)}` : '';
    return `${sign}${significant[0]}${rest}e${power < 0 ? '-' : '+'}${String(Math.abs(power)).padStart(2, '0')}`;
  }
  if (power < 0) return `${sign}0.${'0'.repeat(-power - 1)}${significant}`;
  const whole = digits.slice(0, power + 1);
  const fraction = significant.slice(power + 1);
  return fraction === '' ? `${sign}${whole}` : `${sign}${whole}.${fraction}`;
}

/** above / below · 10^(16 - power), rounded: the first 17 digits if `power` is that of the first one. */
function scaledDigits(above: bigint, below: bigint, power: number): string {
  const shift = DIGITS - 1 - power;
  const numerator = shift >= 0 ? above * 10n ** BigInt(shift) : above;
  const denominator = shift >= 0 ? below : below * 10n ** BigInt(-shift);
  const quotient = numerator / denominator;
  const twice = 2n * (numerator - quotient * denominator);
  const isUp = twice > denominator || (twice === denominator && (quotient & 1n) === 1n);
  return String(isUp ? quotient + 1n : quotient);
}

function parse(text: ByteString): LongDouble | 'infinite' | undefined {
  if (text.length > MAX_TEXT) return undefined;
  if (INFINITE.test(text)) return 'infinite';
  const match = DECIMAL.exec(text);
  if (match === null) return undefined;
  const [, sign, whole = '', fraction = '', power = '0'] = match;
  if (whole.length + fraction.length === 0) return undefined;
  const digits = BigInt(whole + fraction);
  if (digits === 0n) return { mantissa: 0n, exponent: 0 };
  const scale = Number(power) - fraction.length;
  // Out of range regardless of the digits; also bounds the powers of ten below.
  if (Math.abs(scale) > 2 * MAX_TEXT) return undefined;
  const value = scaled(digits, scale);
  if (isInfinite(value) || bitLength(value.mantissa) + value.exponent < MIN_EXPONENT) return undefined;
  return sign === '-' ? { mantissa: -value.mantissa, exponent: value.exponent } : value;
}

/** digits · 10^scale, rounded once. */
function scaled(digits: bigint, scale: number): LongDouble {
  if (scale >= 0) return round(digits * 10n ** BigInt(scale), 0);
  const divisor = 10n ** BigInt(-scale);
  const shift = Math.max(0, MANTISSA_BITS + 2 - bitLength(digits) + bitLength(divisor));
  const dividend = digits << BigInt(shift);
  const quotient = dividend / divisor;
  // The lowest bit records whether digits were cut off; it is at least two bits below the mantissa.
  return round(quotient * divisor === dividend ? quotient : quotient | 1n, -shift);
}

function round(mantissa: bigint, exponent: number): LongDouble {
  const excess = bitLength(mantissa) - MANTISSA_BITS;
  if (excess <= 0) return { mantissa, exponent };
  return { mantissa: shiftRightHalfEven(mantissa, excess), exponent: exponent + excess };
}

function shiftRightHalfEven(value: bigint, bits: number): bigint {
  const magnitude = value < 0n ? -value : value;
  const shift = BigInt(bits);
  const rest = magnitude & ((1n << shift) - 1n);
  const half = 1n << (shift - 1n);
  let result = magnitude >> shift;
  if (rest > half || (rest === half && (result & 1n) === 1n)) result += 1n;
  return value < 0n ? -result : result;
}

function print({ mantissa, exponent }: LongDouble): ByteString {
  const powered = mantissa * 10n ** BigInt(DECIMALS);
  const units = exponent >= 0 ? powered << BigInt(exponent) : shiftRightHalfEven(powered, -exponent);
  const digits = (units < 0n ? -units : units).toString().padStart(DECIMALS + 1, '0');
  const fraction = digits.slice(-DECIMALS).replace(/0+$/, '');
  const text = fraction === '' ? digits.slice(0, -DECIMALS) : `${digits.slice(0, -DECIMALS)}.${fraction}`;
  return units < 0n ? `-${text}` : text;
}

function isInfinite({ mantissa, exponent }: LongDouble): boolean {
  return mantissa !== 0n && bitLength(mantissa) + exponent > MAX_EXPONENT;
}

function bitLength(value: bigint): number {
  return value === 0n ? 0 : (value < 0n ? -value : value).toString(16).length * 4 - leadingZeros(value);
}

function leadingZeros(value: bigint): number {
  const first = Number.parseInt((value < 0n ? -value : value).toString(16)[0] as string, 16);
  return Math.clz32(first) - 28;
}
