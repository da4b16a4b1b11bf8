/** Keeps the first `count` of all offered items in an order: one page of a list that is not stored in that order. */
export class TopN<T> {
  readonly items: T[] = [];
  /** More items were offered than fit. */
  hasMore = false;

  /** @param compare negative: the first argument comes earlier; 0: both are the same item */
  constructor(
    private readonly count: number,
    private readonly compare: (a: T, b: T) => number,
  ) {}

  /** An item that is already kept is ignored. */
  offer(item: T): void {
    const { items } = this;
    const last = items[this.count - 1];
    if (last !== undefined) {
      const rank = this.compare(last, item);
      if (rank < 0) this.hasMore = true;
      if (rank <= 0) return;
    }
    let at = items.length;
    while (at > 0 && this.compare(items[at - 1] as T, item) > 0) at -= 1;
    if (at > 0 && this.compare(items[at - 1] as T, item) === 0) return;
    items.splice(at, 0, item);
    if (items.length <= this.count) return;
    items.pop();
    this.hasMore = true;
  }
}
