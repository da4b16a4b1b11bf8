/** Dense vectors by ordinal, in arrays of about a megabyte, so that growing copies no numbers. */
import { type StoredNumbers, squaredLength } from '../../../domain/search/index.js';

const BLOCK_NUMBERS = 2 ** 18;

export class DenseBlocks {
  readonly #blocks: Float32Array[] = [];
  readonly #squared: Float64Array[] = [];
  readonly #perBlock: number;

  constructor(private readonly dimension: number) {
    this.#perBlock = Math.max(1, Math.floor(BLOCK_NUMBERS / dimension));
  }

  set(ordinal: number, vector: Float32Array): void {
    const [block, at] = this.#place(ordinal);
    while (this.#blocks.length <= block) {
      this.#blocks.push(new Float32Array(this.#perBlock * this.dimension));
      this.#squared.push(new Float64Array(this.#perBlock));
    }
    (this.#blocks[block] as Float32Array).set(vector, at * this.dimension);
    (this.#squared[block] as Float64Array)[at] = squaredLength(vector);
  }

  /** Of an ordinal that was set. */
  at(ordinal: number): StoredNumbers {
    const [block, at] = this.#place(ordinal);
    return {
      numbers: this.#blocks[block] as Float32Array,
      from: at * this.dimension,
      squared: (this.#squared[block] as Float64Array)[at] as number,
    };
  }

  #place(ordinal: number): readonly [block: number, at: number] {
    return [Math.floor(ordinal / this.#perBlock), ordinal % this.#perBlock];
  }
}
