/**
 * The documents of one database, in its kv partition, and the work of each command of the data plane. Writes
 * are sent to the owner, which decides by the rules of domain/search and executes each in one step; reads are plain
 * commands, page by page.
 *
 *  DST1 a write is executed whole or not at all, except removals by prefix and by filter: these run in steps of
 *       `STEP_DOCUMENTS`, each whole, and a completed step stays
 *  DST2 no step and no answer of the owner grows with the database
 *  DST3 a document removed by a filter matches the filter at the moment of its removal
 */
import type { Reply } from '../../domain/kv/index.js';
import {
  BYTES_KEY,
  COUNTS_KEY,
  DOCUMENT_WRITES,
  type DocumentLayout,
  type DocumentWrites,
  decodeDocument,
  type FilteredDocument,
  type FilterPredicate,
  type IdRange,
  INDEX_NAMES_KEY,
  rangeAfter,
  rangeOf,
  SEARCH_LAYOUT,
  STEP_DOCUMENTS,
  type StoredDocument,
} from '../../domain/search/index.js';
import { type ByteString, bytesOfText, type DatabaseId, getOrCreate, textOfBytes } from '../../kernel/index.js';
import type { KvGateway } from '../../ports/index.js';
import { MAX_DOCUMENT_PAGE_BYTES, READ_DOCUMENTS } from './endpoint-limits.js';
import { listOf, SearchPartition, type StoredTotals, totalsOf } from './search-partition.js';

/** Which documents are removed. */
export interface RemovalFilter {
  readonly fits: FilterPredicate;
  /** To be called after each document. */
  readonly pauseIfDue: () => Promise<void> | undefined;
}

/** A document that changes between the filter's check and the removal is skipped after this many tries. */
const MAX_TRIES = 5;
/** Index names per request for their sizes. */
const COUNTED_NAMES = 500;

/** How the documents of a kind of database are stored. */
export interface DocumentKind<Stored> {
  readonly layout: DocumentLayout;
  readonly writes: DocumentWrites;
  /** @throws INVALID */
  decode(text: ByteString): Stored;
  /** The parts that a filter reads. */
  filtered(stored: Stored): FilteredDocument;
}

const SEARCH_DOCUMENTS: DocumentKind<StoredDocument> = {
  layout: SEARCH_LAYOUT,
  writes: DOCUMENT_WRITES,
  decode: decodeDocument,
  filtered: (stored) => stored,
};

export type Found<Stored> = Stored & { readonly id: string };
export type FoundDocument = Found<StoredDocument>;

interface DocumentPage<Stored> {
  readonly documents: readonly Found<Stored>[];
  /** The last id read; undefined at the end. */
  readonly last: string | undefined;
}

export interface NameCount {
  readonly name: string;
  readonly documents: number;
  readonly bytes: number;
}

export interface UpsertOutcome extends StoredTotals {
  /** 'done', or the limit that would be exceeded; then the write was not executed. */
  readonly kind: 'done' | 'documents' | 'names' | 'bytes';
  /** New documents, or the number that would be new. */
  readonly added: number;
}

export interface Removal extends StoredTotals {
  readonly removed: number;
  /** It was stopped before the end. */
  readonly isCutShort: boolean;
}

export function searchDocuments(gateway: KvGateway, index: DatabaseId): DocumentStore<StoredDocument> {
  return new DocumentStore(new SearchPartition(gateway, index), SEARCH_DOCUMENTS);
}

export class DocumentStore<Stored extends object> {
  readonly #partition: SearchPartition;

  constructor(
    partition: SearchPartition,
    private readonly kind: DocumentKind<Stored>,
  ) {
    this.#partition = partition;
  }

  /** @param texts by id, as made by `encodeDocument` */
  async upsert(name: string, texts: ReadonlyMap<string, ByteString>, maxDocuments: number): Promise<UpsertOutcome> {
    const words = [bytesOfText(name), String(maxDocuments)];
    for (const [id, text] of texts) words.push(bytesOfText(id), text);
    const [kind, added, ...totals] = await this.#partition.write(this.kind.writes.upsert, ...words);
    return { kind: kind as UpsertOutcome['kind'], added: Number(added), ...totalsOf(totals) };
  }

  /** In the order of `ids`; undefined for missing documents. */
  async fetch(name: string, ids: readonly string[]): Promise<readonly (Found<Stored> | undefined)[]> {
    const found: (Found<Stored> | undefined)[] = [];
    for (let from = 0; from < ids.length; from += READ_DOCUMENTS) {
      const part = ids.slice(from, from + READ_DOCUMENTS).map(bytesOfText);
      const texts = await this.#texts(name, part);
      found.push(...texts.map((text, at) => this.#found(part[at], text)));
    }
    return found;
  }

  /**
   * Documents in the byte order of their ids, after `after`.
   * @param count the most; fewer if they are long, or removed during the read
   */
  async page(name: string, prefix: string, after: string | undefined, count: number): Promise<DocumentPage<Stored>> {
    const range = rangeAfter(bytesOfText(prefix), after === undefined ? undefined : bytesOfText(after));
    const ids = await this.#ids(name, range, count + 1);
    const isAll = ids.length <= count;
    if (!isAll) ids.pop();
    const documents: Found<Stored>[] = [];
    let bytes = 0;
    for (let from = 0; from < ids.length; from += READ_DOCUMENTS) {
      if (bytes >= MAX_DOCUMENT_PAGE_BYTES) return { documents, last: textOfBytes(ids[from - 1] as ByteString) };
      const part = ids.slice(from, from + READ_DOCUMENTS);
      const texts = await this.#texts(name, part);
      for (const [at, text] of texts.entries()) {
        bytes += text?.length ?? 0;
        const document = this.#found(part[at], text);
        if (document !== undefined) documents.push(document);
      }
    }
    return { documents, last: isAll ? undefined : textOfBytes(ids.at(-1) as ByteString) };
  }

  async removeIds(name: string, ids: readonly string[]): Promise<Removal> {
    if (ids.length === 0) return { removed: 0, isCutShort: false, ...(await this.totals()) };
    const words = [name, ...ids].map(bytesOfText);
    const [removed, ...totals] = await this.#partition.write(this.kind.writes.removeIds, ...words);
    return { removed: Number(removed), isCutShort: false, ...totalsOf(totals) };
  }

  /** Runs in steps, each whole (DST1). @param mayGoOn called before each step but the first */
  async removePrefix(name: string, prefix: string, mayGoOn: () => boolean): Promise<Removal> {
    let removed = 0;
    let after = '';
    for (;;) {
      const words = [bytesOfText(name), bytesOfText(prefix), after];
      const [count, last, ...totals] = await this.#partition.write(this.kind.writes.removeRange, ...words);
      removed += Number(count);
      const isCutShort = last !== '' && !mayGoOn();
      if (last === '' || isCutShort) return { removed, isCutShort, ...totalsOf(totals) };
      // Each step continues after the previous one, so that concurrent writes do not prolong it for ever.
      after = last as ByteString;
    }
  }

  /**
   * Runs in steps, each whole (DST1), and removes only documents that match at that moment (DST3). @param mayGoOn
   * called before each step but the first
   */
  async removeFitting(name: string, filter: RemovalFilter, mayGoOn: () => boolean): Promise<Removal> {
    let removed = 0;
    let range = rangeOf('');
    for (;;) {
      const ids = await this.#ids(name, range, STEP_DOCUMENTS);
      for (let tries = 0; tries < MAX_TRIES && ids.length > 0; tries += 1) {
        const step = await this.#removeFittingOf(name, ids, filter);
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

  /** @returns undefined if none matches */
  async #removeFittingOf(
    name: string,
    ids: readonly ByteString[],
    { fits, pauseIfDue }: RemovalFilter,
  ): Promise<{ readonly removed: number; readonly changed: number } | undefined> {
    const texts = await this.#texts(name, ids);
    const words = [bytesOfText(name)];
    for (const [at, id] of ids.entries()) {
      const text = texts[at];
      if (text !== undefined && fits(this.kind.filtered(this.kind.decode(text)))) words.push(id, text);
      await pauseIfDue();
    }
    if (words.length === 1) return undefined;
    const [removed, changed] = await this.#partition.write(this.kind.writes.removeUnchanged, ...words);
    return { removed: Number(removed), changed: Number(changed) };
  }

  async reset(name: string): Promise<StoredTotals> {
    return totalsOf(await this.#partition.write(this.kind.writes.reset, bytesOfText(name)));
  }

  async resetAll(): Promise<StoredTotals> {
    return totalsOf(await this.#partition.write(this.kind.writes.resetAll));
  }

  /** @returns undefined if the name is unknown */
  async deleteName(name: string): Promise<StoredTotals | undefined> {
    const [deleted, ...totals] = await this.#partition.write(this.kind.writes.deleteName, bytesOfText(name));
    return deleted === 1 ? totalsOf(totals) : undefined;
  }

  async rename(name: string, newName: string, deletesExisting: boolean): Promise<'done' | 'missing' | 'taken'> {
    const words = [bytesOfText(name), bytesOfText(newName), deletesExisting ? '1' : '0'];
    const [outcome] = await this.#partition.write(this.kind.writes.rename, ...words);
    return outcome as 'done' | 'missing' | 'taken';
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

  /** The size of every index. */
  async counts(): Promise<readonly NameCount[]> {
    const names = await this.names();
    const counts: NameCount[] = [];
    for (let from = 0; from < names.length; from += COUNTED_NAMES) {
      const part = names.slice(from, from + COUNTED_NAMES);
      const lengths = part.map((name) => ['ZCARD', this.kind.layout.orderOf(bytesOfText(name))]);
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
    const words = ['ZRANGEBYLEX', this.kind.layout.orderOf(bytesOfText(name)), from, to, 'LIMIT', '0', String(count)];
    return [...listOf(await this.#partition.one(words))] as ByteString[];
  }

  /** In the order of `ids`; undefined for missing documents. */
  async #texts(name: string, ids: readonly ByteString[]): Promise<readonly (ByteString | undefined)[]> {
    const byKey = new Map<ByteString, ByteString[]>();
    for (const id of ids) {
      const key = this.kind.layout.keyOf(bytesOfText(name), id);
      getOrCreate(byKey, key, () => ['HMGET', key]).push(id);
    }
    if (byKey.size === 0) return [];
    const commands = [...byKey.values()];
    const replies = await this.#partition.pipeline(commands);
    const texts = new Map<ByteString, ByteString>();
    commands.forEach(([, , ...asked], place) => {
      listOf(replies[place] as Reply).forEach((text, at) => {
        if (text !== null) texts.set(asked[at] as ByteString, text as ByteString);
      });
    });
    return ids.map((id) => texts.get(id));
  }

  #found(id: ByteString | undefined, text: ByteString | undefined): Found<Stored> | undefined {
    return id === undefined || text === undefined ? undefined : { id: textOfBytes(id), ...this.kind.decode(text) };
  }
}
