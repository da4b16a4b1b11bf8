/** Keeps the first items of an order, without sorting all: a heap with the last of the kept items at its top. */
export class FirstItems<T> {
  readonly #heap: T[] = [];

  /** @param before negative if the first argument comes before the second; never 0 */
  constructor(
    private readonly most: number,
    private readonly before: (one: T, other: T) => number,
  ) {}

  get size(): number {
    return this.#heap.length;
  }

  get isFull(): boolean {
    return this.#heap.length >= this.most;
  }

  /** The last of the kept items. */
  get last(): T | undefined {
    return this.#heap[0];
  }

  offer(item: T): void {
    const heap = this.#heap;
    if (!this.isFull) {
      heap.push(item);
      this.#rise();
    } else if (this.most > 0 && this.before(item, heap[0] as T) < 0) {
      heap[0] = item;
      this.#sink();
    }
  }

  /** The kept items in their order. */
  inOrder(): T[] {
    return [...this.#heap].sort(this.before);
  }

  #rise(): void {
    const heap = this.#heap;
    let at = heap.length - 1;
    while (at > 0) {
      const above = (at - 1) >>> 1;
      if (this.before(heap[at] as T, heap[above] as T) <= 0) return;
      [heap[at], heap[above]] = [heap[above] as T, heap[at] as T];
      at = above;
    }
  }

  #sink(): void {
    const heap = this.#heap;
    let at = 0;
    for (;;) {
      const left = 2 * at + 1;
      const right = left + 1;
      let last = at;
      if (left < heap.length && this.before(heap[left] as T, heap[last] as T) > 0) last = left;
      if (right < heap.length && this.before(heap[right] as T, heap[last] as T) > 0) last = right;
      if (last === at) return;
      [heap[at], heap[last]] = [heap[last] as T, heap[at] as T];
      at = last;
    }
  }
}
