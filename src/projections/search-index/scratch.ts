/**
 * Arrays as long as an index has ordinals, for one query after another: to make and clear new ones for each would take a
 * good part of a query's time.
 */

/** All by ordinal. */
export interface Scratch {
  /** Zeros when they are taken. */
  readonly keywords: Float32Array;
  readonly counted: Uint32Array;
  /** Whatever a query before has left. */
  readonly likeness: Float32Array;
  readonly scores: Float64Array;
}

/** More are made where more queries are under way, and dropped afterwards. */
const KEPT = 2;
/** An index that grows does not need others each time. */
const SPARE = 1.25;

export class ScratchPool {
  readonly #free: Scratch[] = [];

  /** Runs `use` with arrays of exactly this length; they are its own until it ends. */
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
