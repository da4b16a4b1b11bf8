/**
 * The kinds of value that a setting can have: how its text is read, which rules the read value obeys
 * (class-validator judges), how it is written back, and how a person is told what is accepted.
 *
 * Invariants
 *  K1 `read` never throws and never corrects: what it cannot read stays the text it was, and the
 *     rules, which want another type, refuse that
 *  K2 `write` gives a text that `read` turns into an equal value; a secret's gives the mask
 *  K3 no value that is accepted holds a control character, so each fits a line
 */
import { isIP } from 'node:net';
import { IsArray, IsBoolean, IsIn, IsInstance, IsInt, IsObject, Matches, Max, Min, ValidateBy } from 'class-validator';
import { MASK, Secret } from './secret.js';

export interface Kind {
  /** Completes "… accepts …". */
  readonly accepts: string;
  readonly rules: readonly PropertyDecorator[];
  read(text: string): unknown;
  write(value: unknown): string;
  /** The text is not shown in an error: it is a secret, or may hold one. */
  readonly isSecret?: boolean;
}

/** A line of text without control characters. */
const ONE_LINE = /^[^\p{Cc}]+$/u;

function rule(name: string, isRight: (value: unknown) => boolean): PropertyDecorator {
  return ValidateBy({ name, validator: { validate: isRight } });
}

// ── numbers ────────────────────────────────────────────────────────────────────────────────────────

export function whole(min: number, max: number, what = 'a whole number'): Kind {
  return {
    accepts: `${what} from ${min} to ${max}`,
    rules: [IsInt(), Min(min), Max(max)],
    read: (text) => (/^\d{1,15}$/.test(text) ? Number(text) : text),
    write: String,
  };
}

export function milliseconds(min: number, max: number): Kind {
  return whole(min, max, 'a whole number of milliseconds');
}

/** @param zero what 0 means for this port */
export function port(zero: string): Kind {
  const kind = whole(0, 65_535, 'a port');
  return { ...kind, accepts: `${kind.accepts}; 0 ${zero}` };
}

const BYTE_UNITS: Readonly<Record<string, number>> = { '': 1, KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3 };

/** A count of bytes: `1048576`, `1024KiB`, `1MiB`. */
export function bytes(min: number, max: number): Kind {
  return {
    accepts: `bytes, plain or with KiB, MiB or GiB, from ${writeBytes(min)} to ${writeBytes(max)}`,
    rules: [IsInt(), Min(min), Max(max)],
    read: (text) => readBytes(text) ?? text,
    write: (value) => writeBytes(value as number),
  };
}

function readBytes(text: string): number | undefined {
  const match = /^(\d{1,15})(KiB|MiB|GiB|)$/.exec(text);
  return match ? Number(match[1]) * (BYTE_UNITS[match[2] as string] as number) : undefined;
}

function writeBytes(count: number): string {
  for (const unit of ['GiB', 'MiB', 'KiB']) {
    const size = BYTE_UNITS[unit] as number;
    if (count >= size && count % size === 0) return `${count / size}${unit}`;
  }
  return String(count);
}

// ── choices ────────────────────────────────────────────────────────────────────────────────────────

export function oneOf<Choice extends string>(...choices: readonly Choice[]): Kind {
  return { accepts: choices.join(' or '), rules: [IsIn([...choices])], read: (text) => text, write: String };
}

export function oneOfNumbers(...choices: readonly number[]): Kind {
  return {
    accepts: choices.join(' or '),
    rules: [IsIn([...choices])],
    read: (text) => choices.find((choice) => String(choice) === text) ?? text,
    write: String,
  };
}

export function yesOrNo(): Kind {
  return {
    accepts: 'true or false',
    rules: [IsBoolean()],
    read: (text) => (text === 'true' ? true : text === 'false' ? false : text),
    write: String,
  };
}

/** Some of the choices, separated by commas; each counts once. */
export function someOf(...choices: readonly string[]): Kind {
  return listOf(`one or more of ${choices.join(', ')}, separated by commas`, (item) =>
    choices.includes(item) ? item : undefined,
  );
}

// ── text ───────────────────────────────────────────────────────────────────────────────────────────

export function text(accepts: string, pattern: RegExp): Kind {
  return { accepts, rules: [Matches(pattern)], read: (given) => given, write: String };
}

export function path(what: string): Kind {
  return text(`the path of ${what}`, ONE_LINE);
}

/** Visible ASCII without spaces, as it must fit an HTTP header. */
export function secretToken(): Kind {
  return secret('1 to 512 visible ASCII characters without spaces', /^[\x21-\x7e]{1,512}$/);
}

export function secretText(): Kind {
  return secret('1 to 512 characters on one line', /^[^\p{Cc}]{1,512}$/u);
}

function secret(accepts: string, pattern: RegExp): Kind {
  return {
    accepts,
    rules: [
      IsInstance(Secret),
      rule('secret', (value) => value instanceof Secret && pattern.test(value.reveal())),
    ],
    read: (given) => new Secret(given),
    write: () => MASK,
    isSecret: true,
  };
}

// ── addresses ──────────────────────────────────────────────────────────────────────────────────────

const HOST_NAME = /^(?=.{1,253}$)[a-z0-9]([a-z0-9-]{0,62})(\.[a-z0-9]([a-z0-9-]{0,62}))*$/i;
/** A name whose last part is a number is a mistyped IPv4 address. */
const ENDS_NUMERIC = /(^|\.)\d+$/;

export function host(): Kind {
  const isHost = (value: unknown) =>
    typeof value === 'string' && (isIP(value) !== 0 || (HOST_NAME.test(value) && !ENDS_NUMERIC.test(value)));
  return {
    accepts: 'an IP address or a host name to listen on',
    rules: [rule('host', isHost)],
    read: (given) => given,
    write: String,
  };
}

/** An URL without userinfo, query and fragment: what is shown to others and logged holds no secret. */
export function url(...schemes: readonly string[]): Kind {
  return {
    accepts: `${schemes.map((scheme) => `${scheme}://`).join(' or ')} and a host, without user, password, query or #`,
    rules: [rule('url', (value) => typeof value === 'string' && isPlainUrl(value, schemes))],
    read: (given) => given.replace(/\/+$/, ''),
    write: String,
    isSecret: true,
  };
}

/** One or more servers, separated by commas. A server without a scheme is `<schemes[0]>://`. */
export function serverList(...schemes: readonly string[]): Kind {
  const kind = listOf(
    `${schemes.map((scheme) => `${scheme}://host:port`).join(' or ')}, several separated by commas, without user and password`,
    (item) => {
      const server = item.includes('://') ? item : `${schemes[0]}://${item}`;
      return isPlainUrl(server, schemes) ? server : undefined;
    },
  );
  return { ...kind, isSecret: true };
}

function isPlainUrl(given: string, schemes: readonly string[]): boolean {
  if (!URL.canParse(given) || !/^[\x21-\x7e]+$/.test(given)) return false;
  const parsed = new URL(given);
  const isOfScheme = schemes.includes(parsed.protocol.slice(0, -1)) && given.startsWith(`${parsed.protocol}//`);
  return isOfScheme && parsed.hostname !== '' && !/[@?#]/.test(given);
}

/** A range of addresses. */
export interface AddressRange {
  readonly address: string;
  /** Leading bits that count: 0–32 or 0–128. */
  readonly prefixBits: number;
}

/** A range and the port that is meant there; without one, any. */
export interface Destination extends AddressRange {
  readonly port: number | undefined;
}

export function addressRanges(): Kind {
  return listOf('IP addresses or CIDR ranges, separated by commas', readRange, writeRange);
}

export function destinations(): Kind {
  return listOf(
    'cidr:port pairs separated by commas, such as 10.1.0.0/16:443 or [fd00::/8]:*',
    readDestination,
    (destination) => {
      const { port: only, ...range } = destination as Destination;
      const written = writeRange(range);
      return `${written.includes(':') ? `[${written}]` : written}:${only ?? '*'}`;
    },
  );
}

function readRange(given: string): AddressRange | undefined {
  const [address = '', bits, ...more] = given.split('/');
  const version = isIP(address);
  if (version === 0 || address.includes('%') || more.length > 0) return undefined;
  const most = version === 4 ? 32 : 128;
  if (bits === undefined) return { address, prefixBits: most };
  return /^\d{1,3}$/.test(bits) && Number(bits) <= most ? { address, prefixBits: Number(bits) } : undefined;
}

function writeRange(range: unknown): string {
  const { address, prefixBits } = range as AddressRange;
  return `${address}/${prefixBits}`;
}

function readDestination(given: string): Destination | undefined {
  const match = /^(?:\[([^\]]+)\]|([^:[\]]+)):(\d{1,5}|\*)$/.exec(given);
  const range = match && readRange((match[1] ?? match[2]) as string);
  if (!match || !range) return undefined;
  const only = match[3] === '*' ? undefined : Number(match[3]);
  if (only !== undefined && (only < 1 || only > 65_535)) return undefined;
  return { ...range, port: only };
}

// ── structures ─────────────────────────────────────────────────────────────────────────────────────

function listOf(
  accepts: string,
  readItem: (item: string) => unknown,
  writeItem: (item: unknown) => string = String,
): Kind {
  return {
    accepts,
    rules: [IsArray()],
    read: (given) => {
      const items = [...new Set(given.split(',').map((item) => item.trim()))].map(readItem);
      return items.includes(undefined) ? given : items;
    },
    write: (value) => (value as unknown[]).map(writeItem).join(','),
  };
}

/** How long history stays readable: whichever bound is met first. A bound that is not given does not bind. */
export interface Retention {
  readonly ageMs: number | undefined;
  /** Bytes of journal per shard. */
  readonly bytes: number | undefined;
}

const AGE_UNITS: Readonly<Record<string, number>> = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1_000 };

export function retention(): Kind {
  return {
    accepts: 'an age (7d, 12h, 30m, 90s), bytes a shard (10GiB), or both as 7d,10GiB',
    rules: [IsObject()],
    read: (given) => readRetention(given) ?? given,
    write: (value) => {
      const { ageMs, bytes: size } = value as Retention;
      return [ageMs === undefined ? [] : writeAge(ageMs), size === undefined ? [] : writeBytes(size)].flat().join(',');
    },
  };
}

function readRetention(given: string): Retention | undefined {
  let ageMs: number | undefined;
  let size: number | undefined;
  for (const part of given.split(',').map((item) => item.trim())) {
    const age = /^(\d{1,9})([dhms])$/.exec(part);
    const read = age ? Number(age[1]) * (AGE_UNITS[age[2] as string] as number) : readBytes(part);
    if (read === undefined || (age ? ageMs : size) !== undefined) return undefined;
    if (age) ageMs = read;
    else size = read;
  }
  return { ageMs, bytes: size };
}

function writeAge(ageMs: number): string {
  for (const [unit, size] of Object.entries(AGE_UNITS)) {
    if (ageMs >= size && ageMs % size === 0) return `${ageMs / size}${unit}`;
  }
  return `${ageMs / 1000}s`;
}

/** The words of the other spelling that the faces accept. */
export interface WireAlias {
  readonly headerWord: string;
  readonly queueWord: string;
  readonly kvWord: string;
}

export function wireAlias(): Kind {
  return {
    accepts: 'three words as Header:queue:kv, of letters and digits, beginning with a letter',
    rules: [IsObject()],
    read: (given) => {
      const match = /^([A-Za-z][A-Za-z0-9]{0,31}):([a-z][a-z0-9]{0,31}):([a-z][a-z0-9]{0,31})$/.exec(given);
      return match ? { headerWord: match[1], queueWord: match[2], kvWord: match[3] } : given;
    },
    write: (value) => {
      const { headerWord, queueWord, kvWord } = value as WireAlias;
      return `${headerWord}:${queueWord}:${kvWord}`;
    },
  };
}
