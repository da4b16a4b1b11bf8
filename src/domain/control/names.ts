/** Validation of names, e-mail addresses and network addresses. */
import { type Decision, rejected } from './decision.js';
import { MAX_EMAIL_CHARACTERS, MAX_GIVEN_NAME_CHARACTERS } from './limits.js';

const EMAIL = /^[^\s@]+@[^\s@]+$/;
/** No leading zeros, because some parsers read such numbers as octal. */
const IPV4_BLOCK = /^(0|[1-9]\d{0,2})\.(0|[1-9]\d{0,2})\.(0|[1-9]\d{0,2})\.(0|[1-9]\d{0,2})(?:\/(0|[1-9]\d?))?$/;

/** For names that operators type: white space at the ends would be invisible. */
export function isTypedName(name: string): boolean {
  return name.length >= 1 && name.length <= MAX_GIVEN_NAME_CHARACTERS && name.trim() === name && !/\p{Cc}/u.test(name);
}

/** For names in the management API: any characters except control characters, counted as code points. */
export function refuseName(name: string): Decision | undefined {
  const count = name.length > 2 * MAX_GIVEN_NAME_CHARACTERS ? Number.POSITIVE_INFINITY : [...name].length;
  if (count >= 1 && count <= MAX_GIVEN_NAME_CHARACTERS && !/\p{Cc}/u.test(name)) return undefined;
  return rejected(
    'BAD_NAME',
    `a name must have 1 to ${MAX_GIVEN_NAME_CHARACTERS} characters, without control characters`,
  );
}

export function isEmail(email: string): boolean {
  return email.length <= MAX_EMAIL_CHARACTERS && EMAIL.test(email);
}

/** `a.b.c.d` or `a.b.c.d/bits`, as actors/control/allowed-networks.ts parses them. */
export function isIpv4Block(text: string): boolean {
  const match = IPV4_BLOCK.exec(text);
  if (match === null) return false;
  const [octets, bits] = [match.slice(1, 5), match[5] ?? '32'];
  return octets.every((octet) => Number(octet) <= 255) && Number(bits) <= 32;
}
