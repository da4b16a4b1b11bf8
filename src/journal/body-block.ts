/** Bodies of one partition that are stored together, in a body segment or one entry; found by number. */
import type { BodyIndex } from '../codec/envelope/index.js';

/** The memory of an index and a block in addition to their bytes. */
const OVERHEAD_BYTES = 256;

export class BodyBlock {
  constructor(
    readonly index: BodyIndex,
    readonly contents: Uint8Array,
  ) {}

  /** @param bodies  in any order; copied */
  static of(bodies: readonly (readonly [number: number, content: Uint8Array])[]): BodyBlock {
    const sorted = bodies.every(([number], i) => i === 0 || number > (bodies[i - 1]?.[0] ?? 0))
      ? bodies
      : [...bodies].sort(([a], [b]) => a - b);
    const numbers = new Float64Array(sorted.length);
    const ends = new Uint32Array(sorted.length);
    const contents = new Uint8Array(sorted.reduce((sum, [, content]) => sum + content.length, 0));
    let end = 0;
    for (const [i, [number, content]] of sorted.entries()) {
      contents.set(content, end);
      end += content.length;
      numbers[i] = number;
      ends[i] = end;
    }
    return new BodyBlock({ numbers, ends }, contents);
  }

  /** A copy, so that one body does not keep its neighbours in memory. */
  find(number: number): Uint8Array | undefined {
    const at = placeIn(this.index, number);
    return at === undefined ? undefined : new Uint8Array(this.#viewAt(at));
  }

  /** In order of number, as views. */
  *[Symbol.iterator](): IterableIterator<readonly [number: number, content: Uint8Array]> {
    for (let i = 0; i < this.index.numbers.length; i += 1) yield [this.index.numbers[i] as number, this.#viewAt(i)];
  }

  /** The memory that the block takes. */
  get bytes(): number {
    return this.contents.length + bytesOfIndex(this.index);
  }

  #viewAt(i: number): Uint8Array {
    const { ends } = this.index;
    return this.contents.subarray(i === 0 ? 0 : ends[i - 1], ends[i]);
  }
}

export function bytesOfIndex({ numbers, ends }: BodyIndex): number {
  return numbers.byteLength + ends.byteLength + OVERHEAD_BYTES;
}

/** The place of the number in the index. */
export function placeIn({ numbers }: BodyIndex, number: number): number | undefined {
  let low = 0;
  let high = numbers.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((numbers[middle] as number) < number) low = middle + 1;
    else high = middle;
  }
  return numbers[low] === number ? low : undefined;
}
