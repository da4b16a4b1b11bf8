/**
 * The statistics of an installation: one file, a follower for each queue shard and one for the meter's log, and the
 * queries. Runs in the thread of the read models.
 *
 *  SM1 one second's entries, or one transaction's, are folded together, so that a busy second costs a few rows
 *  SM2 no query is answered before all entries stored at the start are folded: partial counts would look like a quiet
 *      month
 *  SM3 counts are also in snapshots, which outlive the file and the front of the meter's log
 */
import type { Period } from '../../domain/statistics/index.js';
import { type AccountId, type DatabaseId, describeError, MillraceError, type ShardName } from '../../kernel/index.js';
import {
  type AccountSeries,
  type Behind,
  type DatabaseSeries,
  type DatabasesSeries,
  FRESH_MS,
  type SearchSeries,
  type SearchTotals,
  SqlFailure,
  type SqlFiles,
  type Statistics,
} from '../../ports/index.js';
import { METER_SHARD } from '../../protocol/index.js';
import { type FileStatus, FoldedFile } from '../folded-file.js';
import { JournalSource } from '../journal-source.js';
import {
  DEFAULT_FOLLOWER_OPTIONS,
  type FollowerOptions,
  ShardFollower,
  type ShardFollowerPorts,
} from '../shard-follower.js';
import { numbersFromSnapshot } from './lost-front.js';
import { MeterSource } from './meter-source.js';
import {
  DEFAULT_SNAPSHOTTER_OPTIONS,
  type SnapshotterOptions,
  StatisticsSnapshotter,
} from './statistics-snapshotter.js';
import { StatsReader } from './stats-reader.js';
import { StatsStore } from './stats-store.js';

export interface StatisticsOptions {
  readonly clusterId: string;
  /** `QUEUE_0` … in order. */
  readonly shards: readonly ShardName[];
  readonly follower?: Partial<Omit<FollowerOptions, 'model'>>;
  /** Options of snapshots; `writer` is a name unique to this process. */
  readonly snapshots?: Partial<Omit<SnapshotterOptions, 'clusterId'>>;
}

export interface StatisticsStatus extends FileStatus {
  /** The position up to which the meter's log is in two snapshots; 0: none. */
  readonly meterCoveredUpTo: number;
}

const MODEL = 'statistics';
/** SM1 (one second's entries are folded together). */
const LINGER_MS = 1000;
const PRUNE_EVERY_MS = 6000;
/**
 * The longest wait of a query, and the interval of its checks: SM2 (no query is answered before all entries are
 * folded).
 */
const WAIT_MS = 2000;
const LOOK_EVERY_MS = 50;
/** Subjects per step: some milliseconds. */
const PRUNE_SUBJECTS = 50;
/** Databases or search indexes of one query. */
const MAX_SUBJECTS = 1000;

export class StatisticsModel implements Statistics {
  readonly #store: StatsStore;
  readonly #reader: StatsReader;
  readonly #snapshotter: StatisticsSnapshotter;
  readonly #file: FoldedFile;
  #prunedUpTo = 0;

  constructor(
    private readonly ports: ShardFollowerPorts,
    files: SqlFiles,
    private readonly options: StatisticsOptions,
  ) {
    const { clusterId } = options;
    const { timers, log } = ports;
    this.#store = new StatsStore(files, log, { clusterId, nowMs: () => ports.clock.nowMs() });
    this.#reader = new StatsReader(this.#store);
    this.#snapshotter = new StatisticsSnapshotter(ports, {
      ...DEFAULT_SNAPSHOTTER_OPTIONS,
      writer: 'one',
      ...options.snapshots,
      clusterId,
    });
    this.#file = new FoldedFile({
      timers,
      log,
      store: this.#store,
      name: 'the statistics are',
      follow: (signal) => this.#follow(signal),
      background: (signal) => this.#snapshotter.run(this.#store, () => this.#isReady, signal),
      prune: () => this.#prune(),
      pruneEveryMs: PRUNE_EVERY_MS,
      pruneFields: { model: MODEL },
    });
  }

  start(): void {
    this.#file.start();
  }

  async stop(): Promise<void> {
    await this.#file.stop();
  }

  status(): StatisticsStatus {
    return { ...this.#file.status, meterCoveredUpTo: this.#snapshotter.coveredUpTo };
  }

  async database(id: DatabaseId, period: Period, nowMs: number): Promise<DatabaseSeries> {
    return this.#answer(() => this.#reader.database(id, period, nowMs));
  }

  async databases(ids: readonly DatabaseId[], period: Period, nowMs: number): Promise<DatabasesSeries> {
    if (ids.length > MAX_SUBJECTS) throw new MillraceError('INVALID', `more than ${MAX_SUBJECTS} databases`);
    return this.#answer(() => this.#reader.databases(ids, period, nowMs));
  }

  async account(id: AccountId, period: Period, nowMs: number): Promise<AccountSeries> {
    return this.#answer(() => this.#reader.account(id, period, nowMs));
  }

  async search(id: DatabaseId, period: Period, nowMs: number): Promise<SearchSeries> {
    return this.#answer(() => this.#reader.search(id, period, nowMs));
  }

  async searchTotals(ids: readonly DatabaseId[], nowMs: number): Promise<SearchTotals> {
    if (ids.length > MAX_SUBJECTS) throw new MillraceError('INVALID', `more than ${MAX_SUBJECTS} search indexes`);
    return this.#answer(() => this.#reader.searchTotals(ids, nowMs));
  }

  /**
   * SM2 (no query is answered before all entries are folded); a shard that cannot be folded does not block the
   *     others.
   */
  get #isReady(): boolean {
    const { followers } = this.#file;
    return followers.length > 0 && followers.every((one) => one.isCaughtUp || one.trouble !== undefined);
  }

  /**
   * STA2 (an answer is about two seconds behind the writes). For slower followers: their missing messages together,
   *      and the largest age.
   */
  get #behind(): Behind | undefined {
    const slow = this.#file.followers.filter(({ ageMs }) => ageMs === undefined || ageMs > FRESH_MS);
    if (slow.length === 0) return undefined;
    const ages = slow.flatMap(({ ageMs }) => ageMs ?? []);
    return {
      positions: slow.reduce((sum, { lag }) => sum + lag.positions, 0),
      ms: ages.length < slow.length ? undefined : Math.max(...ages),
    };
  }

  async #answer<T extends object>(read: () => T): Promise<T & { readonly behind?: Behind }> {
    const { clock, timers } = this.ports;
    const endMs = clock.monotonicMs() + WAIT_MS;
    while (!this.#isReady && !this.#file.isStopped && clock.monotonicMs() < endMs) await timers.pause(LOOK_EVERY_MS);
    this.#file.mustGoOn();
    if (!this.#isReady) throw new MillraceError('SHARD_UNAVAILABLE', 'the statistics are being folded');
    return this.#file.read(() => {
      const behind = this.#behind;
      return behind === undefined ? read() : { ...read(), behind };
    });
  }

  async #follow(signal: AbortSignal): Promise<ShardFollower[]> {
    await this.#begin(signal);
    if (signal.aborted) return [];
    const { ports } = this;
    const store = this.#store;
    const options = { ...DEFAULT_FOLLOWER_OPTIONS, lingerMs: LINGER_MS, ...this.options.follower, model: MODEL };
    const journals = this.options.shards.map(
      (shard) => new JournalSource(shard, store, options.batchBytes, () => numbersFromSnapshot(ports, store, shard)),
    );
    const meter = new MeterSource(store, ports.log, MODEL, (first) => this.#snapshotter.knowsWhatIsGone(first));
    return [...journals, meter].map((source) => new ShardFollower(ports, store, source, options));
  }

  /** A file without counts starts from a snapshot, if one exists. */
  async #begin(signal: AbortSignal): Promise<void> {
    const { timers, log } = this.ports;
    const { retryMs } = { ...DEFAULT_FOLLOWER_OPTIONS, ...this.options.follower };
    while (!signal.aborted) {
      try {
        return await this.#snapshotter.load(this.#store, signal);
      } catch (error) {
        if (error instanceof SqlFailure && error.isDamaged) return this.#file.restart(describeError(error));
        log.warn('read-model.held-up', { model: MODEL, shard: METER_SHARD, reason: describeError(error) });
        await timers.pause(retryMs, signal);
      }
    }
  }

  #prune(): boolean {
    this.#prunedUpTo = this.#store.prune(this.#prunedUpTo, PRUNE_SUBJECTS);
    this.#store.giveBack();
    return false;
  }
}
