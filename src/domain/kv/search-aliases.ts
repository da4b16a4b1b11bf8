/** The aliases of a database's indexes: other names for SEARCH commands. They are part of the partition, not keys. */
import type { ByteString } from '../../kernel/index.js';

export const ALIAS_EFFECT = 'SEARCH.ALIASADD';

export class SearchAliases {
  readonly #indexesByAlias = new Map<ByteString, ByteString>();
  /** Grows with every change. */
  version = 0;

  get size(): number {
    return this.#indexesByAlias.size;
  }

  /** The index that the alias names, whether or not it exists. */
  get(alias: ByteString): ByteString | undefined {
    return this.#indexesByAlias.get(alias);
  }

  set(alias: ByteString, index: ByteString): void {
    this.#indexesByAlias.set(alias, index);
    this.version += 1;
  }

  delete(alias: ByteString): boolean {
    const isKnown = this.#indexesByAlias.delete(alias);
    if (isKnown) this.version += 1;
    return isKnown;
  }

  clear(): void {
    if (this.size === 0) return;
    this.#indexesByAlias.clear();
    this.version += 1;
  }

  entries(): IterableIterator<[ByteString, ByteString]> {
    return this.#indexesByAlias.entries();
  }
}
