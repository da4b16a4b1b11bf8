/** The times to live of keys, the earliest expiries inside collections, and the expired keys that reads have met. */
import type { ByteString } from '../../kernel/index.js';
import { SegmentedMap } from './segmented-map.js';
import type { Value } from './value.js';

/** The most expired keys that are remembered while one command reads; further ones wait for the next expiry cycle. */
const MOST_MET = 64;

export class KeyExpiries {
  readonly #keys = new SegmentedMap<number>();
  /** Keys of collections with parts that expire → a time not later than the earliest expiry. */
  readonly #fields = new SegmentedMap<number>();
  readonly #met: ByteString[] = [];

  /** The number of keys with a time to live. */
  get size(): number {
    return this.#keys.size;
  }

  /** The number of keys with parts that expire. */
  get withFields(): number {
    return this.#fields.size;
  }

  get(key: ByteString): number | undefined {
    return this.#keys.size === 0 ? undefined : this.#keys.get(key);
  }

  set(key: ByteString, atMs: number): void {
    this.#keys.set(key, atMs);
    this.#keys.note(key, atMs);
  }

  /** Removes the time to live. @returns whether there was one */
  delete(key: ByteString): boolean {
    return this.#keys.size > 0 && this.#keys.delete(key);
  }

  /** The key was deleted. */
  forget(key: ByteString): void {
    this.delete(key);
    if (this.#fields.size > 0) this.#fields.delete(key);
  }

  /** Records when the first part of the key's value expires. */
  noteFields(key: ByteString, value: Value): void {
    const fieldExpiry = typeof value === 'string' ? undefined : value.fieldExpiry;
    if (fieldExpiry !== undefined) {
      this.#fields.set(key, fieldExpiry.earliestExpiryMs);
      this.#fields.note(key, fieldExpiry.earliestExpiryMs);
    } else if (this.#fields.size > 0) {
      this.#fields.delete(key);
    }
  }

  /** True when the key's time to live has passed. */
  isDue(key: ByteString, nowMs: number): boolean {
    if (this.#keys.size === 0) return false;
    const atMs = this.#keys.get(key);
    return atMs !== undefined && atMs <= nowMs;
  }

  /** True when a part of the key's collection may have expired. */
  mayHaveDueFields(key: ByteString, nowMs: number): boolean {
    if (this.#fields.size === 0) return false;
    const earliestMs = this.#fields.get(key);
    return earliestMs !== undefined && earliestMs <= nowMs;
  }

  /** Keys with a time to live that has passed, at most `limit`. */
  dueKeys(nowMs: number, limit: number): ByteString[] {
    return dueIn(this.#keys, nowMs, limit);
  }

  /** Keys of collections that may have expired parts, at most `limit`. */
  keysWithDueFields(nowMs: number, limit: number): ByteString[] {
    return dueIn(this.#fields, nowMs, limit);
  }

  randomKey(float: () => number): ByteString | undefined {
    return this.#keys.randomKey(float);
  }

  /** Remembers an expired key that a read has met. */
  noteMet(key: ByteString): void {
    if (this.#met.length < MOST_MET) this.#met.push(key);
  }

  get hasMet(): boolean {
    return this.#met.length > 0;
  }

  /** The keys with an ended time to live that were met since the last call, each once. */
  takeMet(nowMs: number): ByteString[] {
    const met = new Set(this.#met);
    this.#met.length = 0;
    return [...met].filter((key) => this.isDue(key, nowMs));
  }
}

/** Keys with an instant at or before `nowMs`, at most `limit`. Skips segments in which none can be due. */
function dueIn(instants: SegmentedMap<number>, nowMs: number, limit: number): ByteString[] {
  const due: ByteString[] = [];
  if (instants.size === 0) return due;
  for (const segment of instants.segments()) {
    if (segment.earliest > nowMs) continue;
    let earliest = Number.POSITIVE_INFINITY;
    for (const [key, atMs] of segment.entries()) {
      // Due keys count as well: they stay until the caller deletes them, so the segment must not be skipped.
      if (atMs < earliest) earliest = atMs;
      if (atMs > nowMs) continue;
      if (due.length >= limit) return due;
      due.push(key);
    }
    segment.earliest = earliest;
  }
  return due;
}
