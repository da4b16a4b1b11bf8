/**
 * Names → typed values, with expiry. What a key holds is either a byte string or a collection from
 * `types/`; handlers reach it only through here, so WRONGTYPE and expiry are decided in one place.
 *
 * Invariants
 *  K1 a key whose instant has passed is invisible, whether it has been removed or not
 *  K2 a read never changes anything; a write that meets an expired key removes it and records `DEL`
 *  K3 in replay `nowMs` is 0: nothing is expired, only journaled deletions remove
 *  K4 no collection is left empty, but a stream, which may be
 *  K5 every change of a key is noted in `changes`, by whatever way it came
 */
import type { ByteString } from '../../kernel/index.js';
import type { Effects } from './effects.js';
import { KeyChanges } from './key-changes.js';
import { ERRORS } from './reply.js';
import { type ScanStep, SegmentedMap } from './segmented-map.js';

export type CollectionKind = 'hash' | 'list' | 'set' | 'zset' | 'stream' | 'json';

/**
 * A value that is not a string; its class is in `types/`. Handlers change it in place, and then say so
 * with `keyspace.changed`.
 */
export interface Collection {
  readonly kind: CollectionKind;
  readonly size: number;
  /** About how many bytes it holds, for INFO and limits. Kept, never counted: asked before and after each change. */
  readonly bytes: number;
  /** As OBJECT ENCODING names it. */
  readonly encoding: string;
  /**
   * Commands that make it again under `key` in an empty keyspace, without the key's expiry; of bounded size
   * (some 64 KiB or one member), so that a large value is many.
   */
  rebuild(key: ByteString): Iterable<ByteString[]>;
  /**
   * All that it holds, as words: equal values have equal facts however they came to be. In order where
   * `hasOrder`, in any order where not.
   */
  facts(): Iterable<ByteString>;
  readonly hasOrder: boolean;
  /** An independent copy. */
  clone(): Collection;
}

export type Value = ByteString | Collection;

/** Bytes that a key costs beside its name and value, measured on a million short keys; for INFO and MEMORY USAGE. */
export const KEY_OVERHEAD_BYTES = 88;

export class Keyspace {
  /** The instant commands are judged by; set by the executor, 0 in replay (K3). */
  nowMs = 0;
  readonly changes = new KeyChanges();
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

  /** The collection of that class, for a command that only reads. @throws WRONGTYPE */
  peekKind<C extends Collection>(key: ByteString, type: new (...given: never[]) => C): C | undefined {
    return asKind(this.peek(key), type);
  }

  /** The collection of that class, for a command that may write (K2). @throws WRONGTYPE */
  fetchKind<C extends Collection>(key: ByteString, type: new (...given: never[]) => C): C | undefined {
    return asKind(this.fetch(key), type);
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
    this.changes.note(key);
  }

  /**
   * To be called once after a collection that is in the keyspace was changed in place: counts its bytes,
   * removes it when it is left empty (K4), notes the change (K5). True if it was removed.
   */
  changed(key: ByteString, collection: Collection, bytesBefore: number): boolean {
    this.#stringBytes += collection.bytes - bytesBefore;
    if (collection.size === 0 && collection.kind !== 'stream') {
      this.delete(key);
      return true;
    }
    this.changes.note(key);
    return false;
  }

  /** True if it was there, expired or not. */
  delete(key: ByteString): boolean {
    const before = this.#values.get(key);
    if (before === undefined) return false;
    this.#stringBytes -= key.length + sizeOf(before);
    this.#values.delete(key);
    if (this.#expiries.size > 0) this.#expiries.delete(key);
    this.changes.note(key);
    return true;
  }

  clear(): void {
    this.#values.clear();
    this.#expiries.clear();
    this.#stringBytes = 0;
    this.changes.noteEverything();
  }

  expiryOf(key: ByteString): number | undefined {
    return this.#expiries.size === 0 ? undefined : this.#expiries.get(key);
  }

  expireAt(key: ByteString, atMs: number): void {
    this.#expiries.set(key, atMs);
    this.#expiries.note(key, atMs);
    this.changes.note(key);
  }

  /** True if there was an expiry to remove. */
  persist(key: ByteString): boolean {
    if (!this.#expiries.delete(key)) return false;
    this.changes.note(key);
    return true;
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

function asKind<C extends Collection>(value: Value | undefined, type: new (...given: never[]) => C): C | undefined {
  if (value === undefined || value instanceof type) return value as C | undefined;
  throw ERRORS.wrongType;
}

function sizeOf(value: Value): number {
  return typeof value === 'string' ? value.length : value.bytes;
}
