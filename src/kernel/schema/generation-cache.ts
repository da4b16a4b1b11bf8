/**
 * A bounded cache of recent values in two generations: when the young one is full it becomes the old one, and the old
 * one is dropped. A value that is read moves to the young one. Every operation takes constant time.
 */

interface CacheEntry<V> {
  readonly value: V;
  readonly weight: number;
}

export class GenerationCache<K, V> {
  private young = new Map<K, CacheEntry<V>>();
  private old = new Map<K, CacheEntry<V>>();
  private youngWeight = 0;

  /** @param maxWeight of one generation, in the unit of `set`; there are two */
  constructor(private readonly maxWeight: number) {}

  get(key: K): V | undefined {
    const young = this.young.get(key);
    if (young !== undefined) return young.value;
    const old = this.old.get(key);
    if (old === undefined) return undefined;
    this.old.delete(key);
    this.set(key, old.value, old.weight);
    return old.value;
  }

  /** A value heavier than a generation is not cached. */
  set(key: K, value: V, weight: number): void {
    if (weight > this.maxWeight) return;
    if (this.youngWeight + weight > this.maxWeight) {
      this.old = this.young;
      this.young = new Map();
      this.youngWeight = 0;
    }
    this.young.set(key, { value, weight });
    this.youngWeight += weight;
  }

  get size(): number {
    return this.young.size + this.old.size;
  }
}
