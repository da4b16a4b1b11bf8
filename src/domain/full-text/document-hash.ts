/**
 * A number of 53 bits for the contents of a document, by which a stored index is compared with the present keys. It is
 * the same in all releases: stored indexes have it.
 */
import type { Scalar } from './field-values.js';

const [FIRST, SECOND] = [0xdeadbeef, 0x41c6ce57];
const [FACTOR, OTHER_FACTOR] = [2654435761, 1597334677];

export class DocumentHash {
  #first = FIRST;
  #second = SECOND;

  add(text: string): void {
    let [first, second] = [this.#first, this.#second];
    for (let at = 0; at < text.length; at += 1) {
      const code = text.charCodeAt(at);
      first = Math.imul(first ^ code, FACTOR);
      second = Math.imul(second ^ code, OTHER_FACTOR);
    }
    // The end of each text counts.
    this.#first = Math.imul(first ^ 0x1_0000 ^ text.length, FACTOR);
    this.#second = Math.imul(second ^ 0x1_0001 ^ text.length, OTHER_FACTOR);
  }

  get value(): number {
    let [first, second] = [this.#first, this.#second];
    first = Math.imul(first ^ (first >>> 16), 2246822507) ^ Math.imul(second ^ (second >>> 13), 3266489909);
    second = Math.imul(second ^ (second >>> 16), 2246822507) ^ Math.imul(first ^ (first >>> 13), 3266489909);
    return 2 ** 32 * (second & 0x1f_ffff) + (first >>> 0);
  }
}

/** Of the values of the index's fields. */
export function hashOfValues(values: readonly (readonly Scalar[])[]): number {
  const hash = new DocumentHash();
  for (const [place, own] of values.entries()) {
    for (const value of own) hash.add(`${place}${typeof value}${String(value)}`);
  }
  return hash.value;
}
