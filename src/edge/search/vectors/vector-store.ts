/**
 * The vectors of one index, in its kv partition. In addition to a store of documents: pages in the order of writing,
 * replacement of a vector that has not changed, and the state of resumable queries, which ends by itself.
 */
import {
  COUNTS_KEY,
  decodeVector,
  encodeVector,
  type FilteredDocument,
  type StoredVector,
  VECTOR_LAYOUT,
  VECTOR_WRITES,
  WRITES_FIELD,
} from '../../../domain/search/index.js';
import { type ByteString, bytesOfText, type DatabaseId, textOfBytes } from '../../../kernel/index.js';
import type { KvGateway } from '../../../ports/index.js';
import { type DocumentKind, DocumentStore, type Found } from '../document-store.js';
import { READ_DOCUMENTS } from '../endpoint-limits.js';
import { listOf, SearchPartition, type StoredTotals, totalsOf } from '../search-partition.js';
import { MAX_EXAMINED_IDS } from './vector-limits.js';

export type FoundVector = Found<StoredVector>;

export interface VectorPage {
  readonly vectors: readonly FoundVector[];
  /** The number after which the next page begins; undefined at the end. */
  readonly next: number | undefined;
}

/** A hash of resumable queries by id; fields expire. */
const RESUMABLE_KEY: ByteString = 'r';
/** Ids read in one command. */
const READ_IDS = 1000;

const VECTOR_DOCUMENTS: DocumentKind<StoredVector> = {
  layout: VECTOR_LAYOUT,
  writes: VECTOR_WRITES,
  decode: decodeVector,
  filtered: ({ metadata }): FilteredDocument => ({ content: metadata ?? {} }),
};

export class VectorStore extends DocumentStore<StoredVector> {
  readonly #vectors: SearchPartition;

  constructor(gateway: KvGateway, index: DatabaseId) {
    const partition = new SearchPartition(gateway, index);
    super(partition, VECTOR_DOCUMENTS);
    this.#vectors = partition;
  }

  /** One vector with its stored text, for `replace`. */
  async one(
    name: string,
    id: string,
  ): Promise<{ readonly text: ByteString; readonly vector: StoredVector } | undefined> {
    const bytes = bytesOfText(id);
    const text = await this.#vectors.one(['HGET', VECTOR_LAYOUT.keyOf(bytesOfText(name), bytes), bytes]);
    return text === null ? undefined : { text: String(text), vector: decodeVector(String(text)) };
  }

  /** @param before the stored text that the change was made of */
  async replace(
    name: string,
    id: string,
    before: ByteString,
    after: StoredVector,
  ): Promise<StoredTotals & { readonly kind: 'done' | 'changed' | 'bytes' }> {
    const words = [bytesOfText(name), bytesOfText(id), before, encodeVector(after)];
    const [kind, ...totals] = await this.#vectors.write(VECTOR_WRITES.replace, ...words);
    return { kind: kind as 'done' | 'changed' | 'bytes', ...totalsOf(totals) };
  }

  /** Vectors in the order of their first write, after the given number. Fewer than `count` if many lack the prefix. */
  async pageAfter(name: string, after: number, prefix: string, count: number): Promise<VectorPage> {
    const start = bytesOfText(prefix);
    const ids: ByteString[] = [];
    let last = after;
    for (let examined = 0; ; ) {
      const { members, isAll } = await this.#numbered(name, last, prefix === '' ? count : READ_IDS);
      for (const [at, { id, number }] of members.entries()) {
        last = number;
        if (!id.startsWith(start)) continue;
        ids.push(id);
        const isLast = isAll && at === members.length - 1;
        if (ids.length === count && !isLast) return this.#pageOf(name, ids, last);
      }
      examined += members.length;
      if (isAll) return this.#pageOf(name, ids, undefined);
      if (examined >= MAX_EXAMINED_IDS) return this.#pageOf(name, ids, last);
    }
  }

  /** Some vector; undefined for an empty namespace. */
  async random(name: string): Promise<FoundVector | undefined> {
    const id = await this.#vectors.one(['ZRANDMEMBER', VECTOR_LAYOUT.orderOf(bytesOfText(name))]);
    return id === null ? undefined : (await this.fetch(name, [textOfBytes(String(id))]))[0];
  }

  async #pageOf(name: string, ids: readonly ByteString[], next: number | undefined): Promise<VectorPage> {
    const vectors: FoundVector[] = [];
    for (let from = 0; from < ids.length; from += READ_DOCUMENTS) {
      const part = ids.slice(from, from + READ_DOCUMENTS).map(textOfBytes);
      for (const vector of await this.fetch(name, part)) if (vector !== undefined) vectors.push(vector);
    }
    return { vectors, next };
  }

  async #numbered(name: string, after: number, count: number) {
    const key = VECTOR_LAYOUT.sequenceOf(bytesOfText(name)) ?? '';
    const limit = ['LIMIT', '0', String(count + 1), 'WITHSCORES'];
    const flat = flatScores(await this.#vectors.one(['ZRANGEBYSCORE', key, `(${after}`, '+inf', ...limit]));
    const isAll = flat.length <= count;
    return { members: flat.slice(0, count), isAll };
  }

  /** The number of the last write. */
  async writes(): Promise<number> {
    return Number((await this.#vectors.one(['HGET', COUNTS_KEY, WRITES_FIELD])) ?? 0);
  }

  // ── resumable queries ──

  async resumableCount(): Promise<number> {
    return Number(await this.#vectors.one(['HLEN', RESUMABLE_KEY]));
  }

  async keepResumable(uuid: string, state: string, idleMs: number): Promise<void> {
    await this.#vectors.pipeline([
      ['HSET', RESUMABLE_KEY, uuid, bytesOfText(state)],
      ['HPEXPIRE', RESUMABLE_KEY, String(idleMs), 'FIELDS', '1', uuid],
    ]);
  }

  async resumable(uuid: string): Promise<string | undefined> {
    const state = await this.#vectors.one(['HGET', RESUMABLE_KEY, bytesOfText(uuid)]);
    return state === null ? undefined : textOfBytes(String(state));
  }

  /** @returns whether it was open */
  async endResumable(uuid: string): Promise<boolean> {
    return (await this.#vectors.one(['HDEL', RESUMABLE_KEY, bytesOfText(uuid)])) === 1;
  }
}

/** A reply with members and scores, in whichever of its two forms. */
function flatScores(reply: Parameters<typeof listOf>[0]): { readonly id: ByteString; readonly number: number }[] {
  const items = listOf(reply);
  const pairs: { id: ByteString; number: number }[] = [];
  for (let at = 0; at + 1 < items.length; at += 2) {
    const score = items[at + 1];
    pairs.push({ id: String(items[at]), number: scoreIn(score) });
  }
  return pairs;
}

function scoreIn(score: unknown): number {
  return typeof score === 'object' && score !== null && 'value' in score ? Number(score.value) : Number(score);
}
