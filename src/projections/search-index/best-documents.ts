/** Keeps the best ordinals. Equal scores are ordered by id. */
import { FirstItems } from '../../domain/search/index.js';

export class BestDocuments {
  readonly #first: FirstItems<number>;

  constructor(
    most: number,
    private readonly scoreOf: (ordinal: number) => number,
    idOf: (ordinal: number) => string,
  ) {
    this.#first = new FirstItems(most, (a, b) => scoreOf(b) - scoreOf(a) || (idOf(a) < idOf(b) ? -1 : 1));
  }

  get size(): number {
    return this.#first.size;
  }

  /** Documents with a lower score are not kept. */
  get floor(): number {
    const { isFull, last } = this.#first;
    return isFull && last !== undefined ? this.scoreOf(last) : Number.NEGATIVE_INFINITY;
  }

  offer(ordinal: number): void {
    this.#first.offer(ordinal);
  }

  /** Best first. */
  sorted(): number[] {
    return this.#first.inOrder();
  }
}
