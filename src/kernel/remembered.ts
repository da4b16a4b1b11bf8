/** A map of what can be found again at any time: when it is full it forgets all of it, and takes the next. */
export class Remembered<Key, Value> extends Map<Key, Value> {
  constructor(private readonly max: number) {
    super();
  }

  override set(key: Key, value: Value): this {
    if (this.size >= this.max && !this.has(key)) this.clear();
    return super.set(key, value);
  }

  /** As it is remembered, or else as it is found, and remembered from then on. */
  of(key: Key, find: (key: Key) => Value): Value {
    const known = this.get(key);
    if (known !== undefined) return known;
    const found = find(key);
    this.set(key, found);
    return found;
  }
}
