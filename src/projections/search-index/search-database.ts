/**
 * All indexes of one search database, folded from the effects on the partition that stores its documents as keys.
 *
 *  SD1 only keys of documents are read; the lists of documents (domain/search/documents.ts) are ignored
 *  SD2 an unreadable document is left out and counted, so that it does not stop all others
 */
import { decodeDocument, type Embedding, nameOfDocumentsKey, type StoredDocument } from '../../domain/search/index.js';
import { type ByteString, getOrCreate, isMillraceError, MillraceError, textOfBytes } from '../../kernel/index.js';
import type { SearchIndexInfo } from '../../ports/index.js';
import { NamedIndex } from './named-index.js';

/** Documents indexed between two pauses: about 1 ms. */
const SLICE_DOCUMENTS = 16;
/** Commands that change no document, or only the expiry, which these keys never have. */
const WITHOUT_DOCUMENTS: ReadonlySet<string> = new Set(['CONFIG', 'FUNCTION', 'ZADD', 'ZREM', 'PERSIST']);

export class SearchDatabase {
  #byKey = new Map<ByteString, NamedIndex>();
  /** Indexes that may have lost documents since the last sweep. */
  readonly #touched = new Set<NamedIndex>();
  #unreadable = 0;

  constructor(private readonly embedding: Embedding) {}

  /** Documents of all index names. */
  get size(): number {
    return [...this.#byKey.values()].reduce((sum, { size }) => sum + size, 0);
  }

  /** Unreadable documents since the start. */
  get unreadable(): number {
    return this.#unreadable;
  }

  index(key: ByteString): NamedIndex | undefined {
    return this.#byKey.get(key);
  }

  info(): SearchIndexInfo {
    const namespaces = [...this.#byKey].map(
      ([key, { size, bytes }]) => [nameOfDocumentsKey(key) ?? '', { documents: size, bytes }] as const,
    );
    return {
      namespaces: new Map(namespaces.filter(([, { documents }]) => documents > 0)),
      dimensions: this.embedding.dimensions,
    };
  }

  /**
   * Applies one effect of the journal or of a snapshot, in slices.
   * @throws JOURNAL_DAMAGED for an effect that is never written to documents, because its meaning is unknown here
   */
  *apply(words: readonly ByteString[]): Generator<void> {
    const [name = '', key = ''] = words;
    switch (name) {
      case 'HSET':
        if (isOfDocuments(key)) yield* this.#put(key, words);
        return;
      case 'HDEL':
        if (isOfDocuments(key)) yield* this.#remove(key, words);
        return;
      case 'DEL':
        for (const gone of words.slice(1)) this.#byKey.delete(gone);
        return;
      case 'RENAME':
        this.#rename(key, words[2] ?? '');
        return;
      case 'FLUSHALL':
      case 'FLUSHDB':
        this.#byKey.clear();
        return;
      default:
        if (WITHOUT_DOCUMENTS.has(name) || !words.slice(1).some(isOfDocuments)) return;
        throw new MillraceError('JOURNAL_DAMAGED', 'documents of a search index were changed in an unknown way', {
          name,
        });
    }
  }

  /** Sweeps indexes with many removed documents, in slices. */
  *sweep(): Generator<void> {
    const touched = [...this.#touched];
    this.#touched.clear();
    for (const index of touched) if (index.needsSweep) yield* index.sweep();
  }

  *#put(key: ByteString, words: readonly ByteString[]): Generator<void> {
    for (let at = 2; at + 1 < words.length; at += 2) {
      const id = textOfBytes(words[at] as ByteString);
      const stored = words[at + 1] as ByteString;
      const index = this.#fetch(key);
      const document = this.#read(stored);
      if (document === undefined) index.remove(id);
      else index.put(id, document, stored.length);
      this.#touched.add(index);
      if (at % (2 * SLICE_DOCUMENTS) === 0) yield;
    }
  }

  *#remove(key: ByteString, words: readonly ByteString[]): Generator<void> {
    const index = this.#byKey.get(key);
    if (index === undefined) return;
    this.#touched.add(index);
    for (let at = 2; at < words.length; at += 1) {
      index.remove(textOfBytes(words[at] as ByteString));
      if (at % SLICE_DOCUMENTS === 0) yield;
    }
    // An index exists while its hash has a field.
    if (index.size === 0) this.#byKey.delete(key);
  }

  #rename(from: ByteString, to: ByteString): void {
    const index = this.#byKey.get(from);
    this.#byKey.delete(from);
    if (index === undefined) this.#byKey.delete(to);
    else if (isOfDocuments(to)) this.#byKey.set(to, index);
  }

  #read(stored: ByteString): StoredDocument | undefined {
    try {
      return decodeDocument(stored);
    } catch (error) {
      if (!isMillraceError(error, 'INVALID')) throw error;
      this.#unreadable += 1;
      return undefined;
    }
  }

  #fetch(key: ByteString): NamedIndex {
    const index = getOrCreate(this.#byKey, key, () => new NamedIndex(this.embedding));
    return index;
  }
}

function isOfDocuments(key: ByteString): boolean {
  return nameOfDocumentsKey(key) !== undefined;
}
