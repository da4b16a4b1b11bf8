/** What can be a name, an e-mail, and an address that may connect. */
import { type Decision, rejected } from './decision.js';
import { MAX_EMAIL_CHARACTERS, MAX_GIVEN_NAME_CHARACTERS } from './limits.js';

const EMAIL = /^[^\s@]+@[^\s@]+$/;
/** Numbers without leading zeros: some readers take those for octal. */
const IPV4_BLOCK = /^(0|[1-9]\d{0,2})\.(0|[1-9]\d{0,2})\.(0|[1-9]\d{0,2})\.(0|[1-9]\d{0,2})(?:\/(0|[1-9]\d?))?$/;

/** Operators type them: a blank end would be invisible. */
export function isTypedName(name: string): boolean {
  return name.length >= 1 && name.length <= MAX_GIVEN_NAME_CHARACTERS && name.trim() === name && !/\p{Cc}/u.test(name);
}

/** The management API takes them so: any characters but control characters, each counted once. */
export function refuseName(name: string): Decision | undefined {
  const count = name.length > 2 * MAX_GIVEN_NAME_CHARACTERS ? Number.POSITIVE_INFINITY : [...name].length;
  if (count >= 1 && count <= MAX_GIVEN_NAME_CHARACTERS && !/\p{Cc}/u.test(name)) return undefined;
  return rejected('BAD_NAME', `a name has 1 to ${MAX_GIVEN_NAME_CHARACTERS} characters, no control characters`);
}

export function isEmail(email: string): boolean {
  return email.length <= MAX_EMAIL_CHARACTERS && EMAIL.test(email);
}

/** `a.b.c.d` or `a.b.c.d/bits`; what actors/control/allowed-networks.ts can read. */
export function isIpv4Block(text: string): boolean {
  const match = IPV4_BLOCK.exec(text);
  if (match === null) return false;
  const [octets, bits] = [match.slice(1, 5), match[5] ?? '32'];
  return octets.every((octet) => Number(octet) <= 255) && Number(bits) <= 32;
}
