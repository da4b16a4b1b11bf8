/**
 * A Cuckoo filter that grows: a list of tables, each with buckets of fingerprints of one byte. Hashes and the order of
 * moves are those of Redis, so filters can be exchanged with it.
 */
import type { ByteString } from '../../../../kernel/index.js';
import type { UndoRecorder } from '../../value.js';
import type { Hash64 } from '../murmur64.js';
import { Sketch, type SketchForm } from './sketch.js';

const OVERHEAD_BYTES = 120;
const TABLE_OVERHEAD_BYTES = 150;
const MIX = 0x5bd1e995;
const FREE = 0;
/** Slots that a compaction looks at between two pauses. */
const SLICE_SLOTS = 20_000;
/** Redis's default for its configuration. */
export const MAX_TABLES = 32;

export const CUCKOO_SEED: Hash64 = { high: 0, low: 0 };

export interface CuckooSettings {
  readonly buckets: number;
  readonly bucketSize: number;
  readonly maxIterations: number;
  readonly expansion: number;
}

interface ItemHashes {
  readonly print: number;
  readonly first: number;
  readonly second: number;
}

export function powerOfTwoFrom(number: number): number {
  let power = 1;
  while (power < number) power *= 2;
  return number === 0 ? 0 : power;
}

export class CuckooFilter extends Sketch {
  readonly kind = 'MBbloomCF';
  #tables: Buffer[] = [];
  #tableBytes = 0;
  size = 0;
  deleted = 0;

  constructor(readonly settings: CuckooSettings) {
    super();
  }

  static reserve(settings: CuckooSettings): CuckooFilter {
    const filter = new CuckooFilter(settings);
    filter.#grow();
    return filter;
  }

  static fromWords(words: readonly ByteString[]): CuckooFilter {
    const [buckets = 0, bucketSize = 0, maxIterations = 0, expansion = 0, size = 0, deleted = 0, tables = 0] =
      words.map(Number);
    const isSound =
      powerOfTwoFrom(buckets) === buckets && buckets > 0 && bucketSize > 0 && tables > 0 && tables <= MAX_TABLES + 1;
    if (!isSound) throw new RangeError('not a Cuckoo filter');
    const filter = new CuckooFilter({ buckets, bucketSize, maxIterations, expansion });
    for (let count = 0; count < tables; count += 1) filter.#grow();
    filter.size = size;
    filter.deleted = deleted;
    return filter;
  }

  get bytes(): number {
    return OVERHEAD_BYTES + this.#tables.length * TABLE_OVERHEAD_BYTES + this.#tableBytes;
  }

  get tables(): readonly Buffer[] {
    return this.#tables;
  }

  /** The bytes of the next table. */
  get nextGrowth(): number {
    const { buckets, bucketSize, expansion } = this.settings;
    return buckets * bucketSize * expansion ** this.#tables.length;
  }

  bucketsOf(table: Buffer): number {
    return table.length / this.settings.bucketSize;
  }

  has(hash: Hash64): boolean {
    const place = placeOf(hash);
    return this.#tables.some((table) => this.#slotWith(table, place, place.print) !== undefined);
  }

  count(hash: Hash64): number {
    const place = placeOf(hash);
    let count = 0;
    for (const table of this.#tables) {
      for (const bucket of this.#bucketsFor(table, place)) {
        for (let slot = bucket; slot < bucket + this.settings.bucketSize; slot += 1)
          if (table[slot] === place.print) count += 1;
      }
    }
    return count;
  }

  /** @param mayGrow whether there is room for another table @returns false when the filter is full */
  add(hash: Hash64, mayGrow: () => boolean): boolean {
    const place = placeOf(hash);
    for (let at = this.#tables.length - 1; at >= 0; at -= 1) {
      if (this.#putInto(this.#tables[at] as Buffer, place)) return true;
    }
    const last = this.#tables.at(-1) as Buffer;
    if (this.#makeRoom(last, place)) return true;
    if (this.settings.expansion === 0 || !mayGrow()) return false;
    return this.#putInto(this.#grow(), place);
  }

  /** @returns whether it was there */
  *delete(hash: Hash64): Generator<void, boolean> {
    const place = placeOf(hash);
    for (let at = this.#tables.length - 1; at >= 0; at -= 1) {
      const table = this.#tables[at] as Buffer;
      const slot = this.#slotWith(table, place, place.print);
      if (slot === undefined) continue;
      this.#set(table, slot, FREE);
      this.size -= 1;
      this.deleted += 1;
      if (this.#tables.length > 1 && this.deleted > this.size * 0.1) yield* this.compact();
      return true;
    }
    return false;
  }

  /**
   * Moves fingerprints into earlier tables, and removes the last tables that become empty. @param ofAll also those of
   * tables before one that stays
   */
  *compact(ofAll = false): Generator<void, void> {
    for (let at = this.#tables.length - 1; at > 0; at -= 1) {
      const isEmpty = yield* this.#empty(at);
      if (!isEmpty && !ofAll) break;
      if (!isEmpty || at < this.#tables.length - 1) continue;
      const table = this.#tables.pop() as Buffer;
      this.#tableBytes -= table.length;
    }
    this.deleted = 0;
  }

  form(): SketchForm {
    const { buckets, bucketSize, maxIterations, expansion } = this.settings;
    const counts = [this.size, this.deleted, this.#tables.length];
    return { words: [buckets, bucketSize, maxIterations, expansion, ...counts].map(String), parts: this.#tables };
  }

  clone(): CuckooFilter {
    const copy = new CuckooFilter(this.settings);
    copy.#tables = this.#tables.map((table) => Buffer.from(table));
    copy.#tableBytes = this.#tableBytes;
    copy.size = this.size;
    copy.deleted = this.deleted;
    return copy;
  }

  keepState(undo: UndoRecorder): void {
    const tables = [...this.#tables];
    const [tableBytes, { size, deleted }] = [this.#tableBytes, this];
    undo.push(() => {
      this.#tables = tables;
      this.#tableBytes = tableBytes;
      Object.assign(this, { size, deleted });
    });
  }

  #grow(): Buffer {
    const table = Buffer.alloc(this.nextGrowth);
    this.#tables.push(table);
    this.#tableBytes += table.length;
    return table;
  }

  #set(table: Buffer, slot: number, print: number): void {
    const before = table[slot] as number;
    table[slot] = print;
    this.undo?.push(() => {
      table[slot] = before;
    });
  }

  #bucketsFor(table: Buffer, { first, second }: ItemHashes): readonly [number, number] {
    const { bucketSize } = this.settings;
    const mask = this.bucketsOf(table) - 1;
    return [((first & mask) >>> 0) * bucketSize, ((second & mask) >>> 0) * bucketSize];
  }

  #slotWith(table: Buffer, place: ItemHashes, print: number): number | undefined {
    const [first, second] = this.#bucketsFor(table, place);
    return this.#firstOf(table, first, print) ?? this.#firstOf(table, second, print);
  }

  #firstOf(table: Buffer, bucket: number, print: number): number | undefined {
    for (let slot = bucket; slot < bucket + this.settings.bucketSize; slot += 1) if (table[slot] === print) return slot;
    return undefined;
  }

  #putInto(table: Buffer, place: ItemHashes): boolean {
    const slot = this.#slotWith(table, place, FREE);
    if (slot === undefined) return false;
    this.#set(table, slot, place.print);
    this.size += 1;
    return true;
  }

  /** Moves fingerprints to their other buckets until one is free; moves all back if none is. */
  #makeRoom(table: Buffer, place: ItemHashes): boolean {
    const { bucketSize, maxIterations } = this.settings;
    const mask = this.bucketsOf(table) - 1;
    const moves: number[] = [];
    let { print } = place;
    let bucket = (place.first & mask) >>> 0;
    let victim = 0;
    for (let tries = 0; tries < maxIterations; tries += 1) {
      const slot = bucket * bucketSize + victim;
      const moved = table[slot] as number;
      this.#set(table, slot, print);
      moves.push(slot, moved);
      print = moved;
      bucket = (otherBucket(print, bucket) & mask) >>> 0;
      const free = this.#firstOf(table, bucket * bucketSize, FREE);
      if (free !== undefined) {
        this.#set(table, free, print);
        this.size += 1;
        return true;
      }
      victim = (victim + 1) % bucketSize;
    }
    for (let at = moves.length - 2; at >= 0; at -= 2) this.#set(table, moves[at] as number, moves[at + 1] as number);
    return false;
  }

  *#empty(at: number): Generator<void, boolean> {
    const table = this.#tables[at] as Buffer;
    const { bucketSize } = this.settings;
    let isEmpty = true;
    for (let slot = 0; slot < table.length; slot += 1) {
      if (slot % SLICE_SLOTS === SLICE_SLOTS - 1) yield;
      const print = table[slot] as number;
      if (print === FREE) continue;
      const bucket = Math.floor(slot / bucketSize);
      const place = { print, first: bucket, second: otherBucket(print, bucket) };
      const target = this.#tables.slice(0, at).find((earlier) => this.#slotWith(earlier, place, FREE) !== undefined);
      if (target === undefined) isEmpty = false;
      else {
        this.#set(target, this.#slotWith(target, place, FREE) as number, print);
        this.#set(table, slot, FREE);
      }
    }
    return isEmpty;
  }
}

/** Fingerprints are from 1 to 255; a bucket depends on the low 32 bits of a hash alone. */
function placeOf({ high, low }: Hash64): ItemHashes {
  const print = (((high % 255) + (low % 255)) % 255) + 1;
  return { print, first: low, second: otherBucket(print, low) };
}

function otherBucket(print: number, bucket: number): number {
  return (bucket ^ Math.imul(print, MIX)) >>> 0;
}
