/** Keeps the best `most` ordinals: a heap with the worst kept one at its root. Equal scores are ordered by id. */

export class BestDocuments {
  readonly #ordinals: number[] = [];

  constructor(
    private readonly most: number,
    private readonly scoreOf: (ordinal: number) => number,
    private readonly idOf: (ordinal: number) => string,
  ) {}

  get size(): number {
    return this.#ordinals.length;
  }

  /** Documents with a lower score are not kept. */
  get floor(): number {
    return this.#ordinals.length < this.most ? Number.NEGATIVE_INFINITY : this.scoreOf(this.#ordinals[0] as number);
  }

  offer(ordinal: number): void {
    const ordinals = this.#ordinals;
    if (ordinals.length < this.most) {
      ordinals.push(ordinal);
      this.#up(ordinals.length - 1);
    } else if (this.#isWorse(ordinals[0] as number, ordinal)) {
      ordinals[0] = ordinal;
      this.#down();
    }
  }

  /** Best first. */
  sorted(): number[] {
    return [...this.#ordinals].sort((a, b) => (this.#isWorse(a, b) ? 1 : -1));
  }

  #isWorse(a: number, b: number): boolean {
    const difference = this.scoreOf(a) - this.scoreOf(b);
    return difference === 0 ? this.idOf(a) > this.idOf(b) : difference < 0;
  }

  #up(from: number): void {
    const ordinals = this.#ordinals;
    for (let at = from; at > 0; ) {
      const parent = (at - 1) >> 1;
      if (!this.#isWorse(ordinals[at] as number, ordinals[parent] as number)) return;
      this.#swap(at, parent);
      at = parent;
    }
  }

  #down(): void {
    const ordinals = this.#ordinals;
    for (let at = 0; ; ) {
      const left = 2 * at + 1;
      if (left >= ordinals.length) return;
      const right = left + 1;
      const isRight = right < ordinals.length && this.#isWorse(ordinals[right] as number, ordinals[left] as number);
      const worst = isRight ? right : left;
      if (!this.#isWorse(ordinals[worst] as number, ordinals[at] as number)) return;
      this.#swap(at, worst);
      at = worst;
    }
  }

  #swap(a: number, b: number): void {
    const ordinals = this.#ordinals;
    [ordinals[a], ordinals[b]] = [ordinals[b] as number, ordinals[a] as number];
  }
}
