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
/** A sweep starts when this many ordinals are removed … */
const SWEEP_FROM = 1000;
/** … and they are this share of all. */
const SWEEP_SHARE = 0.25;
/** Postings or words that a sweep reads between two pauses: about 1 ms. */
const SWEEP_STEP = 100_000;

export class NamedIndex {
  readonly vocabulary = new Vocabulary();
  readonly vectors: VectorBlocks;
  readonly exactTexts = new ExactTexts();
  /** Searches borrow their arrays from it. */
  readonly scratch = new ScratchPool();
  readonly #documents: (IndexedDocument | undefined)[] = [];
  readonly #ordinalsById = new Map<string, number>();
  /** By ordinal: the change that added or removed its last document. */
  #changedAt = new Float64Array(16);
  /** By ordinal: the length factor of BM25. */
  #lengthFactors = new Float32Array(16);
  #freeOrdinals: number[] = [];
  #goneOrdinals: number[] = [];
  #isSweeping = false;
  #changes = 0;
  #bytes = 0;
  #withVector = 0;

  constructor(readonly embedding: Embedding) {
    this.vectors = new VectorBlocks(embedding.dimensions);
  }

  get size(): number {
    return this.#ordinalsById.size;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Ordinals that were ever used; those of removed documents are empty. */
  get ordinals(): number {
    return this.#documents.length;
  }

  /** Documents with their own vector. */
  get withVector(): number {
    return this.#withVector;
  }

  /** Grows with every added or removed document. */
  get changes(): number {
    return this.#changes;
  }

  get lengthFactors(): Float32Array {
    return this.#lengthFactors;
  }

  changedAt(ordinal: number): number {
    return this.#changedAt[ordinal] ?? 0;
  }

  documentAt(ordinal: number): IndexedDocument | undefined {
    return this.#documents[ordinal];
  }

  /** Replaces the document with the same id. */
  put(id: string, { content, metadata, vector }: StoredDocument, bytes: number): void {
    this.remove(id);
    const text = searchableText(content);
    const freed = this.#freeOrdinals.pop();
    const ordinal = freed ?? this.#documents.length;
    assert(ordinal < MAX_ORDINALS, 'an index has no room for more documents', { ordinal });
    this.#changes += 1;
    const own = vector === undefined ? undefined : normalized(vector);
    this.#documents[ordinal] = { id, content, metadata, bytes, vector: own };
    this.#ordinalsById.set(id, ordinal);
    this.#changedAt = withRoom(this.#changedAt, ordinal);
    this.#changedAt[ordinal] = this.#changes;
    this.#bytes += bytes;
    if (own !== undefined) this.#withVector += 1;
    for (const [word, count] of countsOf(text.words)) {
      const term = this.vocabulary.fetch(word);
      term.postings.add(ordinal, count);
      term.documents += 1;
    }
    this.#lengthFactors = withRoom(this.#lengthFactors, ordinal);
    this.#lengthFactors[ordinal] = lengthFactor(text.words.length, AVERAGE_WORDS);
    this.vectors.set(ordinal, quantized(this.embedding.embed(text.valueText)), freed !== undefined);
    for (const exact of text.exactTexts) this.exactTexts.add(exact, ordinal);
  }

  /** @returns whether the document existed */
  remove(id: string): boolean {
    const ordinal = this.#ordinalsById.get(id);
    if (ordinal === undefined) return false;
    const document = this.#documents[ordinal] as IndexedDocument;
    this.#changes += 1;
    this.#ordinalsById.delete(id);
    this.#documents[ordinal] = undefined;
    this.#changedAt[ordinal] = this.#changes;
    this.#goneOrdinals.push(ordinal);
    this.#bytes -= document.bytes;
    if (document.vector !== undefined) this.#withVector -= 1;
    this.#forget(searchableText(document.content), ordinal);
    return true;
  }

  get needsSweep(): boolean {
    const gone = this.#goneOrdinals.length;
    return !this.#isSweeping && gone >= SWEEP_FROM && gone >= this.#documents.length * SWEEP_SHARE;
  }

  /** Removes deleted ordinals from all lists, in slices; documents may be added or removed between them. */
  *sweep(): Generator<void> {
    if (this.#isSweeping) return;
    this.#isSweeping = true;
    const retired = this.#goneOrdinals;
    this.#goneOrdinals = [];
    const marks = new Uint8Array(this.#documents.length);
    for (const ordinal of retired) marks[ordinal] = 1;
    const isRetired = (ordinal: number) => marks[ordinal] === 1;
    let looked = 0;
    // From the end: a deleted word is replaced by the last one, which was already seen or is new.
    for (let place = this.vocabulary.size - 1; place >= 0; place -= 1) {
      const term = this.vocabulary.at(place);
      if (term === undefined) continue;
      looked += term.postings.length + 1;
      term.postings.retire(isRetired);
      if (term.postings.length === 0) this.vocabulary.delete(term);
      if (looked < SWEEP_STEP) continue;
      looked = 0;
      yield;
    }
    for (const seen of this.exactTexts.retire(isRetired)) {
      looked += seen;
      if (looked < SWEEP_STEP) continue;
      looked = 0;
      yield;
    }
    this.#freeOrdinals = this.#freeOrdinals.concat(retired);
    this.#isSweeping = false;
  }

  #forget({ words, exactTexts }: SearchableText, ordinal: number): void {
    for (const word of new Set(words)) (this.vocabulary.get(word) as IndexedTerm).documents -= 1;
    for (const exact of exactTexts) this.exactTexts.remove(exact, ordinal);
  }
}

/** The same array if the ordinal fits, else a larger copy. */
export function withRoom<A extends Float32Array | Float64Array | Uint32Array>(array: A, ordinal: number): A {
  if (ordinal < array.length) return array;
  const larger = new (array.constructor as new (length: number) => A)(Math.max(ordinal + 1, array.length * 2));
  larger.set(array);
  return larger;
}

function countsOf(words: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  return counts;
}
