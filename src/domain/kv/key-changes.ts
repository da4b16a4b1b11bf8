/**
 * Which keys have changed, for those who must know: replies that wait for the entry, commands that wait for
 * a key, connections that watch one. The keyspace notes every change here, whoever made it.
 */
import { type ByteString, OldestFirst } from '../../kernel/index.js';

/** So many are noted before those that are alike become one: a pipeline's, and not a script's that changes a key for ever. */
export const MAX_NOTED_KEYS = 4096;

/**
 * Keys changed in one turn; `everything` after FLUSHALL. Of most turns nobody asks which they are, so they are only
 * noted, and hashed when somebody does.
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
 * What watched keys may take, each its name and an entry of a map: a hundred thousand short ones. Of one that was
 * forgotten nobody can say that it has not changed. The newest is always remembered.
 */
export const MAX_WATCHED_BYTES = 8 * 1024 * 1024;
const WATCHED_ENTRY_BYTES = 64;

export class KeyChanges {
  /** Changed and not yet sealed into an entry; the owner swaps it. */
  open = new ChangedKeys();
  /** Someone waits for a change of these: key → how many. */
  readonly awaited = new Map<ByteString, number>();
  /** Awaited keys that have changed since they were last looked at, in order. */
  readonly ready = new Set<ByteString>();
  /** Someone wants to hear of the next change of these. */
  onTracked: ((key: ByteString | undefined) => void) | undefined;
  /** Nothing is noted while effects are replayed. */
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
  }

  noteEverything(): void {
    if (this.isMuted) return;
    this.open.everything = true;
    for (const key of this.awaited.keys()) this.ready.add(key);
    for (const key of this.#watched.keys()) this.#noteWatched(key);
    if (this.onTracked !== undefined) this.onTracked(undefined);
  }

  await(key: ByteString): void {
    this.awaited.set(key, (this.awaited.get(key) ?? 0) + 1);
  }

  stopAwaiting(key: ByteString): void {
    const count = (this.awaited.get(key) ?? 1) - 1;
    if (count > 0) this.awaited.set(key, count);
    else this.awaited.delete(key);
  }

  /** Begins to watch; hand the number to `hasChangedSince`. */
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
