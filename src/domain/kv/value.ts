/** The values of keys: strings and collections. */
import type { ByteString } from '../../kernel/index.js';
import type { Outline } from './packed-entries.js';
import { ERRORS } from './reply.js';
import type { GraphFile } from './types/graph-file.js';

type CollectionKind =
  | 'hash'
  | 'list'
  | 'set'
  | 'zset'
  | 'stream'
  | 'json'
  | 'array'
  | 'vector'
  | 'vectorset'
  | 'search'
  | SketchKind;

/** Filters and sketches, by the names of Redis's types. */
export type SketchKind = 'MBbloom--' | 'MBbloomCF' | 'CMSk-TYPE' | 'TopK-TYPE' | 'TDIS-TYPE';

/** A collection with parts that expire: the fields of a hash. */
export interface FieldExpiry {
  /** The earliest expiry of any part, or a time before it. */
  readonly earliestExpiryMs: number;
  isAllExpired(nowMs: number): boolean;
  /** Removes at most `limit` expired parts; returns their names. */
  removeExpired(nowMs: number, limit: number): ByteString[];
}

/** Records how to undo the changes of collections. */
export interface UndoRecorder {
  /** @param opposite undoes the change, provided all later changes were undone @param bytes memory that it holds */
  push(opposite: () => void, bytes?: number, steps?: number): void;
}

/**
 * A value that is not a string; the classes are in `types/`. Handlers change it in place and then call
 * `keyspace.changed`.
 */
export interface Collection {
  readonly kind: CollectionKind;
  readonly size: number;
  /** Stays a key without members; otherwise the keyspace removes it then. */
  readonly mayBeEmpty?: boolean;
  /** Its approximate size in bytes, for INFO and limits. Kept up to date, because each change reads it twice. */
  readonly bytes: number;
  /** The name that OBJECT ENCODING shows. */
  readonly encoding: string;
  /**
   * Commands that rebuild it under `key` in an empty keyspace, without the key's expiry. Each command is bounded (about
   * 64 KiB or one member), so a large value needs many.
   */
  rebuild(key: ByteString): Iterable<ByteString[]>;
  /** As `rebuild`, for types that must examine many members before the first command; the examination is sliced. */
  rebuildInSlices?(key: ByteString): Generator<void, Iterable<ByteString[]>>;
  /**
   * All contents as words: equal values have equal contents, regardless of their history. In order if `hasOrder`,
   * otherwise in any order.
   */
  contents(): Iterable<ByteString>;
  readonly hasOrder: boolean;
  /** Set while any of its parts has an expiry. */
  readonly fieldExpiry?: FieldExpiry | undefined;
  /** Of many vectors: their graph, which is stored in a file. */
  readonly graphFile?: GraphFile | undefined;
  clone(): Collection;
  /** While set, each change first records its inverse here. */
  undo: UndoRecorder | undefined;
  /** Records how to restore the state that inverse operations do not cover: counts, encodings, positions. */
  keepState(undo: UndoRecorder): void;
}

export type Value = ByteString | Collection;

/** @throws WRONGTYPE */
export function asString(value: Value | undefined): ByteString | undefined {
  if (value === undefined || typeof value === 'string') return value;
  throw ERRORS.wrongType;
}

/** @throws WRONGTYPE */
export function asKind<C extends Collection>(
  value: Value | undefined,
  type: new (...given: never[]) => C,
): C | undefined {
  if (value === undefined || value instanceof type) return value as C | undefined;
  throw ERRORS.wrongType;
}

/** The bytes of a value, or of one of which only the size is known. */
export function sizeOf(value: Outline<Value>): number {
  if (typeof value === 'number') return value;
  return typeof value === 'string' ? value.length : value.bytes;
}
