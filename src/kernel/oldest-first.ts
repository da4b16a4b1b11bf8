/**
 * Iterates over the keys of a map or set from the oldest on, while the oldest are removed and new ones added. A new
 * iterator would skip all removed places until the table is rebuilt, which takes 0.2 ms each time at a million keys;
 * this one continues where it stopped.
 */
export class OldestFirst<K> {
  #order: Iterator<K>;

  constructor(private readonly of: { keys(): Iterator<K> }) {
    this.#order = of.keys();
  }

  /** The next key, which must be removed before the following call; undefined for an empty map. */
  next(): K | undefined {
    const { done, value } = this.#order.next();
    if (done !== true) return value;
    this.#order = this.of.keys();
    return this.#order.next().value as K | undefined;
  }
}
