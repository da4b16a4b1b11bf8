/**
 * The links of a graph's nodes by level: those of level 0 in arrays of a thousand nodes, those of the few nodes above in
 * arrays for each node.
 */
import { getOrCreate } from '../../kernel/index.js';

const BLOCK_NODES = 1024;
const FIRST_NODES = 16;

export class GraphLinks {
  /** For each node: the number of links, then the links. */
  readonly #base: Uint32Array[] = [];
  /** Level 1 and above. */
  readonly #upper = new Map<number, (readonly number[])[]>();
  readonly #stride: number;

  constructor(mostAtBase: number) {
    this.#stride = mostAtBase + 1;
  }

  of(ordinal: number, level: number): ArrayLike<number> {
    if (level > 0) return this.#upper.get(ordinal)?.[level - 1] ?? [];
    const block = this.#base[Math.floor(ordinal / BLOCK_NODES)];
    const from = (ordinal % BLOCK_NODES) * this.#stride;
    return block?.subarray(from + 1, from + 1 + (block[from] ?? 0)) ?? [];
  }

  /** At most `mostAtBase` on level 0. */
  set(ordinal: number, level: number, links: readonly number[]): void {
    if (level > 0) {
      getOrCreate(this.#upper, ordinal, () => [])[level - 1] = links;
      return;
    }
    const within = ordinal % BLOCK_NODES;
    const block = this.#blockFor(Math.floor(ordinal / BLOCK_NODES), within);
    const from = within * this.#stride;
    block[from] = links.length;
    block.set(links, from + 1);
  }

  clear(ordinal: number): void {
    this.#upper.delete(ordinal);
    this.set(ordinal, 0, []);
  }

  #blockFor(number: number, within: number): Uint32Array {
    while (this.#base.length <= number) {
      const nodes = this.#base.length === 0 ? FIRST_NODES : BLOCK_NODES;
      this.#base.push(new Uint32Array(nodes * this.#stride));
    }
    const block = this.#base[number] as Uint32Array;
    if ((within + 1) * this.#stride <= block.length) return block;
    const larger = new Uint32Array(
      Math.min(BLOCK_NODES, Math.max(within + 1, (2 * block.length) / this.#stride)) * this.#stride,
    );
    larger.set(block);
    this.#base[number] = larger;
    return larger;
  }
}
