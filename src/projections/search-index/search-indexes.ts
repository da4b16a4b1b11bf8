/**
 * The search indexes of one process: a keeper for each shard with indexes, and the queries. They run in a separate
 * thread, because each slice of searching or indexing blocks it for about 1 ms.
 *
 *  SI1 a shard is followed only while it has a search index
 *  SI2 a query for an index that is unknown or not loaded waits for it, but at most `waitMs`
 *  SI3 queries run concurrently, one slice each, and end after `searchMs` in any case
 */
import {
  documentsKey,
  type Embedding,
  HashedNgrams,
  MAX_QUERY_CHARACTERS,
  MAX_TOP_K,
  vectorProblem,
} from '../../domain/search/index.js';
import { type DatabaseId, MillraceError, type ShardName } from '../../kernel/index.js';
import type { SearchHit, SearchIndexInfo, SearchQueries, SearchQuery } from '../../ports/index.js';
import { kvPartition, shardOf } from '../../protocol/index.js';
import { WaitingQuestions } from '../waiting-questions.js';
import { QueryTurns } from './query-turns.js';
import { rank } from './ranking.js';
import type { SearchDatabase } from './search-database.js';
import { DEFAULT_FOLD_OPTIONS, type SearchPorts, type ShardFoldOptions } from './shard-fold.js';
import { ShardKeeper } from './shard-keeper.js';

export interface SearchIndexesOptions {
  /** The installation's number of shards, which determines the shard of an index. */
  readonly kvShards: number;
  readonly embedding?: Embedding;
  readonly fold?: Partial<Omit<ShardFoldOptions, 'embedding'>>;
  /** The pause before a failed shard is started again. */
  readonly retryMs?: number;
  /** The longest wait of a query for its index. */
  readonly waitMs?: number;
  /** The longest time of a query for its turn and its search. */
  readonly searchMs?: number;
}

/** The status of the search indexes, for monitoring. */
export interface SearchStatus {
  /** The list of indexes is known, and each one has reached the end of its journal. */
  readonly isCaughtUp: boolean;
  readonly indexes: number;
  readonly documents: number;
  /** Messages not yet indexed, of all shards together. */
  readonly behindPositions: number;
  /** The delay of the slowest shard. */
  readonly behindMs: number;
  /** Unreadable documents. */
  readonly unreadable: number;
  /** Shards that cannot be followed, with the reasons. */
  readonly troubles: readonly (readonly [ShardName, string])[];
}

/** The status of a process without indexes. */
export const NOTHING_HELD: SearchStatus = {
  isCaughtUp: true,
  indexes: 0,
  documents: 0,
  behindPositions: 0,
  behindMs: 0,
  unreadable: 0,
  troubles: [],
};

const DEFAULT_RETRY_MS = 1000;
const DEFAULT_WAIT_MS = 2000;
/** Together with `waitMs` it is less than the time that the caller waits for an answer. */
const DEFAULT_SEARCH_MS = 2500;

export class SearchIndexes implements SearchQueries {
  readonly #keepers = new Map<ShardName, ShardKeeper>();
  readonly #waiting: WaitingQuestions;
  readonly #turns = new QueryTurns();
  readonly #embedding: Embedding;
  #indexes: ReadonlySet<DatabaseId> | undefined;
  #isStopped = false;

  constructor(
    private readonly ports: SearchPorts,
    private readonly options: SearchIndexesOptions,
  ) {
    this.#embedding = options.embedding ?? new HashedNgrams();
    this.#waiting = new WaitingQuestions(ports.timers, options.waitMs ?? DEFAULT_WAIT_MS, 'search indexes');
  }

  /** Sets the complete list of indexes; called again after each change. */
  setIndexes(indexes: Iterable<DatabaseId>): void {
    if (this.#isStopped) return;
    this.#indexes = new Set(indexes);
    const byShard = new Map<ShardName, Set<DatabaseId>>();
    for (const shard of this.#keepers.keys()) byShard.set(shard, new Set());
    for (const id of this.#indexes) {
      const shard = this.#shardOf(id);
      const ids = byShard.get(shard) ?? new Set();
      byShard.set(shard, ids.add(id));
    }
    for (const [shard, ids] of byShard) this.#keeper(shard).want(ids);
    this.#waiting.wake();
  }

  /** Rebuilds every index while the old one still serves. */
  rebuild(): void {
    for (const keeper of this.#keepers.values()) keeper.rebuild();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#waiting.wake();
    await Promise.all([...this.#keepers.values()].map((keeper) => keeper.stop()));
  }

  status(): SearchStatus {
    const keepers = [...this.#keepers.values()];
    const sum = (of: (keeper: ShardKeeper) => number) => keepers.reduce((total, keeper) => total + of(keeper), 0);
    return {
      isCaughtUp: this.#indexes !== undefined && keepers.every(({ isServing }) => isServing),
      indexes: this.#indexes?.size ?? 0,
      documents: sum(({ documents }) => documents),
      behindPositions: sum(({ lag }) => lag.positions),
      behindMs: Math.max(0, ...keepers.map(({ lag }) => lag.ms)),
      unreadable: sum(({ unreadable }) => unreadable),
      troubles: keepers.flatMap(({ shard, trouble }) => (trouble === undefined ? [] : [[shard, trouble] as const])),
    };
  }

  async search(index: DatabaseId, name: string, query: SearchQuery): Promise<readonly SearchHit[]> {
    const problem = queryProblem(query);
    if (problem !== undefined) throw new MillraceError('INVALID', problem);
    await this.#untilLoaded(index);
    const { clock } = this.ports;
    const endMs = clock.monotonicMs() + (this.options.searchMs ?? DEFAULT_SEARCH_MS);
    return this.#turns.take(index, () => this.#searchUntil(endMs, index, name, query));
  }

  async info(index: DatabaseId): Promise<SearchIndexInfo> {
    return (await this.#untilLoaded(index)).info();
  }

  async #searchUntil(endMs: number, index: DatabaseId, name: string, query: SearchQuery): Promise<SearchHit[]> {
    // Looked up after the wait: another fold may serve the index by then.
    const database = await this.#untilLoaded(index);
    const named = database.index(documentsKey(name));
    if (named === undefined) return [];
    const search = rank(named, query);
    const { clock, timers } = this.ports;
    for (;;) {
      if (this.#isStopped) throw new MillraceError('SHUTTING_DOWN', 'the search indexes are stopping');
      if (clock.monotonicMs() >= endMs) throw new MillraceError('TIMED_OUT', 'the search took too long', { index });
      const step = search.next();
      if (step.done === true) return step.value;
      await timers.yieldToEventLoop();
    }
  }

  #find(index: DatabaseId): SearchDatabase | undefined {
    return this.#keepers.get(this.#shardOf(index))?.database(index);
  }

  async #untilLoaded(index: DatabaseId): Promise<SearchDatabase> {
    await this.#waiting.until(() => this.#find(index) !== undefined || this.#isStopped);
    const found = this.#find(index);
    if (found === undefined)
      throw new MillraceError('SHARD_UNAVAILABLE', 'the search index is being loaded', { index });
    return found;
  }

  #shardOf(index: DatabaseId): ShardName {
    return shardOf('kv', kvPartition(index, 0), this.options.kvShards);
  }

  #keeper(shard: ShardName): ShardKeeper {
    let keeper = this.#keepers.get(shard);
    if (keeper === undefined) {
      const { retryMs = DEFAULT_RETRY_MS, fold } = this.options;
      const options = { ...DEFAULT_FOLD_OPTIONS, ...fold, embedding: this.#embedding, retryMs };
      keeper = new ShardKeeper(this.ports, shard, options, () => this.#waiting.wake());
      this.#keepers.set(shard, keeper);
    }
    return keeper;
  }
}

/** Limits for all callers; the limits of each client are checked at its edge. */
function queryProblem({ text, vector, topK, semanticWeight }: SearchQuery): string | undefined {
  if (text.length > MAX_QUERY_CHARACTERS) return `a query has at most ${MAX_QUERY_CHARACTERS} characters`;
  if (!Number.isSafeInteger(topK) || topK < 1 || topK > MAX_TOP_K) return `topK must be from 1 to ${MAX_TOP_K}`;
  if (!(semanticWeight >= 0 && semanticWeight <= 1)) return 'semanticWeight must be between 0 and 1';
  return vector === undefined ? undefined : vectorProblem(vector);
}
