/** A binary heap with items that know their index, so that any item can be removed in logarithmic time. */
export interface HeapItem {
  /** Index in the one heap that contains the item; -1: in none. */
  heapIndex: number;
}

export class IndexedHeap<T extends HeapItem> {
  readonly #items: T[] = [];

  /** @param isBefore must be a total order, so that equal histories give equal orders */
  constructor(private readonly isBefore: (a: T, b: T) => boolean) {}

  get size(): number {
    return this.#items.length;
  }

  get top(): T | undefined {
    return this.#items[0];
  }

  push(item: T): void {
    this.#items.push(item);
    this.#rise(item, this.#items.length - 1);
  }

  pop(): T | undefined {
    const top = this.#items[0];
    if (top !== undefined) this.delete(top);
    return top;
  }

  /** The item must be in this heap. */
  delete(item: T): void {
    const index = item.heapIndex;
    const last = this.#items.pop() as T;
    item.heapIndex = -1;
    if (last === item) return;
    const parent = (index - 1) >> 1;
    if (index > 0 && this.isBefore(last, this.#items[parent] as T)) this.#rise(last, index);
    else this.#sink(last, index);
  }

  #rise(item: T, from: number): void {
    const items = this.#items;
    let index = from;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      const above = items[parent] as T;
      if (!this.isBefore(item, above)) break;
      items[index] = above;
      above.heapIndex = index;
      index = parent;
    }
    items[index] = item;
    item.heapIndex = index;
  }

  #sink(item: T, from: number): void {
    const items = this.#items;
    const size = items.length;
    let index = from;
    for (;;) {
      let child = 2 * index + 1;
      if (child >= size) break;
      if (child + 1 < size && this.isBefore(items[child + 1] as T, items[child] as T)) child += 1;
      const below = items[child] as T;
      if (!this.isBefore(below, item)) break;
      items[index] = below;
      below.heapIndex = index;
      index = child;
    }
    items[index] = item;
    item.heapIndex = index;
  }
}
