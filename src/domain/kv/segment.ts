/**
 * One of the parts that a SegmentedMap consists of. Its entries are in a Map, or packed in pages where the map was
 * given a pool of them. Packed ones become a Map when there comes a key that pages do not take, or when more keys
 * share the leading bits of their hashes than chance would have: V8's own hash of a key is not known to whoever
 * chooses keys.
 */
import type { ByteString } from '../../kernel/index.js';
import { hashKey } from './key-hash.js';
import { type Outline, PACKED_ENTRIES, PackedEntries } from './packed-entries.js';
import type { PagePool } from './page-pool.js';

/** Splitting costs about 50 µs at this size, and a scan step reads at most one segment. */
export const SEGMENT_ENTRIES = PACKED_ENTRIES;

export class Segment<V> {
  earliest = Number.POSITIVE_INFINITY;
  /** Entries beyond which it splits. */
  limit = SEGMENT_ENTRIES;
  /** Undefined while the entries are packed. */
  map: Map<ByteString, V> | undefined;
  packed: PackedEntries<V> | undefined;

  constructor(
    /** How many leading bits of the hash all keys here share. */
    readonly depth: number,
    /** Those bits, as the top of a 32-bit number. */
    readonly prefix: number,
    pool?: PagePool,
  ) {
    if (pool === undefined) this.map = new Map();
    else this.packed = new PackedEntries(pool);
  }

  get size(): number {
    return this.map === undefined ? (this.packed as PackedEntries<V>).size : this.map.size;
  }

  /** What was there before. */
  exchange(key: ByteString, value: V, hash: number): Outline<V> | undefined {
    if (this.packed?.takes(key) === true) return this.packed.exchange(key, value, hash);
    const map = this.unpack();
    const before = map.get(key);
    map.set(key, value);
    return before;
  }

  delete(key: ByteString, hash: number): boolean {
    return this.map === undefined ? (this.packed as PackedEntries<V>).delete(key, hash) : this.map.delete(key);
  }

  /** May be changed meanwhile; what comes then may be met or not. */
  keys(): Iterable<ByteString> {
    return this.map === undefined ? (this.packed as PackedEntries<V>).names() : this.map.keys();
  }

  /** As `keys`. */
  entries(): Iterable<[ByteString, V]> {
    return this.map === undefined ? (this.packed as PackedEntries<V>).entries() : this.map;
  }

  /** Those whose hashes are from `first` to `last`. */
  entriesBetween(first: number, last: number): Iterable<[ByteString, V]> {
    if (this.map === undefined) return (this.packed as PackedEntries<V>).entries(first, last);
    return [...this.map].filter(([key]) => {
      const hash = hashKey(key);
      return hash >= first && hash <= last;
    });
  }

  /** The hashes of all keys. */
  hashes(): Uint32Array {
    if (this.map === undefined) return (this.packed as PackedEntries<V>).hashes();
    return Uint32Array.from(this.map.keys(), hashKey);
  }

  /** The key with that place among all. */
  keyAt(index: number): ByteString {
    if (this.map === undefined) return (this.packed as PackedEntries<V>).nameAt(index);
    const keys = this.map.keys();
    for (let at = 0; at < index; at += 1) keys.next();
    return keys.next().value as ByteString;
  }

  /** From now on it is a Map. */
  unpack(): Map<ByteString, V> {
    if (this.packed !== undefined) {
      this.map = new Map(this.packed.entries());
      this.packed = undefined;
    }
    return this.map as Map<ByteString, V>;
  }

  /** Hands its entries over to the two that take its place, by a bit of their hashes. */
  splitInto(low: Segment<V>, high: Segment<V>, bit: number): void {
    if (this.packed !== undefined && low.packed !== undefined && high.packed !== undefined) {
      this.packed.splitInto(low.packed, high.packed, bit);
      return;
    }
    for (const [key, value] of this.entries()) {
      const hash = hashKey(key);
      ((hash & bit) === 0 ? low : high).exchange(key, value, hash);
    }
  }
}
