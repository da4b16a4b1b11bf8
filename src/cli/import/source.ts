/** The interface of a source of keys. */
import type { ByteString } from '../../kernel/index.js';

/** A key with its value as a DUMP payload. */
export interface SourceKey {
  readonly name: ByteString;
  /** Undefined: larger than values may be. */
  readonly payload: ByteString | undefined;
  /** The approximate size. */
  readonly bytes: number;
  readonly expireAtMs?: number | undefined;
  readonly idleSeconds?: number;
  readonly frequency?: number;
}

/** A part of the source that fits into memory. */
export interface Batch {
  readonly keys: readonly SourceKey[];
  /** Libraries of functions, as their texts. */
  readonly libraries: readonly ByteString[];
  /** Items that databases here do not support, with reasons. */
  readonly left: readonly (readonly [item: string, reason: string])[];
  /** The cursor for `batches` after this batch. */
  readonly next: string;
}

export interface KeySource {
  /** Identifies the data: a cursor is only valid for the same source. */
  readonly identity: string;
  /** @param from the `next` of an earlier batch of the same source; undefined: the start */
  batches(from: string | undefined): AsyncIterable<Batch> | Iterable<Batch>;
}

export interface SourceBounds {
  /** Keys of one batch. */
  readonly batchKeys: number;
  readonly batchBytes: number;
  readonly mostValueBytes: number;
}

export const NO_PLACE = 'cannot be stored in a database here';

/** A report about a database that was not selected. */
export function otherDatabase(number: number, count: number, of: 'keys' | 'commands'): readonly [string, string] {
  return [`database ${number}`, `its ${count} ${of} are not imported: run again with --database ${number}`];
}
