/** The keys of a partition that changed since a copy of it began. It is in the owner's memory only. */
import type { ByteString } from '../../kernel/index.js';

/** About 64 MiB; beyond it the copy begins again. */
const MAX_NOTED_KEYS = 1_000_000;

export class KeyCopy {
  /** True when more changed than is noted. */
  isLost = false;
  readonly #changed = new Set<ByteString>();
  #taken: readonly ByteString[] = [];
  #number = 0;

  constructor(readonly attempt: number) {}

  note(key: ByteString | undefined): void {
    if (key === undefined || this.#changed.size >= MAX_NOTED_KEYS) this.isLost = true;
    else this.#changed.add(key);
  }

  get left(): number {
    return this.#changed.size;
  }

  /** The next keys; for the number of the last call, its keys. */
  take(number: number, most: number): readonly ByteString[] {
    if (number === this.#number) return this.#taken;
    this.#number = number;
    const taken: ByteString[] = [];
    for (const key of this.#changed) {
      if (taken.length === most) break;
      this.#changed.delete(key);
      taken.push(key);
    }
    this.#taken = taken;
    return taken;
  }

  /** Keys that did not fit into the step. */
  giveBack(keys: readonly ByteString[]): void {
    this.#taken = this.#taken.slice(0, this.#taken.length - keys.length);
    for (const key of keys) this.#changed.add(key);
  }
}
