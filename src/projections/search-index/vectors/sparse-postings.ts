/**
 * Sparse vectors by dimension: the ordinals that have it, with their numbers. A removed ordinal stays in the lists until
 * a sweep, and is not used again before.
 */
import type { SparseVector } from '../../../domain/search/index.js';
import { getOrCreate } from '../../../kernel/index.js';

const FIRST_LENGTH = 4;

export class SparsePostings {
  readonly #byDimension = new Map<number, Posting>();

  posting(dimension: number): Posting | undefined {
    return this.#byDimension.get(dimension);
  }

  add(ordinal: number, { indices, values }: SparseVector): void {
    indices.forEach((dimension, at) => {
      getOrCreate(this.#byDimension, dimension, () => new Posting()).add(ordinal, values[at] as number);
    });
  }

  remove({ indices }: SparseVector): void {
    for (const dimension of indices) {
      const posting = this.#byDimension.get(dimension);
      if (posting !== undefined) posting.vectors -= 1;
    }
  }

  /** Yields the number of ordinals that were looked at. */
  *retire(isRetired: (ordinal: number) => boolean): Generator<number> {
    for (const [dimension, posting] of this.#byDimension) {
      const looked = posting.length;
      posting.retire(isRetired);
      if (posting.length === 0) this.#byDimension.delete(dimension);
      yield looked;
    }
  }
}

class Posting {
  /** Existing vectors with this dimension. */
  vectors = 0;
  #length = 0;
  #ordinals = new Uint32Array(FIRST_LENGTH);
  #values = new Float32Array(FIRST_LENGTH);

  /** Entries, those of removed ordinals included. */
  get length(): number {
    return this.#length;
  }

  ordinalAt(at: number): number {
    return this.#ordinals[at] as number;
  }

  valueAt(at: number): number {
    return this.#values[at] as number;
  }

  add(ordinal: number, value: number): void {
    if (this.#length === this.#ordinals.length) {
      this.#ordinals = doubled(this.#ordinals, new Uint32Array(2 * this.#length));
      this.#values = doubled(this.#values, new Float32Array(2 * this.#length));
    }
    this.#ordinals[this.#length] = ordinal;
    this.#values[this.#length] = value;
    this.#length += 1;
    this.vectors += 1;
  }

  retire(isRetired: (ordinal: number) => boolean): void {
    let kept = 0;
    for (let at = 0; at < this.#length; at += 1) {
      const ordinal = this.ordinalAt(at);
      if (isRetired(ordinal)) continue;
      this.#ordinals[kept] = ordinal;
      this.#values[kept] = this.valueAt(at);
      kept += 1;
    }
    this.#length = kept;
  }
}

function doubled<A extends Uint32Array | Float32Array>(array: A, larger: A): A {
  larger.set(array);
  return larger;
}
