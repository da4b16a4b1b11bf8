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
  /** A record has no such field at all where there is no value. */
  readonly isLeftOut?: true;
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

/** Like `optional`, for fields that are not there at all (`name?:`) when they have no value. */
export function absent<T>(shape: Shape<T>): Shape<T | undefined> {
  return { ...optional(shape), isLeftOut: true };
}

/** A shape that contains itself. */
export function later<T>(shape: () => Shape<T>): Shape<T> {
  return { write: (value) => shape().write(value), read: (raw, where) => shape().read(raw, where) };
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

/**
 * Fields are written in the order in which they are declared here: that order is the format. Last fields without a value
 * are not written, so that a field that is added changes no byte of records that do not have it.
 */
export function record<T extends object>(fields: Fields<T>): Shape<T> {
  const named = Object.entries(fields) as [keyof T & string, Shape<unknown>][];
  return {
    write: (value) => {
      const written = named.map(([name, shape]) => shape.write(value[name]));
      while (written.at(-1) === null) written.pop();
      return written;
    },
    read: (raw, where) => {
      if (!Array.isArray(raw)) return refuse(where, 'is not a list of fields');
      const read: Record<string, unknown> = {};
      for (const [at, [name, shape]] of named.entries()) {
        const field = shape.read(raw[at], `${where}.${name}`);
        if (field !== undefined || shape.isLeftOut !== true) read[name] = field;
      }
      return read as T;
    },
  };
}

/** By name, those that have a value: what a change says. Null is a value where the field's shape takes it. */
export function some<T extends object>(fields: Fields<T>): Shape<Partial<T>> {
  const named = Object.entries(fields) as [keyof T & string, Shape<unknown>][];
  return {
    write: (value) => {
      const said = named.filter(([name]) => value[name] !== undefined);
      return Object.fromEntries(said.map(([name, shape]) => [name, shape.write(value[name])]));
    },
    read: (raw, where) => {
      if (typeof raw !== 'object' || raw === null) return refuse(where, 'is not a list of names');
      const read: Record<string, unknown> = {};
      for (const [name, shape] of named) {
        const value = (raw as Record<string, unknown>)[name];
        if (value !== undefined) read[name] = shape.read(value, `${where}.${name}`);
      }
      return read as Partial<T>;
    },
  };
}

export function nullable<T>(shape: Shape<T>): Shape<T | null> {
  return {
    write: (value) => (value === null ? null : shape.write(value)),
    read: (raw, where) => (raw === null ? null : shape.read(raw, where)),
  };
}

export type UnionCases<T extends { readonly type: string }> = {
  readonly [Type in T['type']]: readonly [number, Shape<Omit<Extract<T, { readonly type: Type }>, 'type'>>];
};

/** The members' shapes, where their numbers stand elsewhere (`numbered`). */
export type ShapesByType<T extends { readonly type: string }> = {
  readonly [Type in T['type']]: UnionCases<T>[Type][1];
};

/** A union told apart by `type`: its number first, then the fields. Numbers are never given twice. */
export function union<T extends { readonly type: string }>(cases: UnionCases<T>): Shape<T> {
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
