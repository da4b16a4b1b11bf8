/**
 * A map from byte strings that grows without a pause: an extendible hash over many small Maps.
 * One Map of a million entries stalls for tens of milliseconds whenever it doubles; here a full
 * segment splits in two, and nothing larger than a segment is ever touched at once.
 *
 * Invariants
 *  SEM1 a key's hash never changes, in no process and no version: scan cursors are hashes
 *  SEM2 every segment holds all keys whose hash begins with its prefix of `depth` bits
 *  SEM3 `scan` meets every key that is there from its first call to its last, exactly once
 *  SEM4 a segment's `earliest` is at most the smallest number noted for any of its keys (see `note`)
 */
import type { ByteString } from '../../kernel/index.js';

/** Splitting costs about 50 µs at this size, and a scan step reads at most one segment. */
const SEGMENT_ENTRIES = 512;
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
/** A key longer than two such ends is hashed by its ends alone, for hashing takes about 1 ns a byte. */
const HASHED_EDGE = 512;

class MapSegment<V> {
  readonly entries = new Map<ByteString, V>();
  earliest = Number.POSITIVE_INFINITY;
  /** Entries beyond which it splits. */
  limit = SEGMENT_ENTRIES;

  constructor(
    /** How many leading bits of the hash all keys here share. */
    readonly depth: number,
    /** Those bits, as the top of a 32-bit number. */
    readonly prefix: number,
  ) {}
}

export interface ScanStep<V> {
  /** Where to go on; 0 when everything has been met. */
  readonly cursor: number;
  readonly entries: [ByteString, V][];
}

export class SegmentedMap<V> {
  #directory: MapSegment<V>[] = [new MapSegment<V>(0, 0)];
  #depth = 0;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get(key: ByteString): V | undefined {
    return this.#segmentFor(key).entries.get(key);
  }

  has(key: ByteString): boolean {
    return this.#segmentFor(key).entries.has(key);
  }

  set(key: ByteString, value: V): void {
    const segment = this.#segmentFor(key);
    const entries = segment.entries;
    const before = entries.size;
    entries.set(key, value);
    if (entries.size === before) return;
    this.#size += 1;
    if (entries.size > segment.limit && segment.depth < MAX_DEPTH) this.#split(segment);
  }

  /** Sets the value and returns the one before; one hash instead of two. */
  exchange(key: ByteString, value: V): V | undefined {
    const segment = this.#segmentFor(key);
    const entries = segment.entries;
    const before = entries.get(key);
    const size = entries.size;
    entries.set(key, value);
    if (entries.size !== size) {
      this.#size += 1;
      if (entries.size > segment.limit && segment.depth < MAX_DEPTH) this.#split(segment);
    }
    return before;
  }

  delete(key: ByteString): boolean {
    const deleted = this.#segmentFor(key).entries.delete(key);
    if (deleted) this.#size -= 1;
    return deleted;
  }

  clear(): void {
    this.#directory = [new MapSegment<V>(0, 0)];
    this.#depth = 0;
    this.#size = 0;
  }

  /** Lowers the bound of the key's segment: for values that are instants, a sweep can then skip segments. */
  note(key: ByteString, instant: number): void {
    const segment = this.#segmentFor(key);
    if (instant < segment.earliest) segment.earliest = instant;
  }

  *segments(): IterableIterator<MapSegment<V>> {
    let at = 0;
    while (at < this.#directory.length) {
      const segment = this.#directory[at] as MapSegment<V>;
      yield segment;
      at += 2 ** (this.#depth - segment.depth);
    }
  }

  *[Symbol.iterator](): IterableIterator<[ByteString, V]> {
    for (const segment of this.segments()) yield* segment.entries;
  }

  *keys(): IterableIterator<ByteString> {
    for (const segment of this.segments()) yield* segment.entries.keys();
  }

  /** A key, each with about the same chance. `float` is uniform in [0, 1). */
  randomKey(float: () => number): ByteString | undefined {
    if (this.#size === 0) return undefined;
    // Few keys may leave most segments empty; then looking at all of them is cheap.
    if (this.#size <= SEGMENT_ENTRIES / 4) return nth(this.keys(), Math.floor(float() * this.#size));
    for (let tries = 0; tries < MAX_TRIES; tries += 1) {
      const segment = this.#segmentOf(Math.floor(float() * 2 ** 32));
      // Segments cover ranges of different width and fill; accepting by fill evens the odds out.
      if (segment.entries.size === 0 || float() * SEGMENT_ENTRIES > segment.entries.size) continue;
      return nth(segment.entries.keys(), Math.floor(float() * segment.entries.size));
    }
    // Nearly everything was deleted, or the dice are loaded.
    return nth(this.keys(), 0);
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
      if (from === segment.prefix && entries.length + segment.entries.size <= count) {
        for (const entry of segment.entries) entries.push(entry);
        from = end;
      } else {
        from = takeLowest(segment, from, count - entries.length, entries) ?? end;
      }
    }
    return { cursor: from >= 2 ** 32 ? 0 : from, entries };
  }

  /** A map that is one segment needs no hash: many maps are small. */
  #segmentFor(key: ByteString): MapSegment<V> {
    return this.#directory[this.#depth === 0 ? 0 : hashKey(key) >>> (32 - this.#depth)] as MapSegment<V>;
  }

  #segmentOf(hash: number): MapSegment<V> {
    return this.#directory[this.#depth === 0 ? 0 : hash >>> (32 - this.#depth)] as MapSegment<V>;
  }

  #split(full: MapSegment<V>): void {
    const depth = full.depth + 1;
    const bit = 2 ** (32 - depth);
    const low = new MapSegment<V>(depth, full.prefix);
    const high = new MapSegment<V>(depth, full.prefix + bit);
    low.earliest = full.earliest;
    high.earliest = full.earliest;
    for (const [key, value] of full.entries) {
      ((hashKey(key) & bit) === 0 ? low : high).entries.set(key, value);
    }
    const fewer = Math.min(low.entries.size, high.entries.size);
    if (depth > FREE_DEPTH && fewer < full.entries.size * MIN_SHARE) {
      full.limit = 2 * full.entries.size;
      return;
    }
    if (full.depth === this.#depth) this.#doubleDirectory();
    const width = 2 ** (this.#depth - depth);
    const start = full.prefix / 2 ** (32 - this.#depth);
    this.#directory.fill(low, start, start + width);
    this.#directory.fill(high, start + width, start + 2 * width);
    // A lopsided split, or one that was put off, can leave more than fits on a side.
    for (const side of [low, high]) {
      if (side.entries.size > side.limit && depth < MAX_DEPTH) this.#split(side);
    }
  }

  #doubleDirectory(): void {
    const doubled = new Array<MapSegment<V>>(this.#directory.length * 2);
    for (let i = 0; i < doubled.length; i += 1) doubled[i] = this.#directory[i >>> 1] as MapSegment<V>;
    this.#directory = doubled;
    this.#depth += 1;
  }
}

/**
 * Moves at least `wanted` entries over, those with the lowest hashes from `from` on, never parting equal
 * ones; the next hash, if any is left.
 */
function takeLowest<V>(
  segment: MapSegment<V>,
  from: number,
  wanted: number,
  into: [ByteString, V][],
): number | undefined {
  const hashes = new Uint32Array(segment.entries.size);
  let size = 0;
  for (const key of segment.entries.keys()) {
    const hash = hashKey(key);
    if (hash < from) continue;
    hashes[size] = hash;
    size += 1;
  }
  const sorted = hashes.subarray(0, size).sort();
  const last = sorted[Math.min(wanted, size) - 1];
  if (last === undefined) return undefined;
  for (const entry of segment.entries) {
    const hash = hashKey(entry[0]);
    if (hash >= from && hash <= last) into.push(entry);
  }
  for (let at = wanted; at < size; at += 1) if ((sorted[at] as number) > last) return sorted[at];
  return undefined;
}

function nth(keys: Iterable<ByteString>, index: number): ByteString | undefined {
  let at = 0;
  for (const key of keys) {
    if (at === index) return key;
    at += 1;
  }
  return undefined;
}

/** 32-bit FNV-1a with a final mix, so that the leading bits depend on every character. */
export function hashKey(key: ByteString): number {
  const length = key.length;
  let hash = 0x811c9dc5 ^ length;
  if (length <= 2 * HASHED_EDGE) {
    for (let i = 0; i < length; i += 1) hash = Math.imul(hash ^ key.charCodeAt(i), 0x01000193);
  } else {
    for (let i = 0; i < HASHED_EDGE; i += 1) hash = Math.imul(hash ^ key.charCodeAt(i), 0x01000193);
    for (let i = length - HASHED_EDGE; i < length; i += 1) hash = Math.imul(hash ^ key.charCodeAt(i), 0x01000193);
  }
  hash ^= hash >>> 16;
  hash = Math.imul(hash, 0x85ebca6b);
  hash ^= hash >>> 13;
  hash = Math.imul(hash, 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
