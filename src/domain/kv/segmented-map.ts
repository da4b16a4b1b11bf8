/**
 * A map from byte strings that grows without a pause: an extendible hash over small segments. A single Map of a million
 * entries stalls for tens of milliseconds each time it doubles; here a full segment splits in two, so no operation
 * handles more than a segment (or the directory).
 *
 * With a pool, the entries of a map with several segments are packed in pages (docs/decisions/key-value-engine.md). The
 * first segment is a Map, because many maps are small.
 *
 * Invariants
 *
 *  SEM1 a key's hash never changes, in no process and no version, because scan cursors are hashes
 *  SEM2 every segment holds all keys whose hash begins with its prefix of `depth` bits
 *  SEM3 `scan` visits every key that exists from its first call to its last exactly once
 *  SEM4 a segment's `earliest` is at most the smallest number noted for any of its keys (see `note`)
 */
import type { ByteString } from '../../kernel/index.js';
import { hashBytes, hashKey } from '../collections/index.js';
import { fitsPages, type Outline, type PackedEntries } from './packed-entries.js';
import type { PagePool } from './page-pool.js';
import { SEGMENT_ENTRIES, Segment } from './segment.js';
import type { SetInPlace } from './set-in-place.js';

const MAX_DEPTH = 22;
/**
 * If a split would leave less than this share on one side, it is put off until the segment has doubled. Chance does not
 * produce such a split, and keys that were made to collide must not double the directory repeatedly.
 */
const MIN_SHARE = 1 / 16;
/**
 * Down to this depth a split is never put off. A snapshot adds keys in the order of their hashes, so one side of each
 * split stays empty at first; without this rule all keys would end in one Map. The directory is 32 KiB at this depth.
 */
const FREE_DEPTH = 12;
/** Segments tried for a random key. Segments are normally full enough that three suffice. */
const MAX_TRIES = 200;

/** The value must be set as strings instead. */
export const NOT_TAKEN = Symbol('not taken');

export interface ScanStep<V> {
  /** The cursor for the next call; 0 at the end. */
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

  /** The value, or only the length of a packed string. */
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

  /** Sets the value and returns the previous one, with one hash computation. */
  exchange(key: ByteString, value: V): Outline<V> | undefined {
    const hash = this.#hashOf(key);
    const segment = this.#segmentOf(hash);
    const size = segment.size;
    const before = segment.exchange(key, value, hash);
    this.#noteSize(segment, size);
    return before;
  }

  /** As `exchange`, for a name and a string given as bytes; only in packed segments. */
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

  /** Lowers the `earliest` of the key's segment: if the values are instants, a sweep can skip segments. */
  note(key: ByteString, instant: number): void {
    const segment = this.#segmentOf(this.#hashOf(key));
    if (instant < segment.earliest) segment.earliest = instant;
  }

  /** All segments in order; the map may change during iteration. */
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

  /** A random key; all keys have about the same chance. `float` is uniform in [0, 1). */
  randomKey(float: () => number): ByteString | undefined {
    if (this.#size === 0) return undefined;
    // With few keys most segments may be empty; then counting through all segments is cheap.
    if (this.#size <= SEGMENT_ENTRIES / 4) return this.#keyAt(Math.floor(float() * this.#size));
    for (let tries = 0; tries < MAX_TRIES; tries += 1) {
      const segment = this.#segmentOf(Math.floor(float() * 2 ** 32));
      // Segments differ in width and fill; accepting in proportion to the fill equalises the chances.
      if (segment.size === 0 || float() * SEGMENT_ENTRIES > segment.size) continue;
      return segment.keyAt(Math.floor(float() * segment.size));
    }
    // Reached when almost all keys were deleted or `float` is not random.
    return this.#keyAt(0);
  }

  /**
   * At least `count` entries from the cursor on, fewer at the end; cursor 0 starts. A cursor is the hash to continue
   * from, so it stays valid across changes, restarts and takeovers (SEM1: a key's hash never changes).
   */
  scan(cursor: number, count: number): ScanStep<V> {
    const entries: [ByteString, V][] = [];
    let from = cursor;
    while (from < 2 ** 32 && entries.length < count) {
      const segment = this.#segmentOf(from);
      const end = segment.prefix + 2 ** (32 - segment.depth);
      // A complete segment that fits into the answer needs no sorting by hash.
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

  /** A map with one segment needs no hash: many maps are small. */
  #hashOf(key: ByteString): number {
    return this.#depth === 0 ? 0 : hashKey(key);
  }

  #segmentOf(hash: number): Segment<V> {
    return this.#directory[this.#depth === 0 ? 0 : hash >>> (32 - this.#depth)] as Segment<V>;
  }

  /** To be called after an entry was set. */
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
    // An uneven or delayed split can leave more than the limit on one side.
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
 * Adds at least `wanted` entries, those with the lowest hashes from `from` on, without separating equal hashes.
 * @returns the next hash, if entries are left
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
