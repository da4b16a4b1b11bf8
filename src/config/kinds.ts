/**
 * The kinds of setting values: how a text is read, the rules for the value (class-validator), how it is written, and
 * the description of accepted values.
 *
 *  KI1 `read` never throws and never corrects: an unreadable text stays a text, which the rules refuse because they
 *      expect another type
 *  KI2 `read` turns the text from `write` into an equal value; for a secret `write` gives the mask
 *  KI3 accepted values contain no control characters, so each fits on one line
 */
import { IsArray, IsBoolean, IsIn, IsInstance, IsInt, IsNumber, Matches, Max, Min, ValidateBy } from 'class-validator';
import { MASK, Secret } from './secret.js';

export interface SettingKind {
  /** Completes "… accepts …". */
  readonly accepts: string;
  readonly rules: readonly PropertyDecorator[];
  read(text: string): unknown;
  write(value: unknown): string;
  /** The text is not shown in an error, because it is or may contain a secret. */
  readonly hidesText?: boolean;
  /** The value is a `Secret`, and the text may be a reference (secret-reference.ts). */
  readonly isSecret?: boolean;
}

/** A line of text without control characters. */
const ONE_LINE = /^[^\p{Cc}]+$/u;

/** A custom class-validator rule. */
export function rule(name: string, isRight: (value: unknown) => boolean): PropertyDecorator {
  return ValidateBy({ name, validator: { validate: isRight } });
}

// ── numbers ────────────────────────────────────────────────────────────────────────────────────────

export function whole(min: number, max: number, noun = 'a whole number'): SettingKind {
  return {
    accepts: `${noun} from ${min} to ${max}`,
    rules: [IsInt(), Min(min), Max(max)],
    read: (text) => (/^\d{1,15}$/.test(text) ? Number(text) : text),
    write: String,
  };
}

/** A number, or a word that leaves the number to the program. */
export function wholeOr(word: string, min: number, max: number): SettingKind {
  const kind = whole(min, max);
  const isRight = (value: unknown) =>
    value === word || (Number.isInteger(value) && (value as number) >= min && (value as number) <= max);
  return { ...kind, accepts: `${word}, or ${kind.accepts}`, rules: [rule('wholeOr', isRight)] };
}

export function milliseconds(min: number, max: number): SettingKind {
  return whole(min, max, 'a whole number of milliseconds');
}

/** @param zero the meaning of 0 for this port */
export function port(zero: string): SettingKind {
  const kind = whole(0, 65_535, 'a port');
  return { ...kind, accepts: `${kind.accepts}; 0 ${zero}` };
}

const BYTE_UNITS: Readonly<Record<string, number>> = { '': 1, KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3 };

/** A count of bytes: `1048576`, `1024KiB`, `1MiB`. */
export function bytes(min: number, max: number): SettingKind {
  return {
    accepts: `bytes, plain or with KiB, MiB or GiB, from ${writeBytes(min)} to ${writeBytes(max)}`,
    rules: [IsInt(), Min(min), Max(max)],
    read: (text) => readBytes(text) ?? text,
    write: (value) => writeBytes(value as number),
  };
}

export function readBytes(text: string): number | undefined {
  const match = /^(\d{1,15})(KiB|MiB|GiB|)$/.exec(text);
  return match ? Number(match[1]) * (BYTE_UNITS[match[2] as string] as number) : undefined;
}

export function writeBytes(count: number): string {
  for (const unit of ['GiB', 'MiB', 'KiB']) {
    const size = BYTE_UNITS[unit] as number;
    if (count >= size && count % size === 0) return `${count / size}${unit}`;
  }
  return String(count);
}

/** A fraction: `0.01`. */
export function fraction(): SettingKind {
  return {
    accepts: 'a number from 0 to 1',
    rules: [IsNumber(), Min(0), Max(1)],
    read: (text) => (/^\d(\.\d{1,9})?$/.test(text) ? Number(text) : text),
    write: String,
  };
}

// ── choices ────────────────────────────────────────────────────────────────────────────────────────

export function oneOf<Choice extends string>(...choices: readonly Choice[]): SettingKind {
  return { accepts: choices.join(' or '), rules: [IsIn([...choices])], read: (text) => text, write: String };
}

export function oneOfNumbers(...choices: readonly number[]): SettingKind {
  return {
    accepts: choices.join(' or '),
    rules: [IsIn([...choices])],
    read: (text) => choices.find((choice) => String(choice) === text) ?? text,
    write: String,
  };
}

export function yesOrNo(): SettingKind {
  return {
    accepts: 'true or false',
    rules: [IsBoolean()],
    read: (text) => (text === 'true' ? true : text === 'false' ? false : text),
    write: String,
  };
}

/** One or several of the choices, separated by commas; duplicates count once. */
export function someOf(...choices: readonly string[]): SettingKind {
  return listOf(`one or more of ${choices.join(', ')}, separated by commas`, (item) =>
    choices.includes(item) ? item : undefined,
  );
}

// ── text ───────────────────────────────────────────────────────────────────────────────────────────

export function text(accepts: string, pattern: RegExp): SettingKind {
  return { accepts, rules: [Matches(pattern)], read: (given) => given, write: String };
}

export function path(description: string): SettingKind {
  return text(`the path of ${description}`, ONE_LINE);
}

/** Visible ASCII without spaces, as it must fit an HTTP header. */
export function secretToken(): SettingKind {
  return secret('1 to 512 visible ASCII characters without spaces', /^[\x21-\x7e]{1,512}$/);
}

export function secretText(): SettingKind {
  return secret('1 to 512 characters on one line', /^[^\p{Cc}]{1,512}$/u);
}

/** The bytes of a key: `openssl rand -base64 32` makes one. */
export function secretKey(): SettingKind {
  return secret('32 bytes in base64 or hexadecimal', /^(?:[A-Za-z0-9+/]{43}=|[0-9A-Fa-f]{64})$/);
}

/** Request headers as `name=value`, separated by commas; they may be credentials. */
export function secretHeaders(): SettingKind {
  const one = '[A-Za-z0-9-]{1,128}=[ -+\\--~]{1,2048}';
  return secret('name=value pairs of headers, separated by commas', new RegExp(`^${one}(,${one}){0,15}$`));
}

/** A URL that may contain a user and a password. */
export function secretUrl(...schemes: readonly string[]): SettingKind {
  const accepts = `${schemes.map((scheme) => `${scheme}://`).join(' or ')} and a host, with user and password if needed`;
  return secret(accepts, new RegExp(`^(${schemes.join('|')})://[\\x21-\\x7e]{1,1024}$`));
}

function secret(accepts: string, pattern: RegExp): SettingKind {
  return {
    accepts,
    rules: [
      IsInstance(Secret),
      rule('secret', (value) => value instanceof Secret && (value.isReference || pattern.test(value.reveal()))),
    ],
    read: (given) => new Secret(given),
    write: () => MASK,
    hidesText: true,
    isSecret: true,
  };
}

/** Items separated by commas; `readItem` returns undefined for an unreadable one. Duplicates count once. */
export function listOf(
  accepts: string,
  readItem: (item: string) => unknown,
  writeItem: (item: unknown) => string = String,
): SettingKind {
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
