/**
 * The search indexes of one process: a keeper for each shard with indexes, and the queries. They run in a separate
 * thread, because each slice of searching or indexing blocks it for about 1 ms.
 *
 *  SI1 a shard is followed only while it has a search index
 *  SI2 a query for an index that is unknown or not loaded waits for it, but at most `waitMs`
 *  SI3 queries run concurrently, one slice each, and end after `searchMs` in any case
 */
import {
  type Embedding,
  HashedNgrams,
  MAX_QUERY_CHARACTERS,
  MAX_TOP_K,
  type VectorShape,
  vectorProblem,
} from '../../domain/search/index.js';
import { type DatabaseId, describeError, getOrCreate, MillraceError, type ShardName } from '../../kernel/index.js';
import type {
  IndexedDatabase,
  SearchHit,
  SearchIndexInfo,
  SearchQueries,
  SearchQuery,
  Timer,
  VectorHits,
  VectorQueries,
  VectorQuery,
} from '../../ports/index.js';
import { kvPartition, shardOf } from '../../protocol/index.js';
import { WaitingQuestions } from '../waiting-questions.js';
import { QueryTurns } from './query-turns.js';
import { rank } from './ranking.js';
import { SearchDatabase } from './search-database.js';
import { type AnyDatabase, DEFAULT_FOLD_OPTIONS, type SearchPorts, type ShardFoldOptions } from './shard-fold.js';
import { ShardKeeper } from './shard-keeper.js';
import { VectorDatabase } from './vectors/vector-database.js';
import { rankVectors } from './vectors/vector-ranking.js';

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
/** The first lists after a start lack indexes that are not loaded yet. */
const TIDY_AFTER_MS = 60_000;
const DEFAULT_WAIT_MS = 2000;
/** Together with `waitMs` it is less than the time that the caller waits for an answer. */
const DEFAULT_SEARCH_MS = 2500;

export class SearchIndexes implements SearchQueries, VectorQueries {
  readonly #keepers = new Map<ShardName, ShardKeeper>();
  readonly #waiting: WaitingQuestions;
  readonly #turns = new QueryTurns();
  readonly #embedding: Embedding;
  #indexes: Set<DatabaseId> | undefined;
  #tidying: Timer | undefined;
  #isStopped = false;

  constructor(
    private readonly ports: SearchPorts,
    private readonly options: SearchIndexesOptions,
  ) {
    this.#embedding = options.embedding ?? new HashedNgrams();
    this.#waiting = new WaitingQuestions(ports.timers, options.waitMs ?? DEFAULT_WAIT_MS, 'search indexes');
  }

  /** Sets the complete list of indexes; called again after each change. */
  setIndexes(indexes: Iterable<IndexedDatabase>): void {
    if (this.#isStopped) return;
    const before = this.#indexes ?? [];
    this.#indexes = new Set();
    const byShard = new Map<ShardName, Map<DatabaseId, IndexedDatabase>>();
    for (const shard of this.#keepers.keys()) byShard.set(shard, new Map());
    for (const index of indexes) {
      this.#indexes.add(index.id);
      getOrCreate(byShard, this.#shardOf(index.id), () => new Map()).set(index.id, index);
    }
    for (const [shard, wanted] of byShard) this.#keeper(shard).want(wanted);
    this.#waiting.wake();
    this.#tidy(before);
  }

  /** Removes the graphs of indexes that no longer exist; those that were deleted before the start somewhat later. */
  #tidy(before: Iterable<DatabaseId>): void {
    const { graphFiles, timers } = this.ports;
    const failed = (error: unknown) => this.ports.log.warn('graph-file.failed', { error: describeError(error) });
    for (const id of before) {
      if (!this.#indexes?.has(id)) graphFiles?.keepOnly(kvPartition(id, 0), []).catch(failed);
    }
    if (graphFiles === undefined || this.#tidying !== undefined) return;
    this.#tidying = timers.after(TIDY_AFTER_MS, () => {
      const partitions = Array.from(this.#indexes ?? [], (id) => kvPartition(id, 0));
      graphFiles.keepOnlyOf(partitions).catch(failed);
    });
  }

  /** Rebuilds every index while the old one still serves. */
  rebuild(): void {
    for (const keeper of this.#keepers.values()) keeper.rebuild();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#tidying?.cancel();
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
    return this.#inTurn(
      index,
      (database) => {
        const named = database instanceof SearchDatabase ? database.index(name) : undefined;
        return named === undefined ? undefined : rank(named, query);
      },
      [],
    );
  }

  async queryVectors(index: DatabaseId, name: string, query: VectorQuery): Promise<VectorHits> {
    return this.#inTurn(
      index,
      (database) => {
        const namespace = database instanceof VectorDatabase ? database.index(name) : undefined;
        if (namespace === undefined) return undefined;
        const problem = vectorQueryProblem(query, namespace.shape);
        if (problem !== undefined) throw new MillraceError('INVALID', problem);
        return rankVectors(namespace, query);
      },
      NO_HITS,
    );
  }

  async info(index: DatabaseId): Promise<SearchIndexInfo> {
    return (await this.#untilLoaded(index)).info();
  }

  /** @param begin returns undefined for a name without documents, which has the result `none` */
  async #inTurn<T>(
    index: DatabaseId,
    begin: (database: AnyDatabase) => Generator<void, T> | undefined,
    none: T,
  ): Promise<T> {
    await this.#untilLoaded(index);
    const { clock } = this.ports;
    const endMs = clock.monotonicMs() + (this.options.searchMs ?? DEFAULT_SEARCH_MS);
    return this.#turns.take(index, async () => {
      // Looked up after the wait: another fold may serve the index by then.
      const query = begin(await this.#untilLoaded(index));
      return query === undefined ? none : this.#runUntil(endMs, index, query);
    });
  }

  async #runUntil<T>(endMs: number, index: DatabaseId, query: Generator<void, T>): Promise<T> {
    const { clock, timers } = this.ports;
    for (;;) {
      if (this.#isStopped) throw new MillraceError('SHUTTING_DOWN', 'the search indexes are stopping');
      if (clock.monotonicMs() >= endMs) throw new MillraceError('TIMED_OUT', 'the search took too long', { index });
      const step = query.next();
      if (step.done === true) return step.value;
      await timers.yieldToEventLoop();
    }
  }

  #find(index: DatabaseId): AnyDatabase | undefined {
    return this.#keepers.get(this.#shardOf(index))?.database(index);
  }

  async #untilLoaded(index: DatabaseId): Promise<AnyDatabase> {
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

const NO_HITS: VectorHits = { hits: [] };

/** Limits for all callers; the limits of each client are checked at its edge. */
function queryProblem({ text, vector, topK, semanticWeight }: SearchQuery): string | undefined {
  if (text.length > MAX_QUERY_CHARACTERS) return `a query has at most ${MAX_QUERY_CHARACTERS} characters`;
  if (!Number.isSafeInteger(topK) || topK < 1 || topK > MAX_TOP_K) return `topK must be from 1 to ${MAX_TOP_K}`;
  if (!(semanticWeight >= 0 && semanticWeight <= 1)) return 'semanticWeight must be between 0 and 1';
  return vector === undefined ? undefined : vectorProblem(vector);
}

/** The edge checks queries; a second check keeps a wrong length out of the arithmetic. */
function vectorQueryProblem({ dense, topK }: VectorQuery, { dimension }: VectorShape): string | undefined {
  if (!Number.isSafeInteger(topK) || topK < 1 || topK > MAX_TOP_K) return `topK must be from 1 to ${MAX_TOP_K}`;
  if (dense === undefined || dense.length === dimension) return undefined;
  return `Invalid vector dimension: ${dense.length}, expected: ${dimension}`;
}
