/**
 * Names → typed values, with expiry. What a key holds is either a byte string or a collection from
 * `types/`; handlers reach it only through here, so WRONGTYPE and expiry are decided in one place.
 *
 * Invariants
 *  K1 a key whose instant has passed is invisible, whether it has been removed or not
 *  K2 a read never changes anything; a write that meets an expired key removes it and records `DEL`
 *  K3 in replay `nowMs` is 0: nothing is expired, only journaled deletions remove
 *  K4 no collection is left empty
 */
import type { ByteString } from '../../kernel/index.js';
import type { Effects } from './effects.js';
import { ERRORS } from './reply.js';
import { type ScanStep, SegmentedMap } from './segmented-map.js';

export type CollectionKind = 'hash' | 'list' | 'set' | 'zset' | 'stream' | 'json';

/** A value that is not a string. */
export interface Collection {
  readonly kind: CollectionKind;
  readonly size: number;
  /** About how many bytes it holds, for INFO and limits. */
  readonly bytes: number;
}

export type Value = ByteString | Collection;

/** Bytes that a key costs beside its name and value, measured on a million short keys; for INFO and MEMORY USAGE. */
export const KEY_OVERHEAD_BYTES = 88;

export class Keyspace {
  /** The instant commands are judged by; set by the executor, 0 in replay (K3). */
  nowMs = 0;
  readonly #values = new SegmentedMap<Value>();
  readonly #expiries = new SegmentedMap<number>();
  #stringBytes = 0;

  constructor(private readonly effects: Effects) {}

  /** Keys, including expired ones that are not yet removed, as Redis counts them. */
  get size(): number {
    return this.#values.size;
  }

  get expiring(): number {
    return this.#expiries.size;
  }

  /** Bytes of names and string values. */
  get bytes(): number {
    return this.#stringBytes;
  }

  /** What the key holds, for a command that only reads. */
  peek(key: ByteString): Value | undefined {
    const value = this.#values.get(key);
    if (value === undefined || this.#isExpired(key)) return undefined;
    return value;
  }

  /** What the key holds, for a command that may write (K2). */
  fetch(key: ByteString): Value | undefined {
    const value = this.#values.get(key);
    if (value === undefined) return undefined;
    if (!this.#isExpired(key)) return value;
    this.delete(key);
    this.effects.push('DEL', key);
    return undefined;
  }

  /** @throws WRONGTYPE */
  peekString(key: ByteString): ByteString | undefined {
    return asString(this.peek(key));
  }

  /** @throws WRONGTYPE */
  fetchString(key: ByteString): ByteString | undefined {
    return asString(this.fetch(key));
  }

  exists(key: ByteString): boolean {
    return this.peek(key) !== undefined;
  }

  /** Sets value and expiry; `expireAtMs` undefined: none. */
  set(key: ByteString, value: Value, expireAtMs?: number): void {
    this.replace(key, value);
    if (expireAtMs === undefined) {
      if (this.#expiries.size > 0) this.#expiries.delete(key);
    } else {
      this.expireAt(key, expireAtMs);
    }
  }

  /** Sets the value and leaves the expiry as it is. */
  replace(key: ByteString, value: Value): void {
    const before = this.#values.exchange(key, value);
    this.#stringBytes += sizeOf(value) - (before === undefined ? -key.length : sizeOf(before));
  }

  /** True if it was there, expired or not. */
  delete(key: ByteString): boolean {
    const before = this.#values.get(key);
    if (before === undefined) return false;
    this.#stringBytes -= key.length + sizeOf(before);
    this.#values.delete(key);
    if (this.#expiries.size > 0) this.#expiries.delete(key);
    return true;
  }

  clear(): void {
    this.#values.clear();
    this.#expiries.clear();
    this.#stringBytes = 0;
  }

  expiryOf(key: ByteString): number | undefined {
    return this.#expiries.size === 0 ? undefined : this.#expiries.get(key);
  }

  expireAt(key: ByteString, atMs: number): void {
    this.#expiries.set(key, atMs);
    this.#expiries.note(key, atMs);
  }

  /** True if there was an expiry to remove. */
  persist(key: ByteString): boolean {
    return this.#expiries.delete(key);
  }

  /** Live keys from the cursor on; see SegmentedMap.scan for what is promised. */
  scan(cursor: number, count: number): ScanStep<Value> {
    const step = this.#values.scan(cursor, count);
    if (this.#expiries.size === 0) return step;
    return { cursor: step.cursor, entries: step.entries.filter(([key]) => !this.#isExpired(key)) };
  }

  /** Live keys, in no particular order. */
  *keys(): IterableIterator<ByteString> {
    for (const segment of this.#values.segments()) {
      for (const key of segment.entries.keys()) if (!this.#isExpired(key)) yield key;
    }
  }

  randomKey(float: () => number): ByteString | undefined {
    for (let tries = 0; tries < 100; tries += 1) {
      const key = this.#values.randomKey(float);
      if (key === undefined || !this.#isExpired(key)) return key;
    }
    for (const key of this.#values.keys()) if (!this.#isExpired(key)) return key;
    return undefined;
  }

  /** Everything, expired or not, in no particular order: [key, value, expireAtMs | undefined]. */
  *entries(): IterableIterator<[ByteString, Value, number | undefined]> {
    for (const [key, value] of this.#values) yield [key, value, this.expiryOf(key)];
  }

  /** Keys whose instant is at or before `nowMs`, at most `limit`, skipping segments where nothing can be due. */
  dueKeys(nowMs: number, limit: number): ByteString[] {
    const due: ByteString[] = [];
    if (this.#expiries.size === 0) return due;
    for (const segment of this.#expiries.segments()) {
      if (segment.earliest > nowMs) continue;
      let earliest = Number.POSITIVE_INFINITY;
      for (const [key, atMs] of segment.entries) {
        // Due keys count too: they are there until the caller deletes them, and keep the segment in sight.
        if (atMs < earliest) earliest = atMs;
        if (atMs > nowMs) continue;
        if (due.length >= limit) return due;
        due.push(key);
      }
      segment.earliest = earliest;
    }
    return due;
  }

  #isExpired(key: ByteString): boolean {
    if (this.#expiries.size === 0) return false;
    const atMs = this.#expiries.get(key);
    return atMs !== undefined && atMs <= this.nowMs;
  }
}

function asString(value: Value | undefined): ByteString | undefined {
  if (value === undefined || typeof value === 'string') return value;
  throw ERRORS.wrongType;
}

function sizeOf(value: Value): number {
  return typeof value === 'string' ? value.length : value.bytes;
}
