/**
 * The search databases of one shard, from the newest snapshot and the journal after it. Everything is in memory:
 * whatever ends a fold, another one begins anew.
 *
 *  SFO1 partitions of other databases are passed over unread; that they were met is remembered
 *  SFO2 a database that was never met may be joined at any time: nothing of it was passed over
 */
import { RespCommandReader } from '../../codec/resp/index.js';
import type { Embedding } from '../../domain/search/index.js';
import { type ChainHead, EMPTY_HEAD, type EntryFeed, entriesBehind, SnapshotStore } from '../../journal/index.js';
import { type DatabaseId, MillraceError, type PartitionName, type ShardName } from '../../kernel/index.js';
import { entrySections, kvPartition, type ManifestPartition } from '../../messages/index.js';
import type { Clock, Journal, Log, ObjectStore, StoredMessage, Timers } from '../../ports/index.js';
import { Progress, type ShardLag } from '../progress.js';
import { SearchDatabase } from './search-database.js';

export interface SearchPorts {
  readonly journal: Pick<Journal, 'follow' | 'tail'>;
  readonly objects: ObjectStore;
  readonly timers: Timers;
  readonly clock: Clock;
  readonly log: Log;
}

export interface ShardFoldOptions {
  readonly embedding: Embedding;
  /** How long the first message of a batch waits for others. */
  readonly lingerMs: number;
  /** What of a journal may be held in memory when indexing is slower. */
  readonly maxQueuedBytes: number;
}

export const DEFAULT_FOLD_OPTIONS: Omit<ShardFoldOptions, 'embedding'> = {
  lingerMs: 10,
  maxQueuedBytes: 4 * 1024 * 1024,
};

export class ShardFold {
  readonly #databases: Map<PartitionName, SearchDatabase>;
  /** Partitions that were passed over. */
  readonly #passed = new Set<PartitionName>();
  readonly #progress: Progress;
  #entries: EntryFeed;

  constructor(
    private readonly ports: SearchPorts,
    private readonly shard: ShardName,
    private readonly options: ShardFoldOptions,
    databases: Iterable<DatabaseId>,
  ) {
    const { embedding } = options;
    this.#progress = new Progress(ports.clock);
    this.#entries = entriesBehind(shard, EMPTY_HEAD);
    this.#databases = new Map([...databases].map((id) => [kvPartition(id, 0), new SearchDatabase(embedding)]));
  }

  /** Has indexed what was stored when it began. */
  get isCaughtUp(): boolean {
    return this.#progress.isCaughtUp;
  }

  get lag(): ShardLag {
    return this.#progress.lag;
  }

  /** Documents that are indexed. */
  get documents(): number {
    return [...this.#databases.values()].reduce((sum, { size }) => sum + size, 0);
  }

  /** Stored documents that could not be read. */
  get unreadable(): number {
    return [...this.#databases.values()].reduce((sum, { unreadable }) => sum + unreadable, 0);
  }

  database(id: DatabaseId): SearchDatabase | undefined {
    return this.#databases.get(kvPartition(id, 0));
  }

  /** @returns false when something of it was passed over (SFO2): only another fold can have it */
  join(id: DatabaseId): boolean {
    const partition = kvPartition(id, 0);
    if (this.#passed.has(partition)) return false;
    if (!this.#databases.has(partition)) this.#databases.set(partition, new SearchDatabase(this.options.embedding));
    return true;
  }

  leave(id: DatabaseId): void {
    const partition = kvPartition(id, 0);
    // It may have had documents, and may be joined again.
    if (this.#databases.delete(partition)) this.#passed.add(partition);
  }

  /** @returns the position that it has everything up to. @throws JOURNAL_DAMAGED, JOURNAL_UNAVAILABLE */
  async load(signal: AbortSignal): Promise<number> {
    const { position, ...head } = await this.#loadSnapshot(signal);
    const { first, last } = await this.ports.journal.tail(this.shard);
    if (position + 1 < first) {
      const details = { shard: this.shard, position, first };
      throw new MillraceError(
        'JOURNAL_DAMAGED',
        `${this.shard}: what is between snapshot and journal is gone`,
        details,
      );
    }
    this.#entries = entriesBehind(this.shard, head);
    this.#progress.begins(position, last, 0);
    return position;
  }

  /** Messages behind what it has. @param onProgress told after each of them */
  async take(batch: readonly StoredMessage[], signal: AbortSignal, onProgress: () => void): Promise<void> {
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
    await this.ports.timers.breathe();
  }

  /** The journal has nothing newer. */
  idle(): void {
    this.#progress.idle();
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
      await this.ports.timers.breathe();
    }
  }
}

/** Effects that a slice ends after, whatever they were. */
const SLICE_EFFECTS = 64;

function* applyAll(database: SearchDatabase, effects: Uint8Array): Generator<void> {
  const reader = new RespCommandReader(Buffer.from(effects.buffer, effects.byteOffset, effects.byteLength));
  let applied = 0;
  for (const words of reader) {
    yield* database.apply(words);
    applied += 1;
    if (applied % SLICE_EFFECTS === 0) yield;
  }
}
