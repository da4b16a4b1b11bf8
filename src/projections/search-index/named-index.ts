/**
 * The documents of one index name, ready for search. Each has an ordinal, the number by which postings and vectors
 * refer to it.
 *
 *  NI1 a document is added or removed in one piece; a search checks by `changedAt` between two slices whether an
 *      ordinal is still the document that it met
 *  NI2 an ordinal is reused only after a sweep has removed it from all lists
 *  NI3 the results of a query follow from the documents alone, not from the order or number of changes
 */
import {
  type Embedding,
  type JsonObject,
  lengthFactor,
  MAX_ORDINALS,
  type SearchableText,
  type StoredDocument,
  searchableText,
} from '../../domain/search/index.js';
import { assert } from '../../kernel/index.js';
import { ExactTexts } from './exact-texts.js';
import { HeldDocuments, withRoom } from './held-documents.js';
import { ScratchPool } from './scratch.js';
import { normalized, quantized, VectorBlocks } from './vector-blocks.js';
import { type IndexedTerm, Vocabulary } from './vocabulary.js';

export interface IndexedDocument {
  readonly id: string;
  readonly content: JsonObject;
  readonly metadata: JsonObject | undefined;
  /** The length of the stored JSON text. */
  readonly bytes: number;
  /** The client's own vector, normalised to length 1. */
  readonly vector: Float32Array | undefined;
}

/** A document with more words counts as long. The service with this formula uses a constant too. */
const AVERAGE_WORDS = 32;
export class NamedIndex {
  readonly vocabulary = new Vocabulary();
  readonly vectors: VectorBlocks;
  readonly exactTexts = new ExactTexts();
  /** Searches borrow their arrays from it. */
  readonly scratch = new ScratchPool();
  readonly #documents = new HeldDocuments<IndexedDocument>();
  /** By ordinal: the length factor of BM25. */
  #lengthFactors = new Float32Array(16);
  #withVector = 0;

  constructor(readonly embedding: Embedding) {
    this.vectors = new VectorBlocks(embedding.dimensions);
  }

  get size(): number {
    return this.#documents.size;
  }

  get bytes(): number {
    return this.#documents.bytes;
  }

  /** Ordinals that were ever used; those of removed documents are empty. */
  get ordinals(): number {
    return this.#documents.ordinals;
  }

  /** Documents with their own vector. */
  get withVector(): number {
    return this.#withVector;
  }

  /** Grows with every added or removed document. */
  get changes(): number {
    return this.#documents.changes;
  }

  get lengthFactors(): Float32Array {
    return this.#lengthFactors;
  }

  changedAt(ordinal: number): number {
    return this.#documents.changedAt(ordinal);
  }

  documentAt(ordinal: number): IndexedDocument | undefined {
    return this.#documents.at(ordinal);
  }

  /** Replaces the document with the same id. */
  put(id: string, { content, metadata, vector }: StoredDocument, bytes: number): void {
    this.remove(id);
    const text = searchableText(content);
    const ordinal = this.#documents.takeOrdinal();
    assert(ordinal < MAX_ORDINALS, 'an index has no room for more documents', { ordinal });
    const isReused = ordinal < this.ordinals;
    const own = vector === undefined ? undefined : normalized(vector);
    this.#documents.add(ordinal, { id, content, metadata, bytes, vector: own });
    if (own !== undefined) this.#withVector += 1;
    for (const [word, count] of countsOf(text.words)) {
      const term = this.vocabulary.fetch(word);
      term.postings.add(ordinal, count);
      term.documents += 1;
    }
    this.#lengthFactors = withRoom(this.#lengthFactors, ordinal);
    this.#lengthFactors[ordinal] = lengthFactor(text.words.length, AVERAGE_WORDS);
    this.vectors.set(ordinal, quantized(this.embedding.embed(text.valueText)), isReused);
    for (const exact of text.exactTexts) this.exactTexts.add(exact, ordinal);
  }

  /** @returns whether the document existed */
  remove(id: string): boolean {
    const found = this.#documents.remove(id);
    if (found === undefined) return false;
    const [ordinal, { content, vector }] = found;
    this.#documents.retire(ordinal);
    if (vector !== undefined) this.#withVector -= 1;
    this.#forget(searchableText(content), ordinal);
    return true;
  }

  get needsSweep(): boolean {
    return this.#documents.needsSweep;
  }

  /** As `HeldDocuments.sweep`. */
  sweep(): Generator<void> {
    return this.#documents.sweep((isRetired) => this.#retire(isRetired));
  }

  *#retire(isRetired: (ordinal: number) => boolean): Generator<number> {
    // From the end: a deleted word is replaced by the last one, which was already seen or is new.
    for (let place = this.vocabulary.size - 1; place >= 0; place -= 1) {
      const term = this.vocabulary.at(place);
      if (term === undefined) continue;
      const entries = term.postings.length + 1;
      term.postings.retire(isRetired);
      if (term.postings.length === 0) this.vocabulary.delete(term);
      yield entries;
    }
    yield* this.exactTexts.retire(isRetired);
  }

  #forget({ words, exactTexts }: SearchableText, ordinal: number): void {
    for (const word of new Set(words)) (this.vocabulary.get(word) as IndexedTerm).documents -= 1;
    for (const exact of exactTexts) this.exactTexts.remove(exact, ordinal);
  }
}

function countsOf(words: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  return counts;
}
