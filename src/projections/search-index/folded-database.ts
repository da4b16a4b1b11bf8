/**
 * The indexes of one database, folded from the effects on the partition that stores its documents as keys.
 *
 *  SD1 only keys of documents are read; the lists of documents (domain/search/documents.ts) are ignored
 *  SD2 an unreadable document is left out and counted, so that it does not stop all others
 */
import { COUNTS_KEY, type DocumentLayout, WRITES_FIELD } from '../../domain/search/index.js';
import { type ByteString, getOrCreate, isMillraceError, MillraceError, textOfBytes } from '../../kernel/index.js';
import type { SearchIndexInfo } from '../../ports/index.js';

/** The documents of one name, ready for queries. */
export interface FoldedIndex {
  readonly size: number;
  readonly bytes: number;
  /** Many documents were removed since the last sweep. */
  readonly needsSweep: boolean;
  /** @returns whether the document existed */
  remove(id: string): boolean;
  /** Runs in slices. */
  sweep(): Generator<void>;
}

export interface FoldedKind<Index extends FoldedIndex> {
  readonly layout: DocumentLayout;
  /** Of vectors computed for documents without one. */
  readonly dimensions: number;
  create(): Index;
  /** Replaces the document with the same id. @throws INVALID for an unreadable document */
  put(index: Index, id: string, stored: ByteString): void;
}

/** Documents indexed between two pauses: about 1 ms. */
const SLICE_DOCUMENTS = 16;
/** Commands that change no document, or only the expiry, which these keys never have. */
const WITHOUT_DOCUMENTS: ReadonlySet<string> = new Set(['CONFIG', 'FUNCTION', 'ZADD', 'ZREM', 'PERSIST']);

export class FoldedDatabase<Index extends FoldedIndex> {
  #byName = new Map<string, Index>();
  /** Indexes that may have lost documents since the last sweep. */
  readonly #touched = new Set<Index>();
  #unreadable = 0;
  #writes = 0;

  constructor(private readonly kind: FoldedKind<Index>) {}

  /** Documents of all names. */
  get size(): number {
    return [...this.#byName.values()].reduce((sum, { size }) => sum + size, 0);
  }

  /** Unreadable documents since the start. */
  get unreadable(): number {
    return this.#unreadable;
  }

  index(name: string): Index | undefined {
    return this.#byName.get(name);
  }

  named(): Iterable<readonly [name: string, index: Index]> {
    return this.#byName;
  }

  info(): SearchIndexInfo {
    const namespaces = [...this.#byName].map(([name, { size, bytes }]) => [name, { documents: size, bytes }] as const);
    return {
      namespaces: new Map(namespaces.filter(([, { documents }]) => documents > 0)),
      dimensions: this.kind.dimensions,
      writes: this.#writes,
    };
  }

  /**
   * Applies one effect of the journal or of a snapshot, in slices.
   * @throws JOURNAL_DAMAGED for an effect that is never written to documents, because its meaning is unknown here
   */
  *apply(words: readonly ByteString[]): Generator<void> {
    const [command = '', key = ''] = words;
    const { layout } = this.kind;
    const name = layout.nameOf(key);
    switch (command) {
      case 'HSET':
        if (name !== undefined) yield* this.#put(name, words);
        else if (key === COUNTS_KEY) this.#counted(words);
        return;
      case 'HDEL':
        if (name !== undefined) yield* this.#remove(name, words);
        return;
      case 'DEL':
        // The documents of a name are removed together, even if they are in several keys.
        for (const gone of words.slice(1)) this.#byName.delete(layout.nameOf(gone) ?? '');
        return;
      case 'RENAME':
        if (name !== undefined) this.#rename(name, layout.nameOf(words[2] ?? ''));
        return;
      case 'FLUSHALL':
      case 'FLUSHDB':
        this.#byName.clear();
        return;
      default:
        if (WITHOUT_DOCUMENTS.has(command) || words.slice(1).every((word) => layout.nameOf(word) === undefined)) return;
        throw new MillraceError('JOURNAL_DAMAGED', 'documents of an index were changed in an unknown way', {
          name: command,
        });
    }
  }

  /** Sweeps indexes with many removed documents, in slices. */
  *sweep(): Generator<void> {
    const touched = [...this.#touched];
    this.#touched.clear();
    for (const index of touched) if (index.needsSweep) yield* index.sweep();
  }

  #counted(words: readonly ByteString[]): void {
    const at = words.indexOf(WRITES_FIELD, 2);
    if (at >= 0) this.#writes = Number(words[at + 1]);
  }

  *#put(name: string, words: readonly ByteString[]): Generator<void> {
    for (let at = 2; at + 1 < words.length; at += 2) {
      const index = getOrCreate(this.#byName, name, () => this.kind.create());
      this.#read(index, textOfBytes(words[at] as ByteString), words[at + 1] as ByteString);
      this.#touched.add(index);
      if (at % (2 * SLICE_DOCUMENTS) === 0) yield;
    }
  }

  *#remove(name: string, words: readonly ByteString[]): Generator<void> {
    const index = this.#byName.get(name);
    if (index === undefined) return;
    this.#touched.add(index);
    for (let at = 2; at < words.length; at += 1) {
      index.remove(textOfBytes(words[at] as ByteString));
      if (at % SLICE_DOCUMENTS === 0) yield;
    }
    // An index exists while it has a document.
    if (index.size === 0) this.#byName.delete(name);
  }

  /** Only the first of several keys of a name finds an index to move; the target was emptied before. */
  #rename(from: string, to: string | undefined): void {
    const index = this.#byName.get(from);
    if (index === undefined) return;
    this.#byName.delete(from);
    if (to !== undefined) this.#byName.set(to, index);
  }

  #read(index: Index, id: string, stored: ByteString): void {
    try {
      this.kind.put(index, id, stored);
    } catch (error) {
      if (!isMillraceError(error, 'INVALID')) throw error;
      this.#unreadable += 1;
      index.remove(id);
    }
  }
}
