/** A binary heap of ordinals with distances; `sign` 1 has the nearest at its root, −1 the farthest. */
export class DistanceHeap {
  readonly #ordinals: number[] = [];
  readonly #keys: number[] = [];

  constructor(private readonly sign: 1 | -1) {}

  get size(): number {
    return this.#ordinals.length;
  }

  /** The distance at the root of a heap that is not empty. */
  get rootDistance(): number {
    return (this.#keys[0] as number) * this.sign;
  }

  push(ordinal: number, distance: number): void {
    const [ordinals, keys] = [this.#ordinals, this.#keys];
    const key = distance * this.sign;
    let at = ordinals.length;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if ((keys[parent] as number) <= key) break;
      ordinals[at] = ordinals[parent] as number;
      keys[at] = keys[parent] as number;
      at = parent;
    }
    ordinals[at] = ordinal;
    keys[at] = key;
  }

  /** Removes the root. @returns its ordinal */
  pop(): number {
    const [ordinals, keys] = [this.#ordinals, this.#keys];
    const root = ordinals[0] as number;
    const ordinal = ordinals.pop() as number;
    const key = keys.pop() as number;
    const { length } = ordinals;
    if (length === 0) return root;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= length) break;
      if (child + 1 < length && (keys[child + 1] as number) < (keys[child] as number)) child += 1;
      if ((keys[child] as number) >= key) break;
      ordinals[at] = ordinals[child] as number;
      keys[at] = keys[child] as number;
      at = child;
    }
    ordinals[at] = ordinal;
    keys[at] = key;
    return root;
  }

  /** Empties the heap. @returns its ordinals and distances, the root's first */
  drain(): Candidate[] {
    const drained: Candidate[] = [];
    while (this.size > 0) {
      const distance = this.rootDistance;
      drained.push({ ordinal: this.pop(), distance });
    }
    return drained;
  }
}

export interface Candidate {
  readonly ordinal: number;
  readonly distance: number;
}
