/** A cache with a bound: a map that is emptied when one more entry would exceed `max`. */
export class BoundedCache<Key, Value> extends Map<Key, Value> {
  constructor(private readonly max: number) {
    super();
  }

  override set(key: Key, value: Value): this {
    if (this.size >= this.max && !this.has(key)) this.clear();
    return super.set(key, value);
  }
}
