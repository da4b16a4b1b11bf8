/** Single values, and combinations of shapes without names. */
import { assert } from '../errors.js';
import { writtenByNewer } from '../format-level.js';
import type { Shape } from './shape.js';
import { refuse, type Unpacker } from './unpacker.js';

/** A non-negative integer; a negative one would take nine bytes. */
export const whole: Shape<number> = { write: (out, value) => out.whole(value), read: (from) => from.whole() };
/** An integer in as few bytes as possible. */
export const integer: Shape<number> = { write: (out, value) => out.integer(value), read: (from) => from.whole() };
export const number: Shape<number> = { write: (out, value) => out.number(value), read: (from) => from.number() };
export const flag: Shape<boolean> = { write: (out, value) => out.flag(value), read: (from) => from.flag() };
export const bytes: Shape<Uint8Array> = { write: (out, value) => out.bytes(value), read: (from) => from.bytes() };

/** Bytes that are read soon, or not at all: a view of the bytes that are read, which stay in memory as long as the view. */
export const passingBytes: Shape<Uint8Array> = {
  write: (out, value) => out.bytes(value),
  read: (from) => from.view(),
};

export function bytesOf(length: number): Shape<Uint8Array> {
  return {
    write: (out, value) => out.bytes(value),
    read: (from) => {
      const value = from.bytes();
      return value.length === length ? value : refuse(`${length} bytes`);
    },
  };
}

/** A text, branded or not. */
export function text<T extends string = string>(): Shape<T> {
  return { write: (out, value) => out.text(value), read: (from) => from.text() as T };
}

/** A word, by its index in the list: words are only added at the end. */
export function oneOf<T extends string>(...words: readonly T[]): Shape<T> {
  return {
    write: (out, value) => {
      const place = words.indexOf(value);
      assert(place >= 0, 'a record holds a word that is not known', { value });
      out.whole(place);
    },
    read: (from) => {
      const place = from.whole();
      if (place >= words.length) {
        throw writtenByNewer('a record', { of: 'word', found: place, known: words.length - 1 });
      }
      return words[place] ?? refuse('a word that is known');
    },
  };
}

/** A word, by its name. */
export function wordOf<T extends string>(...words: readonly T[]): Shape<T> {
  return {
    write: (out, value) => out.text(value),
    read: (from) => {
      const word = from.text() as T;
      return words.includes(word) ? word : refuse('a word that is known');
    },
  };
}

export interface OptionalShape<T> extends Shape<T | undefined> {
  readonly isOptional: true;
}
export interface AbsentShape<T> extends OptionalShape<T> {
  readonly leavesNoProperty: true;
}

/** The value, or nil if undefined. */
export function optional<T>(shape: Shape<T>): OptionalShape<T> {
  return {
    isOptional: true,
    write: (out, value) => {
      if (value === undefined) out.nil();
      else shape.write(out, value);
    },
    read: (from) => (from.takesNil() ? undefined : shape.read(from)),
  };
}

/** An optional property: missing if there is no value. */
export function absent<T>(shape: Shape<T>): AbsentShape<T> {
  return { ...optional(shape), leavesNoProperty: true };
}

/** An optional property that was added later: without a value it is not written, unless a field follows it. */
export function trailing<T>(shape: Shape<T>): AbsentShape<T> {
  return { ...absent(shape), leavesNoTrace: true };
}

/** A value, or nil if undefined; always present in the record. */
export function orNil<T>(shape: Shape<T>): Shape<T | undefined> {
  const { write, read } = optional(shape);
  return { write, read };
}

/** A field that was added later and is always written: older bytes without it give `missing`. */
export function orElse<T>(shape: Shape<T>, missing: T): Shape<T> {
  return { ...shape, isOptional: true, missing };
}

/** Null is written as nil. */
export function nullable<T>(shape: Shape<T>): Shape<T | null> {
  return {
    write: (out, value) => {
      if (value === null) out.nil();
      else shape.write(out, value);
    },
    read: (from) => (from.takesNil() ? null : shape.read(from)),
  };
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

/** Keys and values alternately: a list per pair would take a byte more and be slower. */
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

/** Written like a map, but the same key may occur several times. */
export const pairsOfTexts: Shape<readonly (readonly [string, string])[]> = {
  write: (out, pairs) => {
    out.list(pairs.length * 2);
    for (const [one, other] of pairs) {
      out.text(one);
      out.text(other);
    }
  },
  read: (from) => {
    const pairs: [string, string][] = [];
    for (let left = evenList(from); left > 0; left -= 2) pairs.push([from.text(), from.text()]);
    return pairs;
  },
};

/** Values of different shapes in fixed positions. */
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
      return parts.map((shape) => shape.read(from)) as readonly unknown[] as T;
    },
  };
}

/** A shape that is resolved on use, for recursive shapes. */
export function later<T>(shape: () => Shape<T>): Shape<T> {
  return { write: (out, value) => shape().write(out, value), read: (from) => shape().read(from) };
}

/** The length of a list of alternating keys and values. */
function evenList(from: Unpacker): number {
  const count = from.list();
  return count % 2 === 0 ? count : refuse('a list of pairs');
}
