/** What is imported, whatever it comes from. */
import type { ByteString } from '../../kernel/index.js';

/** A key with its value as Redis's DUMP has it. */
export interface SourceKey {
  readonly name: ByteString;
  /** Undefined: it is larger than values may be. */
  readonly payload: ByteString | undefined;
  /** About as much as it is. */
  readonly bytes: number;
  readonly expireAtMs?: number | undefined;
  readonly idleSeconds?: number;
  readonly frequency?: number;
}

/** A part of what there is, small enough to be in memory. */
export interface Batch {
  readonly keys: readonly SourceKey[];
  /** Libraries of functions, as their texts. */
  readonly libraries: readonly ByteString[];
  /** What has no place in a database here, and why. */
  readonly left: readonly (readonly [what: string, why: string])[];
  /** Where to go on behind it, for `batches`. */
  readonly next: string;
}

export interface KeySource {
  /** The same for the same data: where to go on means nothing to another one. */
  readonly identity: string;
  /** @param from what a batch of the same source had as `next`; undefined: the beginning */
  batches(from: string | undefined): AsyncIterable<Batch> | Iterable<Batch>;
}

export interface SourceBounds {
  /** Keys of one batch. */
  readonly batchKeys: number;
  readonly batchBytes: number;
  readonly mostValueBytes: number;
}

export const NO_PLACE = 'has no place in a database here';

/** Of databases that are not the one that was asked for. */
export function otherDatabase(number: number, count: number, of: 'keys' | 'commands'): readonly [string, string] {
  return [`database ${number}`, `its ${count} ${of} are not taken over: --database ${number} takes them`];
}
