/** The first few of all that are offered, in an order: a page of a list that nothing keeps in that order. */
export class FirstOf<T> {
  readonly items: T[] = [];
  /** More were offered than there is room for. */
  hasMore = false;

  /** @param compare below 0: the first one comes earlier; 0: they are the same one */
  constructor(
    private readonly count: number,
    private readonly compare: (a: T, b: T) => number,
  ) {}

  /** The same one may be offered again. */
  offer(item: T): void {
    const { items } = this;
    let at = items.length;
    while (at > 0 && this.compare(items[at - 1] as T, item) > 0) at -= 1;
    if (at > 0 && this.compare(items[at - 1] as T, item) === 0) return;
    items.splice(at, 0, item);
    if (items.length <= this.count) return;
    items.pop();
    this.hasMore = true;
  }
}
