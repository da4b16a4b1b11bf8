/**
 * A map from byte strings that grows without a pause: an extendible hash over many small segments.
 * One Map of a million entries stalls for tens of milliseconds whenever it doubles; here a full
 * segment splits in two, and nothing larger than a segment is ever touched at once.
 *
 * A map that is given a pool packs the entries of its segments in pages (ADR 51), as soon as it has several: the first
 * is a Map, because many maps are small.
 *
 * Invariants
 *  SEM1 a key's hash never changes, in no process and no version: scan cursors are hashes
 *  SEM2 every segment holds all keys whose hash begins with its prefix of `depth` bits
 *  SEM3 `scan` meets every key that is there from its first call to its last, exactly once
 *  SEM4 a segment's `earliest` is at most the smallest number noted for any of its keys (see `note`)
 */
import type { ByteString } from '../../kernel/index.js';
import { hashBytes, hashKey } from './key-hash.js';
import { fitsPages, type Outline, type PackedEntries } from './packed-entries.js';
import type { PagePool } from './page-pool.js';
import { SEGMENT_ENTRIES, Segment } from './segment.js';
import type { SetInPlace } from './set-in-place.js';

const MAX_DEPTH = 22;
/**
 * A split that would leave less than this share on one side is put off until the segment has doubled:
 * it does not happen by chance, and keys made to collide must not double the directory again and again.
 */
const MIN_SHARE = 1 / 16;
/**
 * Down to this depth splits are never put off: a snapshot brings keys in the order of their hashes, so one
 * side stays empty until its turn comes, and all keys would end in one Map. The directory is 32 KiB then.
 */
const FREE_DEPTH = 12;
/** Segments looked at for a random key; with segments as full as splits leave them, three are enough. */
const MAX_TRIES = 200;

/** It has to be set as strings. */
export const NOT_TAKEN = Symbol('not taken');

export interface ScanStep<V> {
  /** Where to go on; 0 when everything has been met. */
  readonly cursor: number;
  readonly entries: [ByteString, V][];
}

export class SegmentedMap<V> {
  #directory: Segment<V>[] = [new Segment<V>(0, 0)];
  #depth = 0;
  #size = 0;
  readonly #pool: PagePool | undefined;

  constructor(pool?: PagePool) {
    this.#pool = pool;
  }

  get size(): number {
    return this.#size;
  }

  get(key: ByteString): V | undefined {
    const hash = this.#hashOf(key);
    const { map, packed } = this.#segmentOf(hash);
    return map === undefined ? (packed as PackedEntries<V>).get(key, hash) : map.get(key);
  }

  has(key: ByteString): boolean {
    const hash = this.#hashOf(key);
    const { map, packed } = this.#segmentOf(hash);
    return map === undefined ? (packed as PackedEntries<V>).has(key, hash) : map.has(key);
  }

  /** What the key leads to, without making a string of what is packed. */
  outline(key: ByteString): Outline<V> | undefined {
    const hash = this.#hashOf(key);
    const { map, packed } = this.#segmentOf(hash);
    return map === undefined ? (packed as PackedEntries<V>).outline(key, hash) : map.get(key);
  }

  set(key: ByteString, value: V): void {
    const hash = this.#hashOf(key);
    const segment = this.#segmentOf(hash);
    const before = segment.size;
    if (segment.map === undefined) segment.exchange(key, value, hash);
    else segment.map.set(key, value);
    this.#noteSize(segment, before);
  }

  /** Sets the value and returns the one before; one hash instead of two. */
  exchange(key: ByteString, value: V): Outline<V> | undefined {
    const hash = this.#hashOf(key);
    const segment = this.#segmentOf(hash);
    const size = segment.size;
    const before = segment.exchange(key, value, hash);
    this.#noteSize(segment, size);
    return before;
  }

  /** The same for a name and a string that are still bytes, where they are packed. */
  exchangeInPlace(set: SetInPlace): Outline<V> | undefined | typeof NOT_TAKEN {
    if (this.#depth === 0 || !fitsPages(set)) return NOT_TAKEN;
    const hash = hashBytes(set.bytes, set.keyAt, set.keyLength);
    const segment = this.#segmentOf(hash);
    const { packed } = segment;
    if (packed?.hasRoom !== true) return NOT_TAKEN;
    const size = packed.size;
    const before = packed.exchangeInPlace(set, hash);
    this.#noteSize(segment, size);
    return before;
  }

  delete(key: ByteString): boolean {
    const hash = this.#hashOf(key);
    const deleted = this.#segmentOf(hash).delete(key, hash);
    if (deleted) this.#size -= 1;
    if (this.#size === 0 && this.#depth > 0) this.#reset();
    return deleted;
  }

  clear(): void {
    this.#reset();
  }

  #reset(): void {
    this.#directory = [new Segment<V>(0, 0)];
    this.#depth = 0;
    this.#size = 0;
    this.#pool?.clear();
  }

  /** Lowers the bound of the key's segment: for values that are instants, a sweep can then skip segments. */
  note(key: ByteString, instant: number): void {
    const segment = this.#segmentOf(this.#hashOf(key));
    if (instant < segment.earliest) segment.earliest = instant;
  }

  /** One after the other; the map may be changed meanwhile. */
  *segments(): IterableIterator<Segment<V>> {
    for (let from = 0; from < 2 ** 32; ) {
      const segment = this.#segmentOf(from);
      yield segment;
      from = segment.prefix + 2 ** (32 - segment.depth);
    }
  }

  *[Symbol.iterator](): IterableIterator<[ByteString, V]> {
    for (const segment of this.segments()) yield* segment.entries();
  }

  *keys(): IterableIterator<ByteString> {
    for (const segment of this.segments()) yield* segment.keys();
  }

  /** A key, each with about the same chance. `float` is uniform in [0, 1). */
  randomKey(float: () => number): ByteString | undefined {
    if (this.#size === 0) return undefined;
    // Few keys may leave most segments empty; then looking at all of them is cheap.
    if (this.#size <= SEGMENT_ENTRIES / 4) return this.#keyAt(Math.floor(float() * this.#size));
    for (let tries = 0; tries < MAX_TRIES; tries += 1) {
      const segment = this.#segmentOf(Math.floor(float() * 2 ** 32));
      // Segments cover ranges of different width and fill; accepting by fill evens the odds out.
      if (segment.size === 0 || float() * SEGMENT_ENTRIES > segment.size) continue;
      return segment.keyAt(Math.floor(float() * segment.size));
    }
    // Nearly everything was deleted, or the dice are loaded.
    return this.#keyAt(0);
  }

  /**
   * At least `count` entries from the cursor on, fewer at the end; 0 begins. A cursor is the hash to
   * go on from, so it stays good across changes, restarts and takeovers (SEM1).
   */
  scan(cursor: number, count: number): ScanStep<V> {
    const entries: [ByteString, V][] = [];
    let from = cursor;
    while (from < 2 ** 32 && entries.length < count) {
      const segment = this.#segmentOf(from);
      const end = segment.prefix + 2 ** (32 - segment.depth);
      // A segment met from its beginning that fits whole needs no look at its hashes.
      if (from === segment.prefix && entries.length + segment.size <= count) {
        for (const entry of segment.entries()) entries.push(entry);
        from = end;
      } else {
        from = takeLowest(segment, from, count - entries.length, entries) ?? end;
      }
    }
    return { cursor: from >= 2 ** 32 ? 0 : from, entries };
  }

  #keyAt(index: number): ByteString | undefined {
    let before = 0;
    for (const segment of this.segments()) {
      if (index < before + segment.size) return segment.keyAt(index - before);
      before += segment.size;
    }
    return undefined;
  }

  /** A map that is one segment needs no hash: many maps are small. */
  #hashOf(key: ByteString): number {
    return this.#depth === 0 ? 0 : hashKey(key);
  }

  #segmentOf(hash: number): Segment<V> {
    return this.#directory[this.#depth === 0 ? 0 : hash >>> (32 - this.#depth)] as Segment<V>;
  }

  /** To be called when an entry was set. */
  #noteSize(segment: Segment<V>, before: number): void {
    const { size } = segment;
    if (size === before) return;
    this.#size += 1;
    if (size > segment.limit && segment.depth < MAX_DEPTH) this.#split(segment);
  }

  #split(full: Segment<V>): void {
    const depth = full.depth + 1;
    const bit = 2 ** (32 - depth);
    if (depth > FREE_DEPTH) {
      const upper = full.hashes().filter((hash) => (hash & bit) !== 0).length;
      if (Math.min(upper, full.size - upper) < full.size * MIN_SHARE) {
        full.limit = 2 * full.size;
        full.unpack();
        return;
      }
    }
    const low = new Segment<V>(depth, full.prefix, this.#pool);
    const high = new Segment<V>(depth, full.prefix + bit, this.#pool);
    low.earliest = full.earliest;
    high.earliest = full.earliest;
    full.splitInto(low, high, bit);
    if (full.depth === this.#depth) this.#doubleDirectory();
    const width = 2 ** (this.#depth - depth);
    const start = full.prefix / 2 ** (32 - this.#depth);
    this.#directory.fill(low, start, start + width);
    this.#directory.fill(high, start + width, start + 2 * width);
    // A lopsided split, or one that was put off, can leave more than fits on a side.
    for (const side of [low, high]) {
      if (side.size > side.limit && depth < MAX_DEPTH) this.#split(side);
    }
  }

  #doubleDirectory(): void {
    const doubled = new Array<Segment<V>>(this.#directory.length * 2);
    for (let i = 0; i < doubled.length; i += 1) doubled[i] = this.#directory[i >>> 1] as Segment<V>;
    this.#directory = doubled;
    this.#depth += 1;
  }
}

/**
 * Moves at least `wanted` entries over, those with the lowest hashes from `from` on, never parting equal
 * ones; the next hash, if any is left.
 */
function takeLowest<V>(segment: Segment<V>, from: number, wanted: number, into: [ByteString, V][]): number | undefined {
  const sorted = segment
    .hashes()
    .filter((hash) => hash >= from)
    .sort();
  const last = sorted[Math.min(wanted, sorted.length) - 1];
  if (last === undefined) return undefined;
  for (const entry of segment.entriesBetween(from, last)) into.push(entry);
  return sorted.subarray(wanted).find((hash) => hash > last);
}
