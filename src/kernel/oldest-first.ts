/**
 * The keys of a map or set from the oldest on, for those that lose their oldest and gain new ones. Reading such a map
 * from its beginning searches every place that was left, until it is built anew: at a million keys 0.2 ms each time.
 * This goes on where it was.
 */
export class OldestFirst<K> {
  #order: Iterator<K>;

  constructor(private readonly of: { keys(): Iterator<K> }) {
    this.#order = of.keys();
  }

  /** The next one, to be removed before the one after it is asked for; nothing of an empty map. */
  next(): K | undefined {
    const { done, value } = this.#order.next();
    if (done !== true) return value;
    this.#order = this.of.keys();
    return this.#order.next().value as K | undefined;
  }
}
