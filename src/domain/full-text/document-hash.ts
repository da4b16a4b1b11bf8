/**
 * A number of 53 bits for the contents of a document, by which a stored index is compared with the present keys. It is
 * the same in all releases: stored indexes have it.
 */
import type { Scalar } from './field-values.js';
import { SLICE_ADDED_WORDS, SLICE_CHARACTERS } from './limits.js';

const [FIRST, SECOND] = [0xdeadbeef, 0x41c6ce57];
const [FACTOR, OTHER_FACTOR] = [2654435761, 1597334677];

export class DocumentHash {
  #first = FIRST;
  #second = SECOND;

  *add(text: string): Generator<void, void> {
    for (let from = 0; from < text.length; from += SLICE_CHARACTERS) {
      this.#addPart(text, from, Math.min(text.length, from + SLICE_CHARACTERS));
      if (from + SLICE_CHARACTERS < text.length) yield;
    }
    // The end of each text counts.
    this.#first = Math.imul(this.#first ^ 0x1_0000 ^ text.length, FACTOR);
    this.#second = Math.imul(this.#second ^ 0x1_0001 ^ text.length, OTHER_FACTOR);
  }

  #addPart(text: string, from: number, to: number): void {
    let [first, second] = [this.#first, this.#second];
    for (let at = from; at < to; at += 1) {
      const code = text.charCodeAt(at);
      first = Math.imul(first ^ code, FACTOR);
      second = Math.imul(second ^ code, OTHER_FACTOR);
    }
    this.#first = first;
    this.#second = second;
  }

  get value(): number {
    let [first, second] = [this.#first, this.#second];
    first = Math.imul(first ^ (first >>> 16), 2246822507) ^ Math.imul(second ^ (second >>> 13), 3266489909);
    second = Math.imul(second ^ (second >>> 16), 2246822507) ^ Math.imul(first ^ (first >>> 13), 3266489909);
    return 2 ** 32 * (second & 0x1f_ffff) + (first >>> 0);
  }
}

/** Of the values of the index's fields, in slices. Fields with the same source have the same list, which counts once. */
export function* hashOfValues(values: readonly (readonly Scalar[])[]): Generator<void, number> {
  const hash = new DocumentHash();
  const known = new Set<readonly Scalar[]>();
  let done = 0;
  for (const [place, own] of values.entries()) {
    if (own.length === 0 || known.has(own)) continue;
    known.add(own);
    for (const value of own) {
      yield* hash.add(`${place}${typeof value}${String(value)}`);
      done += 1;
      if (done % SLICE_ADDED_WORDS === 0) yield;
    }
  }
  return hash.value;
}
