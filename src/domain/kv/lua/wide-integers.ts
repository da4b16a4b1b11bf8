/**
 * 64-bit integers for scripts. Lua's numbers are doubles, but where its C code needs an integer, the binary uses 32
 * bits and the servers that scripts were written for use 64.
 */
import type { ByteString } from '../../../kernel/index.js';
import type { State } from './lua-api.js';
import type { LuaMachine } from './machine.js';

/** `%`, flags, width, precision, conversion. */
const CONVERSION = /%([-+ #0]*)([0-9]{0,2})(?:\.([0-9]{0,2}))?([A-Za-z%])/g;
const MAX_INT32 = 2 ** 31 - 1;
const MAX_UINT64 = 2n ** 64n - 1n;

/** Replaces integers that do not fit, in the arguments of `string.format`, by their text and their `%d` by `%s`. */
export function widenFormat(machine: LuaMachine, state: State): void {
  const { api } = machine;
  let argument = 1;
  let isChanged = false;
  const widened = (machine.string(state, 1) as ByteString).replace(
    CONVERSION,
    (whole: string, flags: string, width: string, precision: string | undefined, conversion: string) => {
      if (conversion === '%') return whole;
      argument += 1;
      if (!/[diouxX]/.test(conversion) || api.lua_isnumber(state, argument) === 0) return whole;
      const number = api.lua_tonumber(state, argument);
      const fits = Math.abs(number) <= MAX_INT32 && (number >= 0 || conversion === 'd' || conversion === 'i');
      if (fits) return whole;
      machine.push(state, integerText(number, flags, Number(width), precision, conversion));
      api.lua_replace(state, argument);
      isChanged = true;
      return '%s';
    },
  );
  if (!isChanged) return;
  machine.push(state, widened);
  api.lua_replace(state, 1);
}

function integerText(
  number: number,
  flags: string,
  width: number,
  precision: string | undefined,
  conversion: string,
): ByteString {
  const isInRange = number >= -(2 ** 63) && number < 2 ** 64;
  const value = isInRange ? BigInt(Math.trunc(number)) : -(2n ** 63n);
  const isSigned = conversion === 'd' || conversion === 'i';
  const shown = isSigned ? BigInt.asIntN(64, value) : BigInt.asUintN(64, value);
  const radix = conversion === 'o' ? 8 : conversion === 'u' || isSigned ? 10 : 16;
  const magnitude = (shown < 0n ? -shown : shown).toString(radix).padStart(Number(precision ?? 0), '0');
  const prefix = flags.includes('#') && radix !== 10 ? (radix === 8 ? '0' : '0x') : '';
  const plus = !isSigned ? '' : flags.includes('+') ? '+' : flags.includes(' ') ? ' ' : '';
  const sign = `${shown < 0n ? '-' : plus}${prefix}`;
  const isZeroFilled = flags.includes('0') && !flags.includes('-') && precision === undefined;
  const digits = isZeroFilled ? magnitude.padStart(width - sign.length, '0') : magnitude;
  const text = conversion === 'X' ? `${sign}${digits}`.toUpperCase() : `${sign}${digits}`;
  return flags.includes('-') ? text.padEnd(width) : text.padStart(width);
}

/** C's 64-bit strtoul; undefined for an invalid number in that base. */
export function unsignedOf(text: ByteString, base: number): bigint | undefined {
  if (!Number.isInteger(base) || base < 2 || base > 36) return undefined;
  const found = /^[ \t\n\v\f\r]*([+-]?)(0x)?([0-9a-z]+)[ \t\n\v\f\r]*$/i.exec(text);
  if (found === null) return undefined;
  const [, sign = '', hex, digits = ''] = found;
  if (hex !== undefined && base !== 16) return undefined;
  let value = 0n;
  for (const letter of digits) {
    const digit = Number.parseInt(letter, 36);
    if (digit >= base) return undefined;
    if (value <= MAX_UINT64) value = value * BigInt(base) + BigInt(digit);
  }
  if (value > MAX_UINT64) return MAX_UINT64;
  return sign === '-' ? BigInt.asUintN(64, -value) : value;
}
