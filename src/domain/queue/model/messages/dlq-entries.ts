/**
 * Messages that have failed for good, in order, found by the number in their ids. They are kept in chunks of 1,024
 * numbers, so that no large array is ever copied.
 */
import { assert, type DlqId, getOrCreate } from '../../../../kernel/index.js';
import { answerBytes, answerMemoryBytes } from '../held.js';
import type { DlqEntry } from '../records.js';

const CHUNK = 1024;

export class DlqEntries {
  /** Ascending by number: numbers only grow, and snapshots keep the order. */
  readonly #chunks = new Map<number, Map<number, DlqEntry>>();
  #size = 0;
  #answerBytes = 0;
  #answerMemoryBytes = 0;

  get size(): number {
    return this.#size;
  }

  /** Bytes of the last responses without their bodies: headers and error texts. */
  get answerBytes(): number {
    return this.#answerBytes;
  }

  get answerMemoryBytes(): number {
    return this.#answerMemoryBytes;
  }

  get oldest(): DlqEntry | undefined {
    for (const entry of this.ascending()) return entry;
    return undefined;
  }

  get(dlqId: DlqId): DlqEntry | undefined {
    const number = numberOf(dlqId);
    const entry = this.#chunks.get(Math.floor(number / CHUNK))?.get(number);
    return entry?.dlqId === dlqId ? entry : undefined;
  }

  add(entry: DlqEntry): void {
    const number = numberOf(entry.dlqId);
    const key = Math.floor(number / CHUNK);
    const chunk = getOrCreate(this.#chunks, key, () => new Map());
    chunk.set(number, entry);
    this.#size += 1;
    this.#answerBytes += answerBytes(entry.response);
    this.#answerMemoryBytes += answerMemoryBytes(entry.response);
  }

  /** @returns the removed entry */
  delete(dlqId: DlqId): DlqEntry {
    const entry = this.get(dlqId);
    assert(entry !== undefined, 'an entry leaves the DLQ that is not in it', { dlqId });
    const number = numberOf(dlqId);
    const key = Math.floor(number / CHUNK);
    const chunk = this.#chunks.get(key) as Map<number, DlqEntry>;
    chunk.delete(number);
    if (chunk.size === 0) this.#chunks.delete(key);
    this.#size -= 1;
    this.#answerBytes -= answerBytes(entry.response);
    this.#answerMemoryBytes -= answerMemoryBytes(entry.response);
    return entry;
  }

  /** Oldest first, after `after`; entries may be deleted during the iteration. */
  *ascending(after?: DlqId): Iterable<DlqEntry> {
    const behind = after === undefined ? -1 : numberOf(after);
    for (const [key, chunk] of this.#chunks) {
      if ((key + 1) * CHUNK <= behind) continue;
      for (const [number, entry] of chunk) if (number > behind) yield entry;
    }
  }

  /** Newest first, before `after`; entries may be deleted during the iteration. */
  *descending(after?: DlqId): Iterable<DlqEntry> {
    const before = after === undefined ? Number.POSITIVE_INFINITY : numberOf(after);
    for (const [key, chunk] of [...this.#chunks].reverse()) {
      if (key * CHUNK >= before) continue;
      for (const [number, entry] of [...chunk].reverse()) if (number < before && chunk.has(number)) yield entry;
    }
  }
}

/** The number of an id `<unix ms>-<number>`; NaN for any other text, which matches no entry. */
export function numberOf(dlqId: string): number {
  return Number(dlqId.slice(dlqId.lastIndexOf('-') + 1));
}
