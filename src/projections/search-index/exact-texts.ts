/**
 * Finds documents with exactly a given text, by a 53-bit hash: a list of short numbers instead of a second copy of
 * each text. Two texts with one hash would only rank a document too high, in the index of the client that made them.
 */

/** Longer lists keep removed ordinals until a sweep, because searching them would cost too much. */
const SEARCHED_LENGTH = 64;

export class ExactTexts {
  /** A single ordinal is stored without a list: most texts belong to one document. */
  readonly #ordinalsByHash = new Map<number, number | number[]>();

  add(text: string, ordinal: number): void {
    const hash = hashOf(text);
    const known = this.#ordinalsByHash.get(hash);
    if (known === undefined) this.#ordinalsByHash.set(hash, ordinal);
    else if (typeof known === 'number') this.#ordinalsByHash.set(hash, [known, ordinal]);
    else known.push(ordinal);
  }

  remove(text: string, ordinal: number): void {
    const hash = hashOf(text);
    const known = this.#ordinalsByHash.get(hash);
    if (known === ordinal) this.#ordinalsByHash.delete(hash);
    if (!Array.isArray(known) || known.length > SEARCHED_LENGTH) return;
    const at = known.lastIndexOf(ordinal);
    if (at < 0) return;
    // The order has no meaning.
    known[at] = known.at(-1) as number;
    known.pop();
    if (known.length === 0) this.#ordinalsByHash.delete(hash);
  }

  /** Drops these ordinals from all lists. Yields the texts and ordinals examined since the last yield. */
  *retire(isRetired: (ordinal: number) => boolean): Generator<number> {
    for (const [hash, known] of this.#ordinalsByHash) {
      if (!Array.isArray(known)) {
        yield 1;
        continue;
      }
      const kept = known.filter((ordinal) => !isRetired(ordinal));
      if (kept.length === 0) this.#ordinalsByHash.delete(hash);
      else if (kept.length < known.length) this.#ordinalsByHash.set(hash, kept);
      yield known.length;
    }
  }

  /** May include ordinals of removed documents. */
  ordinalsOf(text: string): readonly number[] {
    const known = this.#ordinalsByHash.get(hashOf(text));
    if (known === undefined) return [];
    return typeof known === 'number' ? [known] : known;
  }
}

const HIGH_BITS = 21;
const HIGH_SPAN = 2 ** 32;

/** Two 32-bit hashes combined into 53 bits, which a number holds exactly. */
function hashOf(text: string): number {
  let low = 0xdeadbeef;
  let high = 0x41c6ce57;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    low = Math.imul(low ^ code, 0x9e3779b1);
    high = Math.imul(high ^ code, 0x5f356495);
  }
  low = Math.imul(low ^ (low >>> 16), 0x85ebca6b) ^ Math.imul(high ^ (high >>> 13), 0xc2b2ae35);
  high = Math.imul(high ^ (high >>> 16), 0x85ebca6b) ^ Math.imul(low ^ (low >>> 13), 0xc2b2ae35);
  return ((high >>> 0) % 2 ** HIGH_BITS) * HIGH_SPAN + (low >>> 0);
}
