/**
 * The contents of one index in memory: its documents by key, and their fields.
 *
 *  IXC1 ordinals only grow: documents with a higher one were written later, and postings are in their order
 *  IXC2 the counts of documents and lengths are those of the present documents and of one that is being added; postings
 *      of removed ones stay until the contents are built again
 *  IXC3 no document moves the keys or the terms of all documents (OBN1: a Map of all stops the process when it doubles)
 */
import type { ByteString } from '../../kernel/index.js';
import { NumberList, OrdinalsByName } from '../collections/index.js';
import { MAX_ORDINALS, ordinalOf } from '../search/index.js';
import { ContentsReader, ContentsWriter } from './contents-bytes.js';
import { type IndexDefinition, type IndexField, isNumeric, SearchProblem } from './definition.js';
import { type FieldValue, type Scalar, typedValueOf } from './field-values.js';
import { MAX_FIELD_VALUES, SLICE_POSTINGS } from './limits.js';
import { type IndexTerm, TextField } from './text-field.js';
import { KeywordField, NumberField } from './value-fields.js';

export type ContentsField = TextField | NumberField | KeywordField;

/** Of the stored form and of its terms: grows when words or stems change. Others are not read. */
const CONTENTS_VERSION = 2;
/** Keys written or read between two pauses. */
const SLICE_KEYS = 2000;
/** Memory that is taken by documents that are added between two pauses: a few hundred words. */
const SLICE_ADDED_BYTES = 16 * 1024;
const GROWTH = 1.5;
/** A position in the list of term ids has 32 bits. Half of them leave room for any document that is being added. */
const MAX_TERM_IDS = 2 ** 31;
/** Memory of a document without its fields and the characters of its key. */
const DOCUMENT_BYTES = 75;
/** Contents with so many removed documents, … */
const STALE_FROM = 1000;
/** … which are this share of all, are to be built again. */
const STALE_SHARE = 0.3;

export class IndexContents {
  readonly #fields: readonly ContentsField[];
  readonly #fieldsByPath = new Map<string, ContentsField>();
  readonly #terms: IndexTerm[] = [];
  readonly #keys: (ByteString | undefined)[] = [];
  readonly #ordinals = new OrdinalsByName((ordinal) => this.#keys[ordinal]);
  #isAlive = new Uint8Array(64);
  #hashes = new Float64Array(64);
  /** The ids of the terms of all documents, one after the other, and where those of an ordinal begin. */
  readonly #termIds = new NumberList();
  readonly #idsFrom = new NumberList();
  #bytes = 0;

  constructor(definition: IndexDefinition) {
    this.#fields = definition.fields.map((field) => this.#newField(field, definition.language));
    for (const contents of this.#fields) this.#fieldsByPath.set(contents.field.path, contents);
  }

  /** Documents. */
  get size(): number {
    return this.#ordinals.size;
  }

  /** Ordinals that were ever used. */
  get ordinals(): number {
    return this.#keys.length;
  }

  /** The approximate memory. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Whether so many documents were removed or replaced that new contents would be much smaller. */
  get isStale(): boolean {
    const gone = this.ordinals - this.size;
    return gone >= STALE_FROM && gone >= this.ordinals * STALE_SHARE;
  }

  get isFull(): boolean {
    return this.ordinals >= MAX_ORDINALS || this.#termIds.length >= MAX_TERM_IDS;
  }

  has(key: ByteString): boolean {
    return this.#ordinals.has(key);
  }

  isAlive(ordinal: number): boolean {
    return this.#isAlive[ordinal] === 1;
  }

  keyAt(ordinal: number): ByteString {
    return this.#keys[ordinal] as ByteString;
  }

  /** The keys of the documents in the order of writing. */
  *keys(): Iterable<ByteString> {
    for (const key of this.#keys) if (key !== undefined) yield key;
  }

  field(path: string): ContentsField | undefined {
    return this.#fieldsByPath.get(path);
  }

  /** In the order of the definition. */
  get textFields(): readonly TextField[] {
    return this.#fields.filter((field) => field instanceof TextField);
  }

  /** Whether the document of the key was put with this hash. */
  isCurrent(key: ByteString, hash: number): boolean {
    const ordinal = this.#ordinals.get(key);
    return ordinal !== undefined && this.#hashes[ordinal] === hash;
  }

  /**
   * Puts a document in the place of the key's earlier one, in slices: queries find the earlier one until the last. A
   * second one must not be put before that. @param values by the place of the field in the definition
   * @param hash for `isCurrent`
   */
  *put(key: ByteString, values: readonly (readonly Scalar[])[], hash = 0): Generator<void, void> {
    if (this.isFull) {
      yield* this.remove(key);
      return;
    }
    const ordinal = this.#keys.length;
    this.#makeRoom(ordinal);
    this.#keys.push(undefined);
    this.#isAlive[ordinal] = 0;
    this.#idsFrom.push(this.#termIds.length);
    this.#bytes += DOCUMENT_BYTES + key.length;
    const note = (id: number) => this.#termIds.push(id);
    let work = 0;
    for (const [place, contents] of this.#fields.entries()) {
      const given = values[place];
      if (given === undefined || given.length === 0) continue;
      const typed = typedValues(contents.field, given);
      if (contents instanceof TextField) {
        for (const bytes of contents.add(ordinal, typed as readonly string[], note)) {
          this.#bytes += bytes;
          work += bytes;
          if (work < SLICE_ADDED_BYTES) continue;
          work = 0;
          yield;
        }
      } else {
        const bytes =
          contents instanceof NumberField
            ? contents.add(ordinal, typed)
            : contents.add(ordinal, typed as readonly string[], note);
        this.#bytes += bytes;
        work += bytes;
      }
      if (work < SLICE_ADDED_BYTES) continue;
      work = 0;
      yield;
    }
    yield* this.remove(key);
    this.#hashes[ordinal] = hash;
    this.#keys[ordinal] = key;
    this.#ordinals.add(key, ordinal);
    this.#isAlive[ordinal] = 1;
  }

  /** In slices; queries do not find the document after the first. @returns whether there was a document */
  *remove(key: ByteString): Generator<void, boolean> {
    const ordinal = this.#ordinals.delete(key);
    if (ordinal === undefined) return false;
    this.#keys[ordinal] = undefined;
    this.#isAlive[ordinal] = 0;
    this.#bytes -= key.length;
    const from = this.#idsFrom.at(ordinal);
    const to = ordinal + 1 < this.#idsFrom.length ? this.#idsFrom.at(ordinal + 1) : this.#termIds.length;
    for (let at = from; at < to; at += 1) {
      (this.#terms[this.#termIds.at(at)] as IndexTerm).documents -= 1;
      if ((at - from) % SLICE_POSTINGS === SLICE_POSTINGS - 1) yield;
    }
    for (const contents of this.#fields) contents.forget(ordinal);
    return true;
  }

  /**
   * The present documents as bytes. Documents may be added and removed between two pieces: added ones are not in it, and
   * removed ones may be. It is therefore compared with the keys when it is read. @param text the definition
   */
  *pieces(text: string): Generator<Uint8Array | undefined, void> {
    const writer = new ContentsWriter();
    const from: number[] = [];
    const renumbered = new Int32Array(this.ordinals).fill(-1);
    const count = this.ordinals;
    writer.integer(CONTENTS_VERSION);
    writer.text(text);
    for (let ordinal = 0; ordinal < count; ordinal += 1) {
      if (this.#keys[ordinal] === undefined) continue;
      renumbered[ordinal] = from.length;
      from.push(ordinal);
    }
    writer.integer(from.length);
    writer.float(this.#bytes);
    for (const ordinal of from) {
      // A key that was removed just now has no hash, and is removed when the contents are read.
      writer.text(this.#keys[ordinal] ?? '');
      writer.float(this.#keys[ordinal] === undefined ? Number.NaN : (this.#hashes[ordinal] as number));
      if (ordinal % SLICE_KEYS === 0) yield;
      yield* writer.takeFull();
    }
    const given = { from, at: (ordinal: number) => renumbered[ordinal] ?? -1 };
    for (const field of this.#fields) {
      for (const _ of field.write(writer, given)) {
        yield;
        yield* writer.takeFull();
      }
    }
    yield* writer.takeRest();
  }

  /** The contents of the pieces. @throws SearchProblem when they are of another definition or release */
  static *read(definition: IndexDefinition, text: string, bytes: Uint8Array): Generator<void, IndexContents> {
    const contents = new IndexContents(definition);
    const reader = new ContentsReader(bytes);
    if (reader.integer() !== CONTENTS_VERSION || reader.text() !== text) {
      throw new SearchProblem('the stored contents are those of another index');
    }
    yield* contents.#read(reader);
    if (!reader.isAtEnd) throw new SearchProblem('the stored contents of an index are too long');
    return contents;
  }

  *#read(reader: ContentsReader): Generator<void, void> {
    const count = reader.integer();
    this.#bytes = reader.float();
    this.#makeRoom(count);
    for (let ordinal = 0; ordinal < count; ordinal += 1) {
      const text = reader.text();
      const hash = reader.float();
      const key = Number.isNaN(hash) ? `\0removed ${ordinal}` : text;
      this.#keys.push(key);
      this.#hashes[ordinal] = hash;
      this.#isAlive[ordinal] = 1;
      this.#ordinals.add(key, ordinal);
      if (ordinal % SLICE_KEYS === SLICE_KEYS - 1) yield;
    }
    for (const field of this.#fields) yield* field.read(reader, count);
    yield* this.#listTerms(count);
  }

  /** The terms of each document, from the postings. */
  *#listTerms(count: number): Generator<void, void> {
    let done = 0;
    const places = new Uint32Array(count + 1);
    for (const { postings } of this.#terms) {
      const { items, length } = postings;
      for (let at = 0; at < length; at += 1) {
        const next = ordinalOf(items[at] as number) + 1;
        places[next] = (places[next] as number) + 1;
      }
      done += length + 8;
      if (done < SLICE_POSTINGS) continue;
      done = 0;
      yield;
    }
    for (let ordinal = 0; ordinal < count; ordinal += 1) {
      const from = places[ordinal] as number;
      const to = from + (places[ordinal + 1] as number);
      places[ordinal + 1] = to;
      this.#idsFrom.push(from);
      for (let at = from; at < to; at += 1) this.#termIds.push(0);
      done += to - from + 1;
      if (done < SLICE_POSTINGS) continue;
      done = 0;
      yield;
    }
    for (const { postings, id } of this.#terms) {
      const { items, length } = postings;
      for (let at = 0; at < length; at += 1) {
        const ordinal = ordinalOf(items[at] as number);
        const place = places[ordinal] as number;
        this.#termIds.set(place, id);
        places[ordinal] = place + 1;
      }
      done += length + 8;
      if (done < SLICE_POSTINGS) continue;
      done = 0;
      yield;
    }
  }

  #newField(field: IndexField, language: string): ContentsField {
    const nextId = () => this.#terms.length;
    const onTerm = (term: IndexTerm) => this.#terms.push(term);
    if (field.type === 'TEXT') return new TextField(field, language, nextId, onTerm);
    if (field.type === 'KEYWORD' || field.type === 'FACET') return new KeywordField(field, nextId, onTerm);
    return new NumberField(field);
  }

  #makeRoom(ordinal: number): void {
    if (ordinal < this.#isAlive.length) return;
    const length = Math.ceil((ordinal + 1) * GROWTH);
    const alive = new Uint8Array(length);
    alive.set(this.#isAlive);
    this.#isAlive = alive;
    const hashes = new Float64Array(length);
    hashes.set(this.#hashes);
    this.#hashes = hashes;
  }
}

function typedValues({ type }: IndexField, given: readonly Scalar[]): FieldValue[] {
  const typed: FieldValue[] = [];
  for (const scalar of given) {
    if (typed.length >= MAX_FIELD_VALUES) break;
    const value = typedValueOf(type, scalar);
    if (value !== undefined) typed.push(value);
  }
  return typed;
}

/** Whether the field's values are numbers, dates included. */
export function isOfNumbers({ type }: IndexField): boolean {
  return isNumeric(type) || type === 'DATE';
}
