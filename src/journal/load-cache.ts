/**
 * Values that are slow to load and requested by many: simultaneous requests share one load. Above the budget the least
 * recently used are dropped. The number of parallel loads is bounded, and so are the bytes being loaded. A load that
 * fails or finds no value is not remembered.
 */

/** Bytes of memory that a value takes. */
export type SizeOf<V> = (value: V) => number;

export class LoadCache<V> {
  /** In order of last use. */
  readonly #values = new Map<string, V>();
  readonly #loading = new Map<string, Promise<V | undefined>>();
  readonly #waiting: (() => void)[] = [];
  #bytes = 0;
  #running = 0;

  constructor(
    private readonly sizeOf: SizeOf<V>,
    private readonly maxBytes: number,
    private readonly maxLoads: number,
  ) {}

  /** @returns undefined when `load` finds no value. @throws the errors of `load` */
  get(key: string, load: () => Promise<V | undefined>): Promise<V | undefined> {
    const value = this.#values.get(key);
    if (value !== undefined) {
      this.#values.delete(key);
      this.#values.set(key, value);
      return Promise.resolve(value);
    }
    const known = this.#loading.get(key);
    if (known !== undefined) return known;
    const loading = this.#load(key, load).finally(() => this.#loading.delete(key));
    this.#loading.set(key, loading);
    return loading;
  }

  async #load(key: string, load: () => Promise<V | undefined>): Promise<V | undefined> {
    if (this.#running >= this.maxLoads) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#running += 1;
    try {
      const value = await load();
      if (value !== undefined) this.#keep(key, value);
      return value;
    } finally {
      // The place goes to the longest waiting load.
      const next = this.#waiting.shift();
      if (next === undefined) this.#running -= 1;
      else next();
    }
  }

  #keep(key: string, value: V): void {
    this.#values.set(key, value);
    this.#bytes += this.sizeOf(value);
    for (const [oldest, old] of this.#values) {
      if (this.#bytes <= this.maxBytes) return;
      this.#values.delete(oldest);
      this.#bytes -= this.sizeOf(old);
    }
  }
}
