/**
 * Shapes of queue records, declared once for both ways and read and written without values in between: a
 * record is a list of its fields in the order in which they are declared. That order is the format.
 *
 *  S1 a field is never moved or removed; a new one comes last and is `optional`, so that old bytes read
 *  S2 a field more than is known is of a later release, and refused
 *  S3 a new field that most records do without is `trailing`: those keep the bytes that they had before, and an
 *     earlier release still reads them
 */
import { assert } from '../../kernel/index.js';
import type { Packer } from './packer.js';
import { refuse, type Unpacker } from './unpacker.js';

export interface Shape<T> {
  write(out: Packer, value: T): void;
  /** @throws JOURNAL_DAMAGED */
  read(from: Unpacker): T;
  /** The value may be missing at the end of a record. */
  readonly isOptional?: true;
  /** When there is no value, there is no property either. */
  readonly leavesNoProperty?: true;
  /** At the end of a record nothing is written when there is no value. */
  readonly leavesNoTrace?: true;
}

/** Fields of a record without the list around them. */
export interface Fields<T> {
  /** How many `write` writes. */
  count(value: T): number;
  write(out: Packer, value: T): void;
  /** @param count as many as there are */
  read(from: Unpacker, count: number): T;
}

export const whole: Shape<number> = { write: (out, value) => out.whole(value), read: (from) => from.whole() };
export const number: Shape<number> = { write: (out, value) => out.number(value), read: (from) => from.number() };
export const flag: Shape<boolean> = { write: (out, value) => out.flag(value), read: (from) => from.flag() };
export const bytes: Shape<Uint8Array> = { write: (out, value) => out.bytes(value), read: (from) => from.bytes() };

/** A text, branded or not. */
export function text<T extends string = string>(): Shape<T> {
  return { write: (out, value) => out.text(value), read: (from) => from.text() as T };
}

/** A word, by its place in the list: words are only added, at the end. */
export function oneOf<T extends string>(...words: readonly T[]): Shape<T> {
  return {
    write: (out, value) => {
      const place = words.indexOf(value);
      assert(place >= 0, 'a queue record holds a word that is not known', { value });
      out.whole(place);
    },
    read: (from) => words[from.whole()] ?? refuse('a word that is known'),
  };
}

/** Whatever the shape says; else nil. */
export function optional<T>(shape: Shape<T>): Shape<T | undefined> {
  return {
    isOptional: true,
    write: (out, value) => {
      if (value === undefined) out.nil();
      else shape.write(out, value);
    },
    read: (from) => (from.takesNil() ? undefined : shape.read(from)),
  };
}

/** A property that may be missing: without a value it is not there. */
export function absent<T>(shape: Shape<T>): Shape<T | undefined> {
  return { ...optional(shape), leavesNoProperty: true };
}

/** A property that came later and may be missing: without a value it is not written, where nothing follows it. */
export function trailing<T>(shape: Shape<T>): Shape<T | undefined> {
  return { ...absent(shape), leavesNoTrace: true };
}

export function listOf<T>(shape: Shape<T>): Shape<readonly T[]> {
  return {
    write: (out, values) => {
      out.list(values.length);
      for (const value of values) shape.write(out, value);
    },
    read: (from) => {
      const values: T[] = [];
      for (let left = from.list(); left > 0; left -= 1) values.push(shape.read(from));
      return values;
    },
  };
}

export function mapOf<K, V>(key: Shape<K>, value: Shape<V>): Shape<ReadonlyMap<K, V>> {
  return {
    write: (out, map) => {
      out.list(map.size * 2);
      for (const [one, other] of map) {
        key.write(out, one);
        value.write(out, other);
      }
    },
    read: (from) => {
      const map = new Map<K, V>();
      for (let left = evenList(from); left > 0; left -= 2) map.set(key.read(from), value.read(from));
      return map;
    },
  };
}

/** Values of different shapes, by their places. */
export function tuple<T extends readonly unknown[]>(
  ...shapes: { readonly [At in keyof T]: Shape<T[At]> }
): Shape<Readonly<T>> {
  const parts = shapes as readonly Shape<unknown>[];
  return {
    write: (out, values) => {
      out.list(parts.length);
      for (const [at, shape] of parts.entries()) shape.write(out, values[at]);
    },
    read: (from) => {
      if (from.list() !== parts.length) refuse(`a list of ${parts.length}`);
      return parts.map((shape) => shape.read(from)) as unknown as T;
    },
  };
}

/** A shape that is not made yet, for one that holds itself. */
export function later<T>(shape: () => Shape<T>): Shape<T> {
  return { write: (out, value) => shape().write(out, value), read: (from) => shape().read(from) };
}

/** A property that may be missing has an `absent` shape. */
type ShapesOf<T> = {
  readonly [K in keyof T]-?: Record<never, never> extends Pick<T, K> ? Shape<T[K] | undefined> : Shape<T[K]>;
};

export function fields<T extends object>(shapes: ShapesOf<T>): Fields<T> {
  const named = Object.entries(shapes) as [keyof T & string, Shape<unknown>][];
  const always = named.findLastIndex(([, shape]) => shape.leavesNoTrace === undefined) + 1;
  const countOf = (value: T) => {
    let last = named.length;
    while (last > always && value[(named[last - 1] as [keyof T, unknown])[0]] === undefined) last -= 1;
    return last;
  };
  return {
    count: countOf,
    write: (out, value) => {
      const end = countOf(value);
      for (let at = 0; at < end; at += 1) {
        const [name, shape] = named[at] as [keyof T, Shape<unknown>];
        shape.write(out, value[name]);
      }
    },
    read: (from, count) => {
      if (count > named.length) refuse('a record of this release');
      const read: Record<string, unknown> = {};
      for (let at = 0; at < named.length; at += 1) {
        const [name, shape] = named[at] as [string, Shape<unknown>];
        if (at >= count && shape.isOptional === undefined) refuse(name);
        const value = at < count ? shape.read(from) : undefined;
        if (value !== undefined || shape.leavesNoProperty === undefined) read[name] = value;
      }
      return read as T;
    },
  };
}

export function record<T extends object>(shapes: ShapesOf<T>): Shape<T> {
  const { count, write, read } = fields<T>(shapes);
  return {
    write: (out, value) => {
      out.list(count(value));
      write(out, value);
    },
    read: (from) => read(from, from.list()),
  };
}

/** What a union's members are told apart by: `type`, or `kind`. */
type Told<Tag extends string> = { readonly [K in Tag]: string };
type Member<T, Tag extends string, Word> = Extract<T, { readonly [K in Tag]: Word }>;

export type Cases<T extends Told<Tag>, Tag extends string> = {
  readonly [Word in T[Tag]]: readonly [number, Fields<Omit<Member<T, Tag, Word>, Tag>> | Fields<Member<T, Tag, Word>>];
};

/** The members' shapes, where their numbers stand elsewhere (`numbered`). */
export type ShapesByTag<T extends Told<Tag>, Tag extends string> = {
  readonly [Word in T[Tag]]: Cases<T, Tag>[Word][1];
};

/**
 * A union as one list: the member's number, then its fields. Numbers are never given twice; a member that
 * changes in more than a new last field is a new member.
 */
export function union<T extends Told<Tag>, Tag extends string>(tag: Tag, cases: Cases<T, Tag>): Shape<T> {
  const byWord = new Map(Object.entries(cases) as [string, readonly [number, Fields<unknown>]][]);
  const byNumber: ({ readonly word: string; readonly member: Fields<unknown> } | undefined)[] = [];
  for (const [word, [place, member]] of byWord) byNumber[place] = { word, member };
  return {
    write: (out, value) => {
      const found = byWord.get(value[tag]);
      assert(found !== undefined, 'a queue record of a kind that is not known', { kind: value[tag] });
      const [place, member] = found;
      out.list(1 + member.count(value));
      out.whole(place);
      member.write(out, value);
    },
    read: (from) => {
      const count = from.list() - 1;
      if (count < 0) refuse('a kind');
      const { word, member } = byNumber[from.whole()] ?? refuse('a record of a kind that is known');
      const read = member.read(from, count) as Record<string, unknown>;
      if (!(tag in read)) read[tag] = word;
      return read as T;
    },
  };
}

/** The length of a list of pairs, one behind the other. */
export function evenList(from: Unpacker): number {
  const count = from.list();
  return count % 2 === 0 ? count : refuse('a list of pairs');
}
