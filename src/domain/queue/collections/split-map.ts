/**
 * A map split into 1,024 small Maps by the last characters of the key, which differ most in ids and digests. A single
 * Map of a million entries blocks the event loop for tens of milliseconds when it grows. Iteration order is by part,
 * then by insertion; a map rebuilt in that order iterates in the same order.
 */

/** At ten million entries a part has ten thousand, which grow in less than a millisecond. */
const PARTS = 1024;
const HASHED_CHARACTERS = 6;

export class SplitMap<K extends string, V> {
  readonly #parts: (Map<K, V> | undefined)[] = [];
  /** One empty Map for reuse: with few entries nearly every insertion creates a part and every deletion empties one. */
  #spare: Map<K, V> | undefined;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get(key: K): V | undefined {
    return this.#parts[partOf(key)]?.get(key);
  }

  has(key: K): boolean {
    return this.#parts[partOf(key)]?.has(key) === true;
  }

  /** @returns whether the key is new */
  set(key: K, value: V): boolean {
    const index = partOf(key);
    while (this.#parts.length <= index) this.#parts.push(undefined);
    let part = this.#parts[index];
    if (part === undefined) {
      part = this.#spare ?? new Map();
      this.#spare = undefined;
      this.#parts[index] = part;
    }
    const before = part.size;
    part.set(key, value);
    this.#size += part.size - before;
    return part.size > before;
  }

  delete(key: K): boolean {
    const index = partOf(key);
    const part = this.#parts[index];
    if (part === undefined || !part.delete(key)) return false;
    this.#size -= 1;
    if (part.size === 0) {
      this.#parts[index] = undefined;
      this.#spare = part;
    }
    return true;
  }

  /** Entries added or removed during the iteration may or may not be seen. */
  *values(): IterableIterator<V> {
    for (let index = 0; index < this.#parts.length; index += 1) {
      const part = this.#parts[index];
      if (part !== undefined) yield* part.values();
    }
  }

  /** The parts that have entries, in order. */
  *parts(): IterableIterator<ReadonlyMap<K, V>> {
    for (let index = 0; index < this.#parts.length; index += 1) {
      const part = this.#parts[index];
      if (part !== undefined) yield part;
    }
  }
}

function partOf(key: string): number {
  let hash = key.length;
  for (let at = Math.max(0, key.length - HASHED_CHARACTERS); at < key.length; at += 1) {
    hash = Math.imul(hash ^ key.charCodeAt(at), 0x9e3779b1);
  }
  return (hash ^ (hash >>> 15)) & (PARTS - 1);
}
