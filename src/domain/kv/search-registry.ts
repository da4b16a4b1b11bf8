/** The indexes of a partition as handlers see them. `full-text-indexes.ts` implements it. */
import type { ByteString } from '../../kernel/index.js';
import type { IndexContents, IndexDefinition } from '../full-text/index.js';
import type { SearchAliases } from './search-aliases.js';
import type { FullTextIndex } from './types/full-text-index.js';

/** An index in memory. */
export interface SearchedIndex {
  readonly definition: IndexDefinition;
  readonly contents: IndexContents;
  /** Whether queries have all documents, except those of pending keys. */
  readonly isBuilt: boolean;
  /** The database has no room for the contents. */
  readonly isOutOfRoom: boolean;
  /** Documents and changes that are to be processed. */
  readonly pending: number;
  readonly hasWork: boolean;
  /** One slice of the work, a fraction of a millisecond. Commands may run between two slices. */
  step(): void;
  /** Builds the contents again from the keys. The present contents answer until then, unless they may be wrong. */
  rebuild(areWrong: boolean): void;
}

export interface SearchRegistry {
  readonly aliases: SearchAliases;
  /** Keys of type `search`, and indexes of other partitions' keys. */
  readonly size: number;
  /** Begins to note the changes for a new index, and drops those whose key is gone. */
  sync(): void;
  /** The keys that exist when the index of this value is made are left out (SKIPINITIALSCAN). */
  skipExisting(value: FullTextIndex): void;
  /** The name of the index: itself, or the index that it is an alias of. */
  nameOf(given: ByteString): ByteString;
  /** The index with that name or alias; undefined: there is none. @throws WRONGTYPE */
  find(given: ByteString): SearchedIndex | undefined;
  /**
   * Makes this partition's part of another partition's index, unless there is one. Parts are in memory
   * only. @param isNew whether an earlier part is dropped, because the index was just created
   */
  follow(name: ByteString, value: FullTextIndex, isNew: boolean, skipsExisting: boolean): void;
  /** Drops the part. */
  unfollow(text: ByteString): void;
  /** The index, or part of one, with the definition of this text. */
  partOf(text: ByteString): SearchedIndex | undefined;
  /** The memory of the index of that value. */
  bytesOf(value: FullTextIndex): number;
}
