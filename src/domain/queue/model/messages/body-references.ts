/**
 * Reference counts of bodies: one bit for the first reference, one for the second, a map entry for more. A waiting
 * step has two references, from its message and its run; messages of a group and ticks of a schedule share bodies.
 */
import { assert } from '../../../../kernel/index.js';

/** Bodies per chunk: the bits are in one small array, which is dropped when none is set. */
const CHUNK = 512;

interface Chunk {
  /** Two bits per body; the second is set only together with the first. */
  readonly bits: Uint32Array;
  count: number;
}

export class BodyReferences {
  readonly #chunks = new Map<number, Chunk>();
  /** Bodies with more than two references: the number beyond two. */
  readonly #beyond = new Map<number, number>();

  isNeeded(number: number): boolean {
    const chunk = this.#chunks.get(Math.floor(number / CHUNK));
    return chunk !== undefined && isSet(chunk, firstOf(number));
  }

  /** Whether the body has more than one reference. */
  isShared(number: number): boolean {
    const chunk = this.#chunks.get(Math.floor(number / CHUNK));
    return chunk !== undefined && isSet(chunk, firstOf(number) + 1);
  }

  /**
   * Body 0 is empty and has no references.
   * @returns whether this is the first reference
   */
  add(number: number): boolean {
    if (number === 0) return false;
    const key = Math.floor(number / CHUNK);
    let chunk = this.#chunks.get(key);
    if (chunk === undefined) {
      chunk = { bits: new Uint32Array((2 * CHUNK) / 32), count: 0 };
      this.#chunks.set(key, chunk);
    }
    const first = firstOf(number);
    if (!isSet(chunk, first)) {
      flip(chunk, first);
      chunk.count += 1;
      return true;
    }
    if (!isSet(chunk, first + 1)) flip(chunk, first + 1);
    else this.#beyond.set(number, (this.#beyond.get(number) ?? 0) + 1);
    return false;
  }

  /** @returns whether this was the last reference */
  remove(number: number): boolean {
    if (number === 0) return false;
    const beyond = this.#beyond.get(number);
    if (beyond !== undefined) {
      if (beyond === 1) this.#beyond.delete(number);
      else this.#beyond.set(number, beyond - 1);
      return false;
    }
    const key = Math.floor(number / CHUNK);
    const chunk = this.#chunks.get(key);
    const first = firstOf(number);
    assert(chunk !== undefined && isSet(chunk, first), 'a body that nothing refers to loses a reference', { number });
    if (isSet(chunk, first + 1)) {
      flip(chunk, first + 1);
      return false;
    }
    flip(chunk, first);
    chunk.count -= 1;
    if (chunk.count === 0) this.#chunks.delete(key);
    return true;
  }
}

/** The bit of the first reference within its chunk; the next bit is that of the second. */
function firstOf(number: number): number {
  return 2 * (number % CHUNK);
}

function isSet(chunk: Chunk, bit: number): boolean {
  return ((chunk.bits[bit >>> 5] as number) & (1 << (bit & 31))) !== 0;
}

function flip(chunk: Chunk, bit: number): void {
  chunk.bits[bit >>> 5] = (chunk.bits[bit >>> 5] as number) ^ (1 << (bit & 31));
}
