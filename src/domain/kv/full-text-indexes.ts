/**
 * The indexes of a partition in memory. Each belongs to the value of a key of type `search`, so that it moves with
 * RENAME and comes back when a transaction is undone. Without such a key none of this is called.
 */
import type { ByteString } from '../../kernel/index.js';
import type { Keyspace } from './keyspace.js';
import { LiveIndex, type MayHold } from './live-index.js';
import { ERRORS } from './reply.js';
import { SearchAliases } from './search-aliases.js';
import type { SearchRegistry } from './search-registry.js';
import { FullTextIndex } from './types/full-text-index.js';

/**
 * A part of another partition's index that was not asked for so long is dropped: deleting the key of an index with
 * other commands than SEARCH.DROP is not told to all partitions.
 */
const FOLLOWED_MS = 24 * 60 * 60 * 1000;

interface Followed {
  readonly name: ByteString;
  usedAtMs: number;
}

export class FullTextIndexes implements SearchRegistry {
  readonly aliases = new SearchAliases();
  /** Whether contents are stored in files: new indexes wait for theirs. */
  hasFiles = false;
  /** Whether the database may have so many more bytes; the bytes of indexes are counted just before. */
  hasRoom: MayHold = () => true;
  /** Grows when indexes are added or dropped. */
  generation = 0;
  readonly #liveByValue = new Map<FullTextIndex, LiveIndex>();
  readonly #skipping = new WeakSet<FullTextIndex>();
  /** The definitions of indexes with keys in other partitions. */
  readonly #followed = new Map<FullTextIndex, Followed>();
  #version = 0;

  constructor(private readonly keyspace: Keyspace) {}

  get size(): number {
    return this.keyspace.derived.searches.size + this.#followed.size;
  }

  get hasWork(): boolean {
    this.sync();
    for (const live of this.#liveByValue.values()) if (live.hasWork) return true;
    return false;
  }

  /** Whether the stored contents of any index are being read. */
  get isRestoring(): boolean {
    for (const live of this.#liveByValue.values()) if (live.isRestoring) return true;
    return false;
  }

  /** Whether any index is in memory. */
  get isInMemory(): boolean {
    return this.#liveByValue.size > 0;
  }

  /** All indexes in memory. */
  all(): Iterable<LiveIndex> {
    this.sync();
    return this.#liveByValue.values();
  }

  skipExisting(value: FullTextIndex): void {
    this.#skipping.add(value);
  }

  nameOf(given: ByteString): ByteString {
    return this.keyspace.isThere(given) ? given : (this.aliases.get(given) ?? given);
  }

  find(given: ByteString): LiveIndex | undefined {
    const name = this.nameOf(given);
    if (!this.keyspace.isThere(name)) return undefined;
    const value = this.keyspace.stored(name);
    if (!(value instanceof FullTextIndex)) throw ERRORS.wrongType;
    this.sync();
    return this.#liveByValue.get(value);
  }

  /** As `find`, also by the text of a definition; undefined also for a key of another type. */
  lookUp(given: ByteString): LiveIndex | undefined {
    const part = this.#followed.size > 0 ? this.partOf(given) : undefined;
    if (part !== undefined) return part;
    const name = this.nameOf(given);
    return this.keyspace.derived.searches.has(name) ? this.find(name) : undefined;
  }

  follow(name: ByteString, value: FullTextIndex, isNew: boolean, skipsExisting: boolean): void {
    const { nowMs } = this.keyspace;
    let isKnown = false;
    for (const [known, followed] of this.#followed) {
      const isSame = known.text === value.text;
      const isOver = isSame ? isNew : followed.name === name || followed.usedAtMs + FOLLOWED_MS < nowMs;
      if (isOver) this.#followed.delete(known);
      else if (isSame) {
        isKnown = true;
        followed.usedAtMs = nowMs;
      }
    }
    if (isKnown) return;
    this.#update();
    // The partition with the key has the index already.
    if (this.partOf(value.text) !== undefined) return;
    if (skipsExisting) this.skipExisting(value);
    this.#followed.set(value, { name, usedAtMs: nowMs });
    this.#update();
  }

  unfollow(text: ByteString): void {
    for (const known of this.#followed.keys()) if (known.text === text) this.#followed.delete(known);
    this.#update();
  }

  partOf(text: ByteString): LiveIndex | undefined {
    this.sync();
    for (const [value, live] of this.#liveByValue) if (value.text === text) return live;
    return undefined;
  }

  /** Names and definitions of the indexes with keys in this partition. */
  *definitions(): Iterable<readonly [name: ByteString, text: ByteString]> {
    for (const key of this.keyspace.derived.searches) {
      const value = this.keyspace.stored(key);
      if (value instanceof FullTextIndex) yield [key, value.text];
    }
  }

  bytesOf(value: FullTextIndex): number {
    return this.#liveByValue.get(value)?.bytes ?? 0;
  }

  /**
   * Works until no index has work, or `isOver`, for one step at least; indexes take turns. Must not be called during a
   * half-done transaction.
   */
  workUntil(isOver: () => boolean): void {
    this.sync();
    let idle = 0;
    for (const [value, live] of this.#liveByValue) {
      if (idle === this.#liveByValue.size) break;
      // The loop comes to it again, after the others.
      this.#liveByValue.delete(value);
      this.#liveByValue.set(value, live);
      idle = live.hasWork ? 0 : idle + 1;
      if (idle > 0) continue;
      live.step();
      if (isOver()) break;
    }
    this.#count();
  }

  sync(): void {
    if (this.#version === this.keyspace.derived.searchVersion) return;
    this.#update();
  }

  #update(): void {
    const { keyspace } = this;
    this.#version = keyspace.derived.searchVersion;
    this.generation += 1;
    const values = new Set<FullTextIndex>(this.#followed.keys());
    for (const key of keyspace.derived.searches) {
      const value = keyspace.stored(key);
      if (value instanceof FullTextIndex) values.add(value);
    }
    for (const value of this.#liveByValue.keys()) if (!values.has(value)) this.#liveByValue.delete(value);
    for (const value of values) {
      if (this.#liveByValue.has(value)) continue;
      const live = new LiveIndex(value, keyspace, this.#skipping.has(value), this.hasFiles, (bytes, isForAWhile) => {
        this.#count();
        return this.hasRoom(bytes, isForAWhile);
      });
      this.#liveByValue.set(value, live);
    }
    keyspace.changes.onIndexed = this.isInMemory ? (key) => this.#note(key) : undefined;
    this.#count();
  }

  /** @param key undefined: all keys have changed */
  #note(key: ByteString | undefined): void {
    if (key === undefined && this.#followed.size > 0) {
      // The keys of the indexes are gone in their partitions too.
      this.#followed.clear();
      this.#update();
    }
    for (const live of this.#liveByValue.values()) {
      if (key === undefined) live.rebuild(true);
      else live.note(key);
    }
  }

  /** Charges the memory of the indexes to the database. */
  #count(): void {
    let bytes = 0;
    for (const live of this.#liveByValue.values()) bytes += live.bytes;
    this.keyspace.derivedBytes = bytes;
  }
}
