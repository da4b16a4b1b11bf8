/** The best so many of all slots: a heap whose root is the worst that is kept. Equal scores are in order of id. */

export class BestSlots {
  readonly #slots: number[] = [];

  constructor(
    private readonly most: number,
    private readonly scoreOf: (slot: number) => number,
    private readonly idOf: (slot: number) => string,
  ) {}

  get size(): number {
    return this.#slots.length;
  }

  /** Score below which nothing is kept any more. */
  get floor(): number {
    return this.#slots.length < this.most ? Number.NEGATIVE_INFINITY : this.scoreOf(this.#slots[0] as number);
  }

  offer(slot: number): void {
    const slots = this.#slots;
    if (slots.length < this.most) {
      slots.push(slot);
      this.#up(slots.length - 1);
    } else if (this.#isWorse(slots[0] as number, slot)) {
      slots[0] = slot;
      this.#down();
    }
  }

  /** The best first. */
  sorted(): number[] {
    return [...this.#slots].sort((a, b) => (this.#isWorse(a, b) ? 1 : -1));
  }

  #isWorse(a: number, b: number): boolean {
    const difference = this.scoreOf(a) - this.scoreOf(b);
    return difference === 0 ? this.idOf(a) > this.idOf(b) : difference < 0;
  }

  #up(from: number): void {
    const slots = this.#slots;
    for (let at = from; at > 0; ) {
      const parent = (at - 1) >> 1;
      if (!this.#isWorse(slots[at] as number, slots[parent] as number)) return;
      this.#swap(at, parent);
      at = parent;
    }
  }

  #down(): void {
    const slots = this.#slots;
    for (let at = 0; ; ) {
      const left = 2 * at + 1;
      if (left >= slots.length) return;
      const right = left + 1;
      const isRight = right < slots.length && this.#isWorse(slots[right] as number, slots[left] as number);
      const worst = isRight ? right : left;
      if (!this.#isWorse(slots[worst] as number, slots[at] as number)) return;
      this.#swap(at, worst);
      at = worst;
    }
  }

  #swap(a: number, b: number): void {
    const slots = this.#slots;
    [slots[a], slots[b]] = [slots[b] as number, slots[a] as number];
  }
}
