/**
 * The search databases of one shard, from the newest snapshot and the journal after it. All data is in memory: after
 * a failure another fold starts from the beginning.
 *
 *  SFO1 partitions of other databases are skipped unread, and their names are remembered
 *  SFO2 a database without skipped data may be joined at any time
 */
import { RespCommandReader } from '../../codec/resp/index.js';
import type { Embedding } from '../../domain/search/index.js';
import type { Precision } from '../../domain/vector-graph/index.js';
import { type ChainHead, EMPTY_HEAD, type EntryFeed, entriesBehind, SnapshotStore } from '../../journal/index.js';
import { bufferOver, type DatabaseId, MillraceError, type PartitionName, type ShardName } from '../../kernel/index.js';
import type {
  Clock,
  IndexedDatabase,
  IndexFiles,
  Journal,
  Log,
  ObjectStore,
  StoredMessage,
  Timer,
  Timers,
} from '../../ports/index.js';
import { entrySections, kvPartition, type ManifestPartition } from '../../protocol/index.js';
import { Progress, type ShardLag } from '../progress.js';
import { SearchDatabase } from './search-database.js';
import { StoredGraphs } from './vectors/stored-graphs.js';
import { VectorDatabase } from './vectors/vector-database.js';

export interface SearchPorts {
  readonly journal: Pick<Journal, 'follow' | 'tail' | 'readAt'>;
  readonly objects: ObjectStore;
  readonly timers: Timers;
  readonly clock: Clock;
  readonly log: Log;
  /** Of graphs of vectors; undefined: they are built after each start. */
  readonly graphFiles?: IndexFiles;
}

export interface ShardFoldOptions {
  readonly embedding: Embedding;
  /** How vectors are kept for queries. */
  readonly precision?: Precision;
  /** The longest wait of a batch's first message for others. */
  readonly lingerMs: number;
  /** Bytes of the journal held in memory when indexing is slower. */
  readonly maxQueuedBytes: number;
}

export const DEFAULT_FOLD_OPTIONS: Omit<ShardFoldOptions, 'embedding'> = {
  lingerMs: 10,
  maxQueuedBytes: 4 * 1024 * 1024,
};

export type AnyDatabase = SearchDatabase | VectorDatabase;

export class ShardFold {
  readonly #databases: Map<PartitionName, AnyDatabase>;
  /** Partitions with skipped data. */
  readonly #passed = new Set<PartitionName>();
  readonly #progress: Progress;
  #entries: EntryFeed;
  readonly #graphs: StoredGraphs | undefined;
  #isBuilding = false;
  #storing: Timer | undefined;
  #buildFailure: unknown;

  constructor(
    private readonly ports: SearchPorts,
    private readonly shard: ShardName,
    private readonly options: ShardFoldOptions,
    databases: Iterable<IndexedDatabase>,
  ) {
    const { graphFiles, clock, log } = ports;
    this.#graphs = graphFiles && new StoredGraphs(graphFiles, clock, log);
    this.#progress = new Progress(ports.clock);
    this.#entries = entriesBehind(shard, EMPTY_HEAD);
    this.#databases = new Map([...databases].map((each) => [kvPartition(each.id, 0), this.#made(each)]));
  }

  /** All messages that existed at the start are indexed. */
  get isCaughtUp(): boolean {
    return this.#progress.isCaughtUp;
  }

  get lag(): ShardLag {
    return this.#progress.lag;
  }

  /** The last message that existed at the start. */
  get lastAtStart(): number {
    return this.#progress.lastAtStart;
  }

  /** Indexed documents. */
  get documents(): number {
    return [...this.#databases.values()].reduce((sum, { size }) => sum + size, 0);
  }

  /** Unreadable documents. */
  get unreadable(): number {
    return [...this.#databases.values()].reduce((sum, { unreadable }) => sum + unreadable, 0);
  }

  database(id: DatabaseId): AnyDatabase | undefined {
    return this.#databases.get(kvPartition(id, 0));
  }

  /**
   * @returns false if data was skipped: SFO2 (a database without skipped data may be joined); then it needs another
   * fold
   */
  join(database: IndexedDatabase): boolean {
    const partition = kvPartition(database.id, 0);
    if (this.#passed.has(partition)) return false;
    if (!this.#databases.has(partition)) this.#databases.set(partition, this.#made(database));
    return true;
  }

  #made({ vectors }: IndexedDatabase): AnyDatabase {
    const { embedding, precision } = this.options;
    return vectors === undefined ? new SearchDatabase(embedding) : new VectorDatabase(vectors, precision);
  }

  leave(id: DatabaseId): void {
    const partition = kvPartition(id, 0);
    // The database may have had documents and may be joined again.
    if (this.#databases.delete(partition)) this.#passed.add(partition);
  }

  /**
   * @returns the position up to which all data is applied
   * @throws JOURNAL_DAMAGED, JOURNAL_UNAVAILABLE
   */
  async load(signal: AbortSignal): Promise<number> {
    const { position, ...head } = await this.#loadSnapshot(signal);
    const { first, last } = await this.ports.journal.tail(this.shard);
    if (position + 1 < first) {
      const details = { shard: this.shard, position, first };
      throw new MillraceError(
        'JOURNAL_DAMAGED',
        `${this.shard}: entries between the snapshot and the journal are missing`,
        details,
      );
    }
    this.#entries = entriesBehind(this.shard, head);
    this.#progress.begins(position, last, 0);
    return position;
  }

  /**
   * Applies messages after the folded position.
   * @param onProgress called after each of them
   */
  async take(batch: readonly StoredMessage[], signal: AbortSignal, onProgress: () => void): Promise<void> {
    if (this.#buildFailure !== undefined) throw this.#buildFailure;
    const newest = batch.at(-1)?.position ?? 0;
    for (const message of batch) {
      const read = this.#entries.add(message);
      for (const { partition, effects } of read === undefined ? [] : entrySections(read.entry)) {
        await this.#applySection(partition, effects, signal);
      }
      if (signal.aborted) return;
      this.#progress.folded(message.position, message.storedAtMs, newest);
      onProgress();
    }
    for (const database of this.#databases.values()) await this.#inSlices(database.sweep(), signal);
    void this.#build(signal);
    await this.ports.timers.yieldToEventLoop();
  }

  /** The journal has no newer message. */
  idle(signal: AbortSignal): void {
    this.#progress.idle();
    void this.#build(signal);
  }

  /** Builds graphs while other messages are applied; a failure ends the fold with the next message. */
  async #build(signal: AbortSignal): Promise<void> {
    if (this.#isBuilding || !this.isCaughtUp) return;
    this.#isBuilding = true;
    try {
      for (const [partition, database] of this.#databases) {
        if (database instanceof VectorDatabase) await this.#buildGraphs(partition, database, signal);
      }
    } catch (error) {
      this.#buildFailure = error;
    }
    this.#isBuilding = false;
  }

  async #buildGraphs(partition: PartitionName, database: VectorDatabase, signal: AbortSignal): Promise<void> {
    const graphs = this.#graphs;
    const pause = async () => {
      await this.ports.timers.yieldToEventLoop();
      return !signal.aborted;
    };
    await graphs?.restore(partition, database, pause);
    for (const _ of database.build()) {
      if (graphs?.dueInMs(database) === 0) await graphs.store(partition, database, pause);
      if (!(await pause())) return;
    }
    const inMs = graphs?.dueInMs(database);
    if (inMs === 0) await graphs?.store(partition, database, pause);
    else if (inMs !== undefined && this.#storing === undefined) {
      const timer = this.ports.timers.after(inMs, () => {
        this.#storing = undefined;
        void this.#build(signal);
      });
      this.#storing = timer;
      signal.addEventListener('abort', () => timer.cancel(), { once: true });
    }
  }

  async #loadSnapshot(signal: AbortSignal): Promise<Pick<ChainHead, 'number' | 'hash' | 'position'>> {
    const snapshots = new SnapshotStore(this.ports.objects, this.ports.log);
    const stored = await snapshots.newest(this.shard);
    if (stored === undefined) return EMPTY_HEAD;
    for (const partition of stored.manifest.partitions) await this.#loadPartition(snapshots, partition, signal);
    return stored.manifest.head;
  }

  async #loadPartition(snapshots: SnapshotStore, partition: ManifestPartition, signal: AbortSignal): Promise<void> {
    if (!this.#databases.has(partition.name)) {
      this.#passed.add(partition.name);
      return;
    }
    for await (const bytes of snapshots.segmentBytes(partition)) {
      await this.#applySection(partition.name, bytes, signal);
      if (signal.aborted) return;
    }
  }

  async #applySection(partition: PartitionName, effects: Uint8Array, signal: AbortSignal): Promise<void> {
    const database = this.#databases.get(partition);
    if (database === undefined) {
      this.#passed.add(partition);
      return;
    }
    await this.#inSlices(applyAll(database, effects), signal);
  }

  async #inSlices(work: Iterable<void>, signal: AbortSignal): Promise<void> {
    for (const _ of work) {
      if (signal.aborted) return;
      await this.ports.timers.yieldToEventLoop();
    }
  }
}

/** Effects per slice at most. */
const SLICE_EFFECTS = 64;

function* applyAll(database: AnyDatabase, effects: Uint8Array): Generator<void> {
  const reader = new RespCommandReader(bufferOver(effects));
  let applied = 0;
  for (const words of reader) {
    yield* database.apply(words);
    applied += 1;
    if (applied % SLICE_EFFECTS === 0) yield;
  }
}
