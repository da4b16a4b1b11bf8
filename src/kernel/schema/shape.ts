/** The interface of all shapes: writing a value to bytes and reading it back. */
import type { Packer } from './packer.js';
import type { Unpacker } from './unpacker.js';

export interface Shape<T> {
  write(out: Packer, value: T): void;
  /** @throws JOURNAL_DAMAGED */
  read(from: Unpacker): T;
  /** The number of places in the record; default: one. */
  readonly places?: number;
  /** The value may be missing at the end of a record. */
  readonly isOptional?: true;
  /** The value if it is missing; default: undefined. */
  readonly missing?: T;
  /** Without a value the property is omitted. */
  readonly leavesNoProperty?: true;
  /** At the end of a record, no bytes are written without a value. */
  readonly leavesNoTrace?: true;
}

/** The fields of a record without the surrounding list. */
export interface Fields<T> {
  /** The number of values that `write` writes; `places` is the maximum. */
  count(value: T): number;
  readonly places: number;
  write(out: Packer, value: T): void;
  /** @param count the number of values present */
  read(from: Unpacker, count: number): T;
}

/** The type of the values of a shape or of fields. */
export type TypeOf<S> = S extends Shape<infer T> ? T : S extends Fields<infer T> ? T : never;
