/**
 * How many things refer to each body: a bit for a body that has one reference, an entry of a map for more. Messages
 * of a group, ticks of a schedule and DLQ retries share bodies.
 */
import { assert } from '../../../kernel/index.js';

/** Bodies of a chunk: its bits lie in one small array, which goes when none is set. */
const CHUNK = 512;

interface Chunk {
  readonly bits: Uint32Array;
  count: number;
}

export class BodyReferences {
  readonly #chunks = new Map<number, Chunk>();
  /** It has those that have more than one. */
  readonly #counts = new Map<number, number>();

  isNeeded(number: number): boolean {
    const chunk = this.#chunks.get(Math.floor(number / CHUNK));
    return chunk !== undefined && isSet(chunk, number % CHUNK);
  }

  /** Is it referred to more than once? */
  isShared(number: number): boolean {
    return this.#counts.has(number);
  }

  /** Body 0 is the empty one, which is nowhere. @returns whether this is the first one */
  add(number: number): boolean {
    if (number === 0) return false;
    const key = Math.floor(number / CHUNK);
    let chunk = this.#chunks.get(key);
    if (chunk === undefined) {
      chunk = { bits: new Uint32Array(CHUNK / 32), count: 0 };
      this.#chunks.set(key, chunk);
    }
    const bit = number % CHUNK;
    if (isSet(chunk, bit)) {
      this.#counts.set(number, (this.#counts.get(number) ?? 1) + 1);
      return false;
    }
    chunk.bits[bit >>> 5] = (chunk.bits[bit >>> 5] as number) | (1 << (bit & 31));
    chunk.count += 1;
    return true;
  }

  /** @returns whether that was the last one */
  remove(number: number): boolean {
    if (number === 0) return false;
    const count = this.#counts.get(number);
    if (count !== undefined) {
      if (count === 2) this.#counts.delete(number);
      else this.#counts.set(number, count - 1);
      return false;
    }
    const key = Math.floor(number / CHUNK);
    const chunk = this.#chunks.get(key);
    const bit = number % CHUNK;
    assert(chunk !== undefined && isSet(chunk, bit), 'a body that nothing refers to loses a reference', { number });
    chunk.bits[bit >>> 5] = (chunk.bits[bit >>> 5] as number) & ~(1 << (bit & 31));
    chunk.count -= 1;
    if (chunk.count === 0) this.#chunks.delete(key);
    return true;
  }
}

function isSet(chunk: Chunk, bit: number): boolean {
  return ((chunk.bits[bit >>> 5] as number) & (1 << (bit & 31))) !== 0;
}
