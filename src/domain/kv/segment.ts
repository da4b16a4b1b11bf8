/**
 * A part of a SegmentedMap. Its entries are in a Map, or packed in pages if the map has a page pool. Packed entries are
 * moved to a Map when a key does not fit pages, or when more keys share the leading bits of their hashes than chance
 * explains: clients that choose colliding keys do not know V8's own hash.
 */
import type { ByteString } from '../../kernel/index.js';
import { hashKey } from '../collections/index.js';
import { type Outline, PACKED_ENTRIES, PackedEntries } from './packed-entries.js';
import type { PagePool } from './page-pool.js';

/** Splitting a segment of this size takes about 50 µs, and a scan step reads at most one segment. */
export const SEGMENT_ENTRIES = PACKED_ENTRIES;

export class Segment<V> {
  earliest = Number.POSITIVE_INFINITY;
  limit = SEGMENT_ENTRIES;
  /** Undefined while the entries are packed. */
  map: Map<ByteString, V> | undefined;
  packed: PackedEntries<V> | undefined;

  constructor(
    /** The number of leading hash bits that all its keys share. */
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

  /** Sets the value; returns the one before. */
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

  /** The map may change during iteration; keys added then may or may not be visited. */
  keys(): Iterable<ByteString> {
    return this.map === undefined ? (this.packed as PackedEntries<V>).names() : this.map.keys();
  }

  /** As `keys`. */
  entries(): Iterable<[ByteString, V]> {
    return this.map === undefined ? (this.packed as PackedEntries<V>).entries() : this.map;
  }

  /** The entries with hashes from `first` to `last`. */
  entriesBetween(first: number, last: number): Iterable<[ByteString, V]> {
    if (this.map === undefined) return (this.packed as PackedEntries<V>).entries(first, last);
    return [...this.map].filter(([key]) => {
      const hash = hashKey(key);
      return hash >= first && hash <= last;
    });
  }

  hashes(): Uint32Array {
    if (this.map === undefined) return (this.packed as PackedEntries<V>).hashes();
    return Uint32Array.from(this.map.keys(), hashKey);
  }

  /** The key at that index in the order. */
  keyAt(index: number): ByteString {
    if (this.map === undefined) return (this.packed as PackedEntries<V>).nameAt(index);
    const keys = this.map.keys();
    for (let at = 0; at < index; at += 1) keys.next();
    return keys.next().value as ByteString;
  }

  /** Moves packed entries to a Map. */
  unpack(): Map<ByteString, V> {
    if (this.packed !== undefined) {
      this.map = new Map(this.packed.entries());
      this.packed = undefined;
    }
    return this.map as Map<ByteString, V>;
  }

  /** Moves its entries to the two segments that replace it, by a bit of their hashes. */
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
