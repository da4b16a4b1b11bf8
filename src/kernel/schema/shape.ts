/** What every part of the language is: a value's way into bytes and back. */
import type { Packer } from './packer.js';
import type { Unpacker } from './unpacker.js';

export interface Shape<T> {
  write(out: Packer, value: T): void;
  /** @throws JOURNAL_DAMAGED */
  read(from: Unpacker): T;
  /** How many values of the record it takes; undefined: one. */
  readonly places?: number;
  /** The value may be missing at the end of a record. */
  readonly isOptional?: true;
  /** What it is then; undefined: nothing. */
  readonly missing?: T;
  /** When there is no value, there is no property either. */
  readonly leavesNoProperty?: true;
  /** At the end of a record nothing is written when there is no value. */
  readonly leavesNoTrace?: true;
}

/** Fields of a record without the list around them. */
export interface Fields<T> {
  /** How many `write` writes, and the most that it ever writes. */
  count(value: T): number;
  readonly places: number;
  write(out: Packer, value: T): void;
  /** @param count as many as there are */
  read(from: Unpacker, count: number): T;
}

/** What a shape, or fields, hold. */
export type TypeOf<S> = S extends Shape<infer T> ? T : S extends Fields<infer T> ? T : never;
