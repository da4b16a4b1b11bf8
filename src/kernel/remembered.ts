/** A map of what can be found again at any time: when it is full it forgets all of it, and takes the next. */
export class Remembered<Key, Value> extends Map<Key, Value> {
  constructor(private readonly max: number) {
    super();
  }

  override set(key: Key, value: Value): this {
    if (this.size >= this.max && !this.has(key)) this.clear();
    return super.set(key, value);
  }
}
