/** MAXCOUNT and MAXSIZE of XREAD and XREADGROUP: bounds for the answer of all streams together. */
import { ITEM_BYTES, type Reply, replyBytes } from '../../reply.js';

/** An entry has at least an id, a list of fields, and the list of both. */
const LEAST_ENTRY_BYTES = 3 * ITEM_BYTES;

export class ReadBudget {
  #taken = 0;
  #bytes = 0;
  #isSpent = false;

  constructor(
    private readonly maxEntries: number,
    private readonly maxBytes: number,
  ) {}

  /** No entry more is to be answered. */
  get isSpent(): boolean {
    return this.#isSpent || this.#taken >= this.maxEntries;
  }

  /** The most entries that may be answered, without knowing them. */
  get mostEntries(): number {
    return Math.min(this.maxEntries - this.#taken, 1 + Math.floor((this.maxBytes - this.#bytes) / LEAST_ENTRY_BYTES));
  }

  /** Whether the entry fits; the first one always does, so that readers make progress. Counts it if it does. */
  take(entry: Reply): boolean {
    if (this.isSpent) return false;
    if (this.maxBytes !== Number.POSITIVE_INFINITY) {
      const bytes = ITEM_BYTES + replyBytes(entry);
      if (this.#taken > 0 && this.#bytes + bytes > this.maxBytes) {
        this.#isSpent = true;
        return false;
      }
      this.#bytes += bytes;
    }
    this.#taken += 1;
    return true;
  }

  /** The first entries that fit. */
  *takeSome(entries: readonly Reply[]): Generator<void, Reply[]> {
    const fitting: Reply[] = [];
    for (const entry of entries) {
      if (!this.take(entry)) break;
      fitting.push(entry);
      if (fitting.length % ENTRIES_A_PAUSE === 0) yield;
    }
    return fitting;
  }
}

const ENTRIES_A_PAUSE = 500;
