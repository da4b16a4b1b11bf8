/** Ids of 80 random bits as 16 characters: RFC 4648, lower case, without characters that are easily confused. */
import type { Random } from '../kernel/index.js';

const BASE32 = 'abcdefghijklmnopqrstuvwxyz234567';
const CHARACTERS = 16;
const HEX_DIGITS = 20;

/** The prefix and 80 random bits. */
export function newId(prefix: string, random: Random): string {
  return idFrom(prefix, random.bytes(CHARACTERS));
}

/** The prefix and the low five bits of each of the first 16 bytes; uniform, because 256 is a multiple of 32. */
export function idFrom(prefix: string, bytes: Uint8Array): string {
  let id = prefix;
  for (const byte of bytes.subarray(0, CHARACTERS)) id += BASE32[byte & 31];
  return id;
}

/** 16 characters of 5 bits are 20 hex digits. */
export function hexOfBase32(base32: string): string {
  let value = 0n;
  for (const character of base32) value = value * 32n + BigInt(BASE32.indexOf(character));
  return value.toString(16).padStart(HEX_DIGITS, '0');
}

export function base32OfHex(hex: string): string {
  let value = BigInt(`0x${hex}`);
  let text = '';
  for (let i = 0; i < CHARACTERS; i += 1) {
    text = BASE32[Number(value % 32n)] + text;
    value /= 32n;
  }
  return text;
}
