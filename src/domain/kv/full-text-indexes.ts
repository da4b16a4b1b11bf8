/**
 * The indexes of a partition in memory. Each belongs to the value of a key of type `search`, so that it moves with
 * RENAME and comes back when a transaction is undone. Without such a key none of this is called.
 */
import type { ByteString } from '../../kernel/index.js';
import type { Keyspace } from './keyspace.js';
import { LiveIndex } from './live-index.js';
import { ERRORS } from './reply.js';
import { SearchAliases } from './search-aliases.js';
import type { SearchRegistry } from './search-registry.js';
import { FullTextIndex } from './types/full-text-index.js';

export class FullTextIndexes implements SearchRegistry {
  readonly aliases = new SearchAliases();
  readonly #liveByValue = new Map<FullTextIndex, LiveIndex>();
  readonly #skipping = new WeakSet<FullTextIndex>();
  #version = 0;

  constructor(private readonly keyspace: Keyspace) {}

  get size(): number {
    return this.keyspace.searchKeys.size;
  }

  get hasWork(): boolean {
    this.sync();
    for (const live of this.#liveByValue.values()) if (live.hasWork) return true;
    return false;
  }

  /** Whether any index is in memory. */
  get isInMemory(): boolean {
    return this.#liveByValue.size > 0;
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

  /** As `find`; undefined also for a key of another type. */
  lookUp(given: ByteString): LiveIndex | undefined {
    const name = this.nameOf(given);
    return this.keyspace.searchKeys.has(name) ? this.find(name) : undefined;
  }

  bytesOf(value: FullTextIndex): number {
    return this.#liveByValue.get(value)?.bytes ?? 0;
  }

  /** Works until no index has work, or `isOver`. Must not be called while a transaction is half done. */
  workUntil(isOver: () => boolean): void {
    this.sync();
    for (let isBusy = true; isBusy && !isOver(); ) {
      isBusy = false;
      for (const live of this.#liveByValue.values()) {
        if (!live.hasWork) continue;
        live.step();
        isBusy = true;
      }
    }
    this.#count();
  }

  sync(): void {
    const { keyspace } = this;
    if (this.#version === keyspace.searchVersion) return;
    this.#version = keyspace.searchVersion;
    const values = new Set<FullTextIndex>();
    for (const key of keyspace.searchKeys) {
      const value = keyspace.stored(key);
      if (value instanceof FullTextIndex) values.add(value);
    }
    for (const value of this.#liveByValue.keys()) if (!values.has(value)) this.#liveByValue.delete(value);
    for (const value of values) {
      if (this.#liveByValue.has(value)) continue;
      this.#liveByValue.set(value, new LiveIndex(value, keyspace, this.#skipping.has(value)));
    }
    keyspace.changes.onIndexed = this.isInMemory ? (key) => this.#note(key) : undefined;
    this.#count();
  }

  /** @param key undefined: all keys have changed */
  #note(key: ByteString | undefined): void {
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
