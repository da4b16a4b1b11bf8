/**
 * Records: lists of their fields in the order of declaration. That order is the format.
 *
 *  SHP1 a field is never moved or removed; a new one comes last and is `optional`, so that old bytes can be read
 *  SHP2 an unknown additional field comes from a later release and is refused
 *  SHP3 a new field that most records lack is `trailing`: records without it keep their previous bytes, and an earlier
 *       release still reads them
 *  SHP4 open records only follow SHP1: last fields without a value are not written, and fields of a later release are
 *       skipped
 */
import { isMillraceError, type MillraceError } from '../errors.js';
import { writtenByNewer } from '../format-level.js';
import { Packer } from './packer.js';
import type { Fields, Shape, TypeOf } from './shape.js';
import { refuse } from './unpacker.js';

export type { Fields, Shape, TypeOf };

export interface Declared {
  readonly [name: string]: Shape<unknown>;
}

/** The same type, written out. */
export type Plain<T> = T extends infer All ? { readonly [K in keyof All]: All[K] } : never;
type MayBeMissing = { readonly leavesNoProperty: true };

/** The type of a record with these fields: an `absent` field is an optional property. */
export type RecordType<F> = Plain<
  { readonly [K in keyof F as F[K] extends MayBeMissing ? never : K]: TypeOf<F[K]> } & {
    readonly [K in keyof F as F[K] extends MayBeMissing ? K : never]?: TypeOf<F[K]>;
  }
>;

export function fields<const F extends Declared>(shapes: F): Fields<RecordType<F>> {
  return fieldsOf(shapes, false);
}

export function record<const F extends Declared>(shapes: F): Shape<RecordType<F>> {
  return inList(fieldsOf(shapes, false));
}

/** SHP4: last fields without a value are not written, and fields of a later release are skipped. */
export function openFields<const F extends Declared>(shapes: F): Fields<RecordType<F>> {
  return fieldsOf(shapes, true);
}

/** SHP4: last fields without a value are not written, and fields of a later release are skipped. */
export function openRecord<const F extends Declared>(shapes: F): Shape<RecordType<F>> {
  return inList(fieldsOf(shapes, true));
}

/** A record with its fields placed directly among those of the enclosing record. */
export function inline<const F extends Declared>(shapes: F): Shape<RecordType<F>> {
  const { places, write, read } = fieldsOf(shapes, false);
  return { places, write, read: (from) => read(from, places) };
}

/**
 * Writes only fields with a value, by name: the contents of a change. Null counts as a value if the field's shape
 * accepts it.
 */
export function named<const F extends Declared>(shapes: F): Shape<Partial<RecordType<F>>> {
  return byNames(shapes, []);
}

/**
 * A record by names: every field that is not `absent` is required. An unknown name comes from a later release and is
 * skipped.
 */
export function namedRecord<const F extends Declared>(shapes: F): Shape<RecordType<F>> {
  return byNames(
    shapes,
    Object.keys(shapes).filter((name) => shapes[name]?.isOptional === undefined),
  );
}

function byNames<T>(shapes: Declared, needed: readonly string[]): Shape<T> {
  const names = Object.keys(shapes);
  const parts = Object.values(shapes);
  const encodedNames = names.map((name) => new Packer().pack((out) => out.text(name)));
  return {
    write: (out, value: T & Readonly<Record<string, unknown>>) => {
      const values = names.map((name) => value[name]);
      let count = 0;
      for (const given of values) if (given !== undefined) count += 1;
      out.map(count);
      for (let at = 0; at < values.length; at += 1) {
        if (values[at] === undefined) continue;
        out.raw(encodedNames[at] as Uint8Array);
        (parts[at] as Shape<unknown>).write(out, values[at]);
      }
    },
    read: (from) => {
      const read: Record<string, unknown> = {};
      let left = from.map();
      // Nearly always the names come in the order of declaration.
      for (let at = 0; at < names.length && left > 0; at += 1) {
        if (!from.takes(encodedNames[at] as Uint8Array)) continue;
        read[names[at] as string] = (parts[at] as Shape<unknown>).read(from);
        left -= 1;
      }
      for (; left > 0; left -= 1) {
        const name = from.text();
        if (Object.hasOwn(shapes, name)) read[name] = shapes[name]?.read(from);
        else from.skip();
      }
      for (const name of needed) if (!(name in read)) refuse(name);
      return read as T;
    },
  };
}

export function inList<T>({ count, write, read }: Fields<T>): Shape<T> {
  return {
    write: (out, value) => {
      out.list(count(value));
      write(out, value);
    },
    read: (from) => read(from, from.list()),
  };
}

function fieldsOf<F extends Declared>(shapes: F, isOpen: boolean): Fields<RecordType<F>> {
  const names = Object.keys(shapes);
  const parts = Object.values(shapes);
  const starts: number[] = [];
  let places = 0;
  for (const { places: taken = 1 } of parts) {
    starts.push(places);
    places += taken;
  }
  starts.push(places);
  const isAlwaysWritten = (shape: Shape<unknown>) => !(isOpen ? shape.isOptional : shape.leavesNoTrace);
  // A property of one of many kinds of objects takes V8 longer to find than a place of an array.
  const isRequired = parts.map(({ isOptional }) => isOptional === undefined);
  const isProperty = parts.map(({ leavesNoProperty }) => leavesNoProperty === undefined);
  const always = parts.findLastIndex(isAlwaysWritten) + 1;
  const writtenOf = (value: Readonly<Record<string, unknown>>) => {
    let last = parts.length;
    while (last > always && value[names[last - 1] as string] === undefined) last -= 1;
    return last;
  };
  return {
    places,
    count: (value) => starts[writtenOf(value)] as number,
    write: (out, value: Readonly<Record<string, unknown>>) => {
      const end = writtenOf(value);
      for (let at = 0; at < end; at += 1) (parts[at] as Shape<unknown>).write(out, value[names[at] as string]);
    },
    read: (from, count) => {
      if (count > places && !isOpen) throw moreFields(count, places);
      const read: Record<string, unknown> = {};
      let at = 0;
      try {
        for (; at < parts.length; at += 1) {
          const isThere = (starts[at + 1] as number) <= count;
          if (!isThere && isRequired[at]) refuse('a value');
          const shape = parts[at] as Shape<unknown>;
          const value = isThere ? shape.read(from) : shape.missing;
          if (value !== undefined || isProperty[at]) read[names[at] as string] = value;
        }
      } catch (cause) {
        if (isMillraceError(cause, 'JOURNAL_DAMAGED')) cause.message += `, in ${names[at]}`;
        throw cause;
      }
      for (let more = count - places; more > 0; more -= 1) from.skip();
      return read as RecordType<F>;
    },
  };
}

/** The error of a record that does not accept later fields. */
export function moreFields(found: number, known: number): MillraceError {
  return writtenByNewer('a record', { of: 'field', found, known });
}
