/**
 * The most frequent items (HeavyKeeper): rows of counters with fingerprints, of which those of other items decay by
 * chance, and a heap of the `k` items with the highest counts.
 *
 * Invariant
 *
 *  TPK1 chance comes from a sequence in the sketch, and only exact arithmetic is used, so a replay gives the same bytes
 */
import { type ByteString, bufferOfBytes } from '../../../../kernel/index.js';
import type { UndoRecorder } from '../../value.js';
import { murmur32 } from './murmur32.js';
import { bytesOfNumbers, Sketch, type SketchForm } from './sketch.js';

const OVERHEAD_BYTES = 250;
const PLACE_OVERHEAD_BYTES = 120;
const ITEM_HEADER_BYTES = 8;
const PRINT_SEED = 1919;
const FIRST_CHANCE = 0x9e3779b9;
const TWO_32 = 2 ** 32;
const MAX_COUNT = 0xffff_ffff;
/** Chances taken between two pauses: about half a millisecond. */
const SLICE_CHANCES = 50_000;

export interface TopKSettings {
  readonly k: number;
  readonly width: number;
  readonly depth: number;
  readonly decay: number;
}

export interface Ranked {
  readonly item: ByteString;
  count: number;
}

export class TopK extends Sketch {
  readonly kind = 'TopK-TYPE';
  /** Fingerprint and count of each counter. */
  readonly cells: Uint32Array;
  /** A heap with the lowest count first. */
  #heap: Ranked[] = [];
  #positions = new Map<ByteString, number>();
  #itemBytes = 0;
  #chance = FIRST_CHANCE;
  /** The heap of a sketch that is being rebuilt, until it is used. */
  #loading: Buffer | undefined;
  #itemCount = 0;
  /** decay^count as a threshold of 32 bits, by count. */
  #thresholds: number[] = [];

  constructor(readonly settings: TopKSettings) {
    super();
    this.cells = new Uint32Array(settings.width * settings.depth * 2);
  }

  static bytesToReserve({ k, width, depth }: TopKSettings): number {
    return width * depth * 8 + k * PLACE_OVERHEAD_BYTES;
  }

  static fromWords(words: readonly ByteString[]): TopK {
    const [k = 0, width = 0, depth = 0, decay = 0, chance = 0, items = 0, heapBytes = 0] = words.map(Number);
    const sketch = new TopK({ k, width, depth, decay });
    sketch.#chance = chance;
    sketch.#loading = Buffer.alloc(heapBytes);
    sketch.#itemBytes = heapBytes - items * ITEM_HEADER_BYTES;
    sketch.#itemCount = items;
    return sketch;
  }

  get size(): number {
    return this.#loading === undefined ? this.#heap.length : this.#itemCount;
  }

  get bytes(): number {
    return OVERHEAD_BYTES + this.cells.byteLength + this.settings.k * PLACE_OVERHEAD_BYTES + this.#itemBytes;
  }

  has(item: ByteString): boolean {
    return this.#ranked.length > 0 && this.#positions.has(item);
  }

  /** An estimate of the item's count. */
  of(item: ByteString): number {
    const bytes = bufferOfBytes(item);
    const print = murmur32(bytes, PRINT_SEED);
    let count = 0;
    for (let row = 0; row < this.settings.depth; row += 1) {
      const at = this.#cellOf(bytes, row);
      if (this.cells[at] === print) count = Math.max(count, this.cells[at + 1] as number);
    }
    return count;
  }

  /** The items, most frequent first. */
  list(): Ranked[] {
    return [...this.#ranked].sort((a, b) => b.count - a.count || (a.item < b.item ? -1 : 1));
  }

  /** The heap as it is stored. */
  get heap(): readonly Ranked[] {
    return this.#ranked;
  }

  /** @returns the item that left the list */
  *add(item: ByteString, increment: number): Generator<void, ByteString | undefined> {
    const bytes = bufferOfBytes(item);
    const print = murmur32(bytes, PRINT_SEED);
    const heap = this.#ranked;
    let count = 0;
    for (let row = 0; row < this.settings.depth; row += 1) {
      const at = this.#cellOf(bytes, row);
      yield* this.#count(at, print, increment);
      if (this.cells[at] === print) count = Math.max(count, this.cells[at + 1] as number);
    }
    const known = this.#positions.get(item);
    if (known !== undefined) {
      this.#keepCount(heap[known] as Ranked);
      (heap[known] as Ranked).count = count;
      this.#sink(known);
      this.#rise(this.#positions.get(item) as number);
      return undefined;
    }
    if (count === 0) return undefined;
    if (heap.length < this.settings.k) {
      heap.push({ item, count });
      this.#positions.set(item, heap.length - 1);
      this.#itemBytes += item.length;
      this.#rise(heap.length - 1);
      return undefined;
    }
    const least = heap[0] as Ranked;
    if (count < least.count) return undefined;
    this.#positions.delete(least.item);
    heap[0] = { item, count };
    this.#positions.set(item, 0);
    this.#itemBytes += item.length - least.item.length;
    this.#sink(0);
    return least.item;
  }

  /** Puts items of a stored heap, in its order. */
  restoreHeap(heap: readonly Ranked[]): void {
    this.#loading = undefined;
    this.#heap = heap.map(({ item, count }) => ({ item, count }));
    this.#positions = new Map(this.#heap.map(({ item }, position) => [item, position]));
    this.#itemBytes = this.#heap.reduce((sum, { item }) => sum + item.length, 0);
  }

  form(): SketchForm {
    const { k, width, depth, decay } = this.settings;
    const heap = this.#loading ?? encodeHeap(this.#heap);
    const words = [k, width, depth, decay, this.#chance, this.size, heap.length].map(String);
    return { words, parts: [bytesOfNumbers(this.cells), heap] };
  }

  clone(): TopK {
    const copy = new TopK(this.settings);
    copy.cells.set(this.cells);
    copy.restoreHeap(this.#ranked);
    copy.#chance = this.#chance;
    return copy;
  }

  keepState(undo: UndoRecorder): void {
    const heap = [...this.#ranked];
    const chance = this.#chance;
    undo.push(() => {
      this.#chance = chance;
      this.restoreHeap(heap);
    });
  }

  get #ranked(): Ranked[] {
    if (this.#loading !== undefined) this.restoreHeap(decodeHeap(this.#loading));
    return this.#heap;
  }

  #keepCount(ranked: Ranked): void {
    const { count } = ranked;
    this.undo?.push(() => {
      ranked.count = count;
    });
  }

  *#count(at: number, print: number, increment: number): Generator<void, void> {
    const { cells } = this;
    const [printBefore, countBefore] = [cells[at] as number, cells[at + 1] as number];
    this.undo?.push(() => {
      cells[at] = printBefore;
      cells[at + 1] = countBefore;
    });
    if (countBefore === 0 || printBefore === print) {
      cells[at] = print;
      cells[at + 1] = Math.min(MAX_COUNT, countBefore + increment);
      return;
    }
    let count = countBefore;
    for (let left = increment; left > 0; left -= 1) {
      const threshold = this.#thresholdOf(count);
      // Higher counts do not decay any more.
      if (threshold === 0) break;
      if (left % SLICE_CHANCES === 0) yield;
      if (this.#nextChance() >= threshold) continue;
      count -= 1;
      if (count > 0) continue;
      cells[at] = print;
      count = left;
      break;
    }
    cells[at + 1] = count;
  }

  #thresholdOf(count: number): number {
    const thresholds = this.#thresholds;
    for (let known = thresholds.length; known <= count; known += 1) {
      const next = known === 0 ? TWO_32 : Math.floor((thresholds[known - 1] as number) * this.settings.decay);
      if (next === 0) return 0;
      thresholds.push(next);
    }
    return thresholds[count] as number;
  }

  #nextChance(): number {
    let chance = this.#chance;
    chance ^= chance << 13;
    chance ^= chance >>> 17;
    chance ^= chance << 5;
    this.#chance = chance >>> 0;
    return this.#chance;
  }

  #cellOf(bytes: Uint8Array, row: number): number {
    return 2 * (row * this.settings.width + (murmur32(bytes, row) % this.settings.width));
  }

  #sink(from: number): void {
    const heap = this.#heap;
    for (let at = from; ; ) {
      const left = 2 * at + 1;
      if (left >= heap.length) return;
      const right = left + 1;
      const child = right < heap.length && this.#countAt(right) < this.#countAt(left) ? right : left;
      if (this.#countAt(child) >= this.#countAt(at)) return;
      this.#swap(at, child);
      at = child;
    }
  }

  #rise(from: number): void {
    for (let at = from; at > 0; ) {
      const parent = (at - 1) >>> 1;
      if (this.#countAt(parent) <= this.#countAt(at)) return;
      this.#swap(at, parent);
      at = parent;
    }
  }

  #countAt(position: number): number {
    return (this.#heap[position] as Ranked).count;
  }

  #swap(a: number, b: number): void {
    const [first, second] = [this.#heap[a] as Ranked, this.#heap[b] as Ranked];
    this.#heap[a] = second;
    this.#heap[b] = first;
    this.#positions.set(second.item, a);
    this.#positions.set(first.item, b);
  }
}

/** Count and length as 32 bits each, then the item. */
function encodeHeap(heap: readonly Ranked[]): Buffer {
  const pieces = heap.map(({ item, count }) => {
    const piece = Buffer.alloc(ITEM_HEADER_BYTES + item.length);
    piece.writeUInt32LE(count, 0);
    piece.writeUInt32LE(item.length, 4);
    piece.write(item, ITEM_HEADER_BYTES, 'latin1');
    return piece;
  });
  return Buffer.concat(pieces);
}

function decodeHeap(bytes: Buffer): Ranked[] {
  const heap: Ranked[] = [];
  for (let at = 0; at + ITEM_HEADER_BYTES <= bytes.length; ) {
    const end = at + ITEM_HEADER_BYTES + bytes.readUInt32LE(at + 4);
    heap.push({ count: bytes.readUInt32LE(at), item: bytes.toString('latin1', at + ITEM_HEADER_BYTES, end) });
    at = end;
  }
  return heap;
}
