/**
 * The documents of one search database, in the kv partition that is theirs: what each command of the data plane does
 * there. For writes it asks the owner, which decides by the rules of domain/search and does each in one step; reads are
 * plain commands, page by page.
 *
 *  DST1 a write is carried out whole or not at all, but for removals by prefix and by filter, which go in steps of
 *       `STEP_DOCUMENTS`, each whole; what a step has removed stays removed
 *  DST2 no step and no answer of the owner grows with the database
 *  DST3 what is removed by a filter had a text that the filter fits in the moment it is removed
 */
import type { Reply } from '../../domain/kv/index.js';
import {
  BYTES_KEY,
  COUNTS_KEY,
  DOCUMENT_WRITES,
  decodeDocument,
  documentsKey,
  type FilterPredicate,
  type IdRange,
  INDEX_NAMES_KEY,
  orderKey,
  rangeAfter,
  rangeOf,
  STEP_DOCUMENTS,
  type StoredDocument,
} from '../../domain/search/index.js';
import { type ByteString, bytesOfText, type DatabaseId, textOfBytes } from '../../kernel/index.js';
import type { KvGateway } from '../../ports/index.js';
import { MAX_DOCUMENT_PAGE_BYTES, READ_DOCUMENTS } from './face-limits.js';
import { listOf, SearchPartition, type StoredTotals, totalsOf } from './search-partition.js';

/** A document that is replaced every time a filter was asked about it is left alone after so many times. */
const MAX_TRIES = 5;
/** Names whose lengths are asked for in one request. */
const COUNTED_NAMES = 500;

export interface FoundDocument extends StoredDocument {
  readonly id: string;
}

interface DocumentPage {
  readonly documents: readonly FoundDocument[];
  /** The last id that was looked at; undefined when there is none behind it. */
  readonly last: string | undefined;
}

export interface NameCount {
  readonly name: string;
  readonly documents: number;
  readonly bytes: number;
}

export interface UpsertOutcome extends StoredTotals {
  /** If it was not done, of what there would be too much; then nothing is written. */
  readonly kind: 'done' | 'documents' | 'names' | 'bytes';
  /** How many documents are new, or would be. */
  readonly added: number;
}

export interface Removal extends StoredTotals {
  readonly removed: number;
  /** It was told to stop before the end. */
  readonly isCutShort: boolean;
}

export class DocumentStore {
  readonly #partition: SearchPartition;

  constructor(gateway: KvGateway, index: DatabaseId) {
    this.#partition = new SearchPartition(gateway, index);
  }

  /** @param texts by id, as `encodeDocument` makes them */
  async upsert(name: string, texts: ReadonlyMap<string, ByteString>, maxDocuments: number): Promise<UpsertOutcome> {
    const words = [bytesOfText(name), String(maxDocuments)];
    for (const [id, text] of texts) words.push(bytesOfText(id), text);
    const [what, added, ...totals] = await this.#partition.write(DOCUMENT_WRITES.upsert, ...words);
    return { kind: what as UpsertOutcome['kind'], added: Number(added), ...totalsOf(totals) };
  }

  /** In the order of `ids`; undefined for those that are not there. */
  async fetch(name: string, ids: readonly string[]): Promise<readonly (FoundDocument | undefined)[]> {
    const found: (FoundDocument | undefined)[] = [];
    for (let from = 0; from < ids.length; from += READ_DOCUMENTS) {
      const part = ids.slice(from, from + READ_DOCUMENTS).map(bytesOfText);
      const texts = await this.#texts(name, part);
      found.push(...texts.map((text, at) => foundDocument(part[at], text)));
    }
    return found;
  }

  /**
   * Documents in the order of their ids' bytes, from the one behind `after` on.
   * @param count at most so many; fewer when they are long, or removed while they are read
   */
  async page(name: string, prefix: string, after: string | undefined, count: number): Promise<DocumentPage> {
    const range = rangeAfter(bytesOfText(prefix), after === undefined ? undefined : bytesOfText(after));
    const ids = await this.#ids(name, range, count + 1);
    const isAll = ids.length <= count;
    if (!isAll) ids.pop();
    const documents: FoundDocument[] = [];
    let bytes = 0;
    for (let from = 0; from < ids.length; from += READ_DOCUMENTS) {
      if (bytes >= MAX_DOCUMENT_PAGE_BYTES) return { documents, last: textOfBytes(ids[from - 1] as ByteString) };
      const part = ids.slice(from, from + READ_DOCUMENTS);
      const texts = await this.#texts(name, part);
      for (const [at, text] of texts.entries()) {
        bytes += text?.length ?? 0;
        const document = foundDocument(part[at], text);
        if (document !== undefined) documents.push(document);
      }
    }
    return { documents, last: isAll ? undefined : textOfBytes(ids.at(-1) as ByteString) };
  }

  async removeIds(name: string, ids: readonly string[]): Promise<Removal> {
    if (ids.length === 0) return { removed: 0, isCutShort: false, ...(await this.totals()) };
    const words = [name, ...ids].map(bytesOfText);
    const [removed, ...totals] = await this.#partition.write(DOCUMENT_WRITES.removeIds, ...words);
    return { removed: Number(removed), isCutShort: false, ...totalsOf(totals) };
  }

  /** DST1. @param mayGoOn asked before each step but the first */
  async removePrefix(name: string, prefix: string, mayGoOn: () => boolean): Promise<Removal> {
    let removed = 0;
    let after = '';
    for (;;) {
      const words = [bytesOfText(name), bytesOfText(prefix), after];
      const [count, last, ...totals] = await this.#partition.write(DOCUMENT_WRITES.removeRange, ...words);
      removed += Number(count);
      const isCutShort = last !== '' && !mayGoOn();
      if (last === '' || isCutShort) return { removed, isCutShort, ...totalsOf(totals) };
      // Each step begins behind the last one, so that whoever goes on writing there does not keep it going.
      after = last as ByteString;
    }
  }

  /** DST1, DST3. @param mayGoOn asked before each step but the first */
  async removeFitting(name: string, fits: FilterPredicate, mayGoOn: () => boolean): Promise<Removal> {
    let removed = 0;
    let range = rangeOf('');
    for (;;) {
      const ids = await this.#ids(name, range, STEP_DOCUMENTS);
      for (let tries = 0; tries < MAX_TRIES && ids.length > 0; tries += 1) {
        const step = await this.#removeFittingOf(name, ids, fits);
        if (step === undefined) break;
        removed += step.removed;
        if (step.changed === 0) break;
      }
      const isLast = ids.length < STEP_DOCUMENTS;
      const isCutShort = !isLast && !mayGoOn();
      if (isLast || isCutShort) return { removed, isCutShort, ...(await this.totals()) };
      range = rangeAfter('', ids.at(-1) as ByteString);
    }
  }

  /** @returns undefined when none of them fits */
  async #removeFittingOf(
    name: string,
    ids: readonly ByteString[],
    fits: FilterPredicate,
  ): Promise<{ readonly removed: number; readonly changed: number } | undefined> {
    const texts = await this.#texts(name, ids);
    const words = [bytesOfText(name)];
    ids.forEach((id, at) => {
      const text = texts[at];
      if (text !== undefined && fits(decodeDocument(text))) words.push(id, text);
    });
    if (words.length === 1) return undefined;
    const [removed, changed] = await this.#partition.write(DOCUMENT_WRITES.removeUnchanged, ...words);
    return { removed: Number(removed), changed: Number(changed) };
  }

  async reset(name: string): Promise<StoredTotals> {
    return totalsOf(await this.#partition.write(DOCUMENT_WRITES.reset, bytesOfText(name)));
  }

  async resetAll(): Promise<StoredTotals> {
    return totalsOf(await this.#partition.write(DOCUMENT_WRITES.resetAll));
  }

  /** @returns undefined when there is none of that name */
  async deleteName(name: string): Promise<StoredTotals | undefined> {
    const [deleted, ...totals] = await this.#partition.write(DOCUMENT_WRITES.deleteName, bytesOfText(name));
    return deleted === 1 ? totalsOf(totals) : undefined;
  }

  async rename(name: string, newName: string, deletesExisting: boolean): Promise<'done' | 'missing' | 'taken'> {
    const words = [bytesOfText(name), bytesOfText(newName), deletesExisting ? '1' : '0'];
    const [what] = await this.#partition.write(DOCUMENT_WRITES.rename, ...words);
    return what as 'done' | 'missing' | 'taken';
  }

  /** All names, in the order of their creation. */
  async names(): Promise<readonly string[]> {
    const flat = listOf(await this.#partition.one(['HGETALL', INDEX_NAMES_KEY]));
    const numbered: { name: string; number: number }[] = [];
    for (let at = 0; at + 1 < flat.length; at += 2) {
      numbered.push({ name: textOfBytes(String(flat[at])), number: Number(flat[at + 1]) });
    }
    return numbered.sort((a, b) => a.number - b.number).map(({ name }) => name);
  }

  /** What every index holds. */
  async counts(): Promise<readonly NameCount[]> {
    const names = await this.names();
    const counts: NameCount[] = [];
    for (let from = 0; from < names.length; from += COUNTED_NAMES) {
      const part = names.slice(from, from + COUNTED_NAMES);
      const lengths = part.map((name) => ['HLEN', documentsKey(name)]);
      const [bytes, ...documents] = await this.#partition.pipeline([
        ['HMGET', BYTES_KEY, ...part.map(bytesOfText)],
        ...lengths,
      ]);
      const sizes = listOf(bytes as Reply);
      part.forEach((name, at) => {
        counts.push({ name, documents: Number(documents[at]), bytes: Number(sizes[at] ?? 0) });
      });
    }
    return counts;
  }

  async totals(): Promise<StoredTotals> {
    return totalsOf(listOf(await this.#partition.one(['HMGET', COUNTS_KEY, 'documents', 'bytes'])));
  }

  async #ids(name: string, { from, to }: IdRange, count: number): Promise<ByteString[]> {
    const words = ['ZRANGEBYLEX', orderKey(name), from, to, 'LIMIT', '0', String(count)];
    return [...listOf(await this.#partition.one(words))] as ByteString[];
  }

  /** In the order of `ids`; undefined for those that are not there. */
  async #texts(name: string, ids: readonly ByteString[]): Promise<readonly (ByteString | undefined)[]> {
    if (ids.length === 0) return [];
    const texts = listOf(await this.#partition.one(['HMGET', documentsKey(name), ...ids]));
    return texts.map((text) => (text === null ? undefined : (text as ByteString)));
  }
}

function foundDocument(id: ByteString | undefined, text: ByteString | undefined): FoundDocument | undefined {
  if (id === undefined || text === undefined) return undefined;
  return { id: textOfBytes(id), ...decodeDocument(text) };
}
