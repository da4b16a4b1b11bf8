/**
 * Records which keys have changed, for replies that wait for the entry, commands that wait for a key, and connections
 * that watch one. The keyspace notes every change here.
 */
import { type ByteString, OldestFirst } from '../../kernel/index.js';

/**
 * After so many notes duplicates are removed, so that a script that changes one key in a loop needs no more memory than
 * a pipeline.
 */
export const MAX_NOTED_KEYS = 4096;

/**
 * The keys changed in one turn; `everything` after FLUSHALL. Keys are collected in an array and put into a set only
 * when `has` is called, which most turns never do.
 */
export class ChangedKeys {
  readonly #keys = new Set<ByteString>();
  #noted: ByteString[] = [];
  everything = false;

  get isEmpty(): boolean {
    return this.#noted.length === 0 && this.#keys.size === 0 && !this.everything;
  }

  add(key: ByteString): void {
    this.#noted.push(key);
    if (this.#noted.length >= MAX_NOTED_KEYS) this.#hashNoted();
  }

  has(key: ByteString): boolean {
    if (this.everything) return true;
    if (this.#noted.length > 0) this.#hashNoted();
    return this.#keys.has(key);
  }

  clear(): void {
    this.#noted = [];
    if (this.#keys.size > 0) this.#keys.clear();
    this.everything = false;
  }

  #hashNoted(): void {
    for (const key of this.#noted) this.#keys.add(key);
    this.#noted = [];
  }
}

/**
 * The most bytes of watched keys, each its name and a map entry: about a hundred thousand short keys. Beyond it the
 * oldest are forgotten, and a forgotten key counts as changed. The newest is always kept.
 */
export const MAX_WATCHED_BYTES = 8 * 1024 * 1024;
const WATCHED_ENTRY_BYTES = 64;

export class KeyChanges {
  /** Keys changed and not yet sealed into an entry; the owner replaces it for each entry. */
  open = new ChangedKeys();
  /** Keys that commands wait for → number of waiting commands. */
  readonly awaited = new Map<ByteString, number>();
  /** Awaited keys that have changed since the last check, in order. */
  readonly ready = new Set<ByteString>();
  /** Called on each change, for client-side caching (undefined: all keys changed). */
  onTracked: ((key: ByteString | undefined) => void) | undefined;
  /** Called on each change while the partition has indexes (undefined: all keys changed). */
  onIndexed: ((key: ByteString | undefined) => void) | undefined;
  /** Called on each change while the keys are copied to other partitions (undefined: all keys changed). */
  onCopied: ((key: ByteString | undefined) => void) | undefined;
  /** Set during replay: changes are not noted. */
  isMuted = false;
  readonly #watched = new Map<ByteString, number>();
  readonly #oldestWatched = new OldestFirst(this.#watched);
  #watchedBytes = 0;
  #count = 0;

  note(key: ByteString): void {
    if (this.isMuted) return;
    this.open.add(key);
    if (this.awaited.size > 0 && this.awaited.has(key)) this.ready.add(key);
    if (this.#watched.size > 0) this.#noteWatched(key);
    if (this.onTracked !== undefined) this.onTracked(key);
    if (this.onIndexed !== undefined) this.onIndexed(key);
    if (this.onCopied !== undefined) this.onCopied(key);
  }

  noteEverything(): void {
    if (this.isMuted) return;
    this.open.everything = true;
    for (const key of this.awaited.keys()) this.ready.add(key);
    for (const key of this.#watched.keys()) this.#noteWatched(key);
    if (this.onTracked !== undefined) this.onTracked(undefined);
    if (this.onIndexed !== undefined) this.onIndexed(undefined);
    if (this.onCopied !== undefined) this.onCopied(undefined);
  }

  await(key: ByteString): void {
    this.awaited.set(key, (this.awaited.get(key) ?? 0) + 1);
  }

  stopAwaiting(key: ByteString): void {
    const count = (this.awaited.get(key) ?? 1) - 1;
    if (count > 0) this.awaited.set(key, count);
    else this.awaited.delete(key);
  }

  /** Starts watching a key; pass the result to `hasChangedSince`. */
  watch(key: ByteString): number {
    if (!this.#watched.has(key)) {
      this.#watched.set(key, this.#count);
      this.#watchedBytes += key.length + WATCHED_ENTRY_BYTES;
      this.#forgetOldest(key);
    }
    return this.#count;
  }

  hasChangedSince(key: ByteString, mark: number): boolean {
    const changedAt = this.#watched.get(key);
    return changedAt === undefined || changedAt > mark;
  }

  #forgetOldest(newest: ByteString): void {
    while (this.#watchedBytes > MAX_WATCHED_BYTES) {
      const key = this.#oldestWatched.next();
      if (key === undefined || key === newest) return;
      this.#watched.delete(key);
      this.#watchedBytes -= key.length + WATCHED_ENTRY_BYTES;
    }
  }

  #noteWatched(key: ByteString): void {
    if (!this.#watched.has(key)) return;
    this.#count += 1;
    this.#watched.set(key, this.#count);
  }
}
