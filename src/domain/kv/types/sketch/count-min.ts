/** A Count-Min sketch: rows of counters of 32 bits; the lowest counter of an item is an upper bound of its count. */
import type { ByteString } from '../../../../kernel/index.js';
import type { UndoRecorder } from '../../value.js';
import { murmur32 } from './murmur32.js';
import { bytesOfNumbers, Sketch, type SketchForm } from './sketch.js';

const OVERHEAD_BYTES = 150;
export const MAX_COUNTER = 0xffff_ffff;
const SLICE_CELLS = 50_000;

export class CountMinSketch extends Sketch {
  readonly kind = 'CMSk-TYPE';
  readonly cells: Uint32Array;
  /** The sum of all increments. */
  count = 0n;

  constructor(
    readonly width: number,
    readonly depth: number,
  ) {
    super();
    this.cells = new Uint32Array(width * depth);
  }

  static bytesToReserve(width: number, depth: number): number {
    return width * depth * Uint32Array.BYTES_PER_ELEMENT;
  }

  static fromWords([width, depth, count = '0']: readonly ByteString[]): CountMinSketch {
    const sketch = new CountMinSketch(Number(width), Number(depth));
    sketch.count = BigInt(count);
    return sketch;
  }

  get size(): number {
    return Number(this.count);
  }

  get bytes(): number {
    return OVERHEAD_BYTES + this.cells.byteLength;
  }

  /** @returns the new upper bound; MAX_COUNTER: a counter has reached its end */
  add(item: Uint8Array, increment: bigint): number {
    const before: number[] = [];
    let least = MAX_COUNTER;
    for (let row = 0; row < this.depth; row += 1) {
      const at = this.#cellOf(item, row);
      const cell = this.cells[at] as number;
      const sum = BigInt(cell) + increment;
      const counted = sum > BigInt(MAX_COUNTER) ? MAX_COUNTER : Number(sum);
      this.cells[at] = counted;
      before.push(at, cell);
      if (counted < least) least = counted;
    }
    this.count += increment;
    this.undo?.push(() => {
      for (let i = 0; i < before.length; i += 2) this.cells[before[i] as number] = before[i + 1] as number;
    }, 8 * before.length);
    return least;
  }

  /** The upper bound of the item's count. */
  of(item: Uint8Array): number {
    let least = MAX_COUNTER;
    for (let row = 0; row < this.depth; row += 1)
      least = Math.min(least, this.cells[this.#cellOf(item, row)] as number);
    return least;
  }

  /** Takes the weighted sum of others of the same shape. @returns false when a counter would leave its range */
  *sumUp(sources: readonly { readonly sketch: CountMinSketch; readonly weight: bigint }[]): Generator<void, boolean> {
    const weights = sources.map(({ weight }) => Number(weight));
    if (weights.some((weight) => !Number.isSafeInteger(weight))) return false;
    for (let at = 0; at < this.cells.length; at += 1) {
      let sum = 0;
      for (const [i, { sketch }] of sources.entries()) sum += (sketch.cells[at] as number) * (weights[i] as number);
      if (sum < 0 || sum > MAX_COUNTER) return false;
      this.cells[at] = sum;
      if (at % SLICE_CELLS === SLICE_CELLS - 1) yield;
    }
    this.count = sources.reduce((total, { sketch, weight }) => total + sketch.count * weight, 0n);
    return this.count >= 0n;
  }

  form(): SketchForm {
    const words = [String(this.width), String(this.depth), String(this.count)];
    return { words, parts: [bytesOfNumbers(this.cells)] };
  }

  clone(): CountMinSketch {
    const copy = new CountMinSketch(this.width, this.depth);
    copy.cells.set(this.cells);
    copy.count = this.count;
    return copy;
  }

  keepState(undo: UndoRecorder): void {
    const { count } = this;
    undo.push(() => {
      this.count = count;
    });
  }

  #cellOf(item: Uint8Array, row: number): number {
    return row * this.width + (murmur32(item, row) % this.width);
  }
}
