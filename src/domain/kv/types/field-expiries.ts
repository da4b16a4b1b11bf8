/**
 * The expiries of a hash's fields. Segments without due fields are skipped when looking for due ones.
 *
 * Invariants
 *
 *  FE1 `earliestMs` is at most the earliest expiry; `takeDue` makes it exact when it has removed all due fields
 *  FE2 `latestMs` is at least the latest expiry
 */
import type { ByteString } from '../../../kernel/index.js';
import { SegmentedMap } from '../segmented-map.js';

export class FieldExpiries {
  earliestMs = Number.POSITIVE_INFINITY;
  #latestMs = Number.NEGATIVE_INFINITY;
  readonly #instants = new SegmentedMap<number>();

  get size(): number {
    return this.#instants.size;
  }

  get(field: ByteString): number | undefined {
    return this.#instants.get(field);
  }

  set(field: ByteString, atMs: number): void {
    this.#instants.set(field, atMs);
    this.#instants.note(field, atMs);
    if (atMs < this.earliestMs) this.earliestMs = atMs;
    if (atMs > this.#latestMs) this.#latestMs = atMs;
  }

  delete(field: ByteString): boolean {
    const deleted = this.#instants.delete(field);
    if (this.#instants.size === 0) {
      this.earliestMs = Number.POSITIVE_INFINITY;
      this.#latestMs = Number.NEGATIVE_INFINITY;
    }
    return deleted;
  }

  /** Fields and expiries, in no particular order. */
  [Symbol.iterator](): IterableIterator<[ByteString, number]> {
    return this.#instants[Symbol.iterator]();
  }

  /**
   * Removes and returns fields with an expiry at or before `nowMs`, at most `limit`. @param onTaken called before each
   * is removed
   */
  takeDue(nowMs: number, limit: number, onTaken?: (field: ByteString, atMs: number) => void): ByteString[] {
    const taken: ByteString[] = [];
    if (this.earliestMs > nowMs) return taken;
    let earliestMs = Number.POSITIVE_INFINITY;
    for (const segment of this.#instants.segments()) {
      if (segment.earliest <= nowMs) {
        const due: ByteString[] = [];
        let left = Number.POSITIVE_INFINITY;
        for (const [field, atMs] of segment.entries()) {
          if (atMs <= nowMs && taken.length + due.length < limit) due.push(field);
          else if (atMs < left) left = atMs;
        }
        for (const field of due) {
          onTaken?.(field, this.#instants.get(field) as number);
          this.#instants.delete(field);
        }
        taken.push(...due);
        segment.earliest = left;
        // Due fields remain, because the limit was reached; the other segments are visited next time.
        if (left <= nowMs) return taken;
      }
      if (segment.earliest < earliestMs) earliestMs = segment.earliest;
    }
    this.earliestMs = earliestMs;
    return taken;
  }

  areAllDue(nowMs: number): boolean {
    if (this.earliestMs > nowMs) return false;
    if (this.#latestMs <= nowMs) return true;
    let latestMs = Number.NEGATIVE_INFINITY;
    for (const [, atMs] of this.#instants) {
      if (atMs > nowMs) return false;
      if (atMs > latestMs) latestMs = atMs;
    }
    this.#latestMs = latestMs;
    return true;
  }

  countDue(nowMs: number): number {
    if (this.earliestMs > nowMs) return 0;
    let count = 0;
    for (const segment of this.#instants.segments()) {
      if (segment.earliest > nowMs) continue;
      for (const [, atMs] of segment.entries()) if (atMs <= nowMs) count += 1;
    }
    return count;
  }
}
