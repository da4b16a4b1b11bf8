/**
 * Records ↔ MessagePack values, declared once for both ways: a record is a list of its fields in the
 * order in which they are declared, so names cost nothing and a new last field that is optional reads
 * old bytes. What has another shape is refused, never guessed.
 */
import { MillraceError } from '../../kernel/index.js';

export interface Shape<T> {
  write(value: T): unknown;
  /** @throws JOURNAL_DAMAGED */
  read(raw: unknown, where: string): T;
}

export const whole: Shape<number> = {
  write: (value) => value,
  read: (raw, where) => (Number.isSafeInteger(raw) ? (raw as number) : refuse(where, 'is not an integer')),
};

export const flag: Shape<boolean> = {
  write: (value) => value,
  read: (raw, where) => (typeof raw === 'boolean' ? raw : refuse(where, 'is not a yes or no')),
};

/** A text, branded or not. */
export function text<T extends string = string>(): Shape<T> {
  return {
    write: (value) => value,
    read: (raw, where) => (typeof raw === 'string' ? (raw as T) : refuse(where, 'is not a text')),
  };
}

export function oneOf<T extends string>(...words: readonly T[]): Shape<T> {
  return {
    write: (value) => value,
    read: (raw, where) => (words.includes(raw as T) ? (raw as T) : refuse(where, 'is not a word that is known')),
  };
}

export function optional<T>(shape: Shape<T>): Shape<T | undefined> {
  return {
    write: (value) => (value === undefined ? null : shape.write(value)),
    read: (raw, where) => (raw === null || raw === undefined ? undefined : shape.read(raw, where)),
  };
}

export function listOf<T>(shape: Shape<T>): Shape<readonly T[]> {
  return {
    write: (values) => values.map((value) => shape.write(value)),
    read: (raw, where) => {
      if (!Array.isArray(raw)) return refuse(where, 'is not a list');
      return raw.map((item, at) => shape.read(item, `${where}[${at}]`));
    },
  };
}

type Fields<T> = { readonly [K in keyof T]-?: Shape<T[K]> };

/** Fields are written in the order in which they are declared here: that order is the format. */
export function record<T extends object>(fields: Fields<T>): Shape<T> {
  const named = Object.entries(fields) as [keyof T & string, Shape<unknown>][];
  return {
    write: (value) => named.map(([name, shape]) => shape.write(value[name])),
    read: (raw, where) => {
      if (!Array.isArray(raw)) return refuse(where, 'is not a list of fields');
      const read: Record<string, unknown> = {};
      for (const [at, [name, shape]] of named.entries()) read[name] = shape.read(raw[at], `${where}.${name}`);
      return read as T;
    },
  };
}

/** A union told apart by `type`: its number first, then the fields. Numbers are never given twice. */
export function union<T extends { readonly type: string }>(
  cases: {
    readonly [Type in T['type']]: readonly [number, Shape<Omit<Extract<T, { readonly type: Type }>, 'type'>>];
  },
): Shape<T> {
  const byType = new Map(Object.entries(cases) as [string, readonly [number, Shape<unknown>]][]);
  const byNumber = new Map([...byType].map(([type, [number, shape]]) => [number, { type, shape }]));
  return {
    write: (value) => {
      const [number, shape] = byType.get(value.type) ?? refuse(value.type, 'is not a type that is known');
      return [number, shape.write(value)];
    },
    read: (raw, where) => {
      if (!Array.isArray(raw)) return refuse(where, 'is not a list');
      const found = byNumber.get(raw[0] as number) ?? refuse(where, `has type ${String(raw[0])}, which is not known`);
      return { type: found.type, ...(found.shape.read(raw[1], found.type) as object) } as T;
    },
  };
}

function refuse(where: string, why: string): never {
  throw new MillraceError('JOURNAL_DAMAGED', `a control record cannot be read: ${where} ${why}`);
}
