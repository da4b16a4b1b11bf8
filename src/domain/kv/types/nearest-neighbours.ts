/**
 * The nearest of many vectors. A heap has the farthest of those kept at its root, so that an addition stays fast when
 * all vectors of a large key are wanted.
 */
import type { ByteString } from '../../../kernel/index.js';
import { mergeSorted } from '../slices.js';

export interface Neighbour {
  readonly name: ByteString;
  /** Higher is nearer. The cosine, the product, or the squared distance below zero. */
  readonly closeness: number;
}

/** Nearest first, then by name. */
export function compareNeighbours(a: Neighbour, b: Neighbour): number {
  return b.closeness - a.closeness || (a.name < b.name ? -1 : a.name > b.name ? 1 : 0);
}

export class NearestNeighbours {
  readonly #heap: Neighbour[] = [];

  /** @param most neighbours that are kept */
  constructor(private readonly most: number) {}

  /** Whether the candidate would be kept. */
  wants(candidate: Neighbour): boolean {
    const [farthest] = this.#heap;
    if (this.#heap.length < this.most) return true;
    return farthest !== undefined && compareNeighbours(candidate, farthest) < 0;
  }

  /** @param candidate one that is wanted */
  add(candidate: Neighbour): void {
    if (this.#heap.length < this.most) this.#rise(candidate);
    else this.#sink(candidate);
  }

  /** In slices. */
  *inOrder(): Generator<void, Neighbour[]> {
    return yield* mergeSorted(this.#heap, compareNeighbours);
  }

  #rise(added: Neighbour): void {
    const heap = this.#heap;
    let at = heap.length;
    while (at > 0) {
      const above = (at - 1) >>> 1;
      const parent = heap[above] as Neighbour;
      if (compareNeighbours(added, parent) <= 0) break;
      heap[at] = parent;
      at = above;
    }
    heap[at] = added;
  }

  /** In place of the root. */
  #sink(added: Neighbour): void {
    const heap = this.#heap;
    let at = 0;
    for (;;) {
      let below = 2 * at + 1;
      if (below >= heap.length) break;
      const right = heap[below + 1];
      if (right !== undefined && compareNeighbours(right, heap[below] as Neighbour) > 0) below += 1;
      const child = heap[below] as Neighbour;
      if (compareNeighbours(child, added) <= 0) break;
      heap[at] = child;
      at = below;
    }
    heap[at] = added;
  }
}
