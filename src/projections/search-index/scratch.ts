/**
 * Reusable arrays with one element per ordinal: allocating and clearing new ones for each query would take a good
 * part of its time.
 */

/** All by ordinal. */
export interface Scratch {
  /** Zeroed before use. */
  readonly keywords: Float32Array;
  readonly counted: Uint32Array;
  /** Contain values of earlier queries. */
  readonly likeness: Float32Array;
  readonly scores: Float64Array;
}

/** More are made for more concurrent queries and dropped afterwards. */
const KEPT = 2;
/** Spare room, so that a growing index does not need new arrays each time. */
const SPARE = 1.25;

export class ScratchPool {
  readonly #free: Scratch[] = [];

  /** Runs `use` with arrays of exactly this length, which it owns until it ends. */
  *lend<T>(ordinals: number, use: (scratch: Scratch) => Generator<void, T>): Generator<void, T> {
    const kept = this.#free.pop();
    const whole = kept !== undefined && kept.scores.length >= ordinals ? kept : made(Math.ceil(ordinals * SPARE));
    const scratch = {
      keywords: whole.keywords.subarray(0, ordinals).fill(0),
      counted: whole.counted.subarray(0, ordinals).fill(0),
      likeness: whole.likeness.subarray(0, ordinals),
      scores: whole.scores.subarray(0, ordinals),
    };
    const result = yield* use(scratch);
    if (this.#free.length < KEPT) this.#free.push(whole);
    return result;
  }
}

function made(length: number): Scratch {
  return {
    keywords: new Float32Array(length),
    counted: new Uint32Array(length),
    likeness: new Float32Array(length),
    scores: new Float64Array(length),
  };
}
