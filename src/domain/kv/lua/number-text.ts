/** Formats and parses numbers like C's printf and strtod, on which Lua's libraries depend. */
import type { ByteString } from '../../../kernel/index.js';

/** `%.<digits>g`. */
export function formatG(value: number, digits: number): ByteString {
  if (Number.isNaN(value)) return '-nan';
  if (!Number.isFinite(value)) return value > 0 ? 'inf' : '-inf';
  if (value === 0) return Object.is(value, -0) ? '-0' : '0';
  const [mantissa = '', exponentText = '0'] = value.toExponential(digits - 1).split('e');
  const exponent = Number(exponentText);
  if (exponent < -4 || exponent >= digits) {
    const magnitude = String(Math.abs(exponent)).padStart(2, '0');
    return `${trimZeros(mantissa)}e${exponent < 0 ? '-' : '+'}${magnitude}`;
  }
  return trimZeros(value.toFixed(Math.max(0, digits - 1 - exponent)));
}

function trimZeros(text: string): string {
  return text.includes('.') ? text.replace(/\.?0+$/, '') : text;
}

const STRTOD =
  /[+-]?(?:0x(?:[0-9a-f]+\.?[0-9a-f]*|\.[0-9a-f]+)(?:p[+-]?[0-9]+)?|inf(?:inity)?|nan|(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?)/iy;

/** The number at position `at` and its end; undefined if there is none. */
export function readNumber(text: ByteString, at: number): { value: number; end: number } | undefined {
  STRTOD.lastIndex = at;
  const found = STRTOD.exec(text)?.[0];
  return found === undefined ? undefined : { value: numberOf(found.toLowerCase()), end: at + found.length };
}

function numberOf(text: string): number {
  const sign = text.startsWith('-') ? -1 : 1;
  const digits = text.replace(/^[+-]/, '');
  if (digits.startsWith('inf')) return sign * Number.POSITIVE_INFINITY;
  if (digits.startsWith('nan')) return Number.NaN;
  if (!digits.startsWith('0x')) return sign * Number(digits);
  const [mantissa = '', power = '0'] = digits.slice(2).split('p');
  const [whole = '', fraction = ''] = mantissa.split('.');
  let value = 0;
  for (const digit of whole + fraction) value = value * 16 + Number.parseInt(digit, 16);
  return sign * value * 2 ** (Number(power) - 4 * fraction.length);
}
