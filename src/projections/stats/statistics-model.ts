/**
 * The statistics of an installation: one file, a follower for each shard of the queue and one for the meter's log, and
 * the questions that are asked. Belongs in the thread of the read models.
 *
 *  SM1 what is folded is a second's worth at a time, so that a busy second costs a few rows
 *  SM2 a file that turns out to be of no use is removed, and everything folded anew
 *  SM3 nothing is answered before all that was stored at the start is folded: half of it would look like a quiet month
 */
import type { Period } from '../../domain/statistics/index.js';
import { type AccountId, type DatabaseId, MillraceError, type ShardName } from '../../kernel/index.js';
import {
  type AccountSeries,
  type DatabaseSeries,
  type SearchSeries,
  type SearchTotals,
  SqlFailure,
  type SqlFiles,
  type Statistics,
  type Timer,
} from '../../ports/index.js';
import type { ReadModelStatus } from '../read-models.js';
import {
  DEFAULT_FOLLOWER_OPTIONS,
  type FollowerOptions,
  type FollowerPorts,
  ShardFollower,
} from '../shard-follower.js';
import { MeterFollower } from './meter-follower.js';
import { factsFromSnapshot } from './snapshot-facts.js';
import { StatsReader } from './stats-reader.js';
import { StatsStore } from './stats-store.js';

export interface StatisticsOptions {
  readonly clusterId: string;
  /** `QUEUE_0` … in order. */
  readonly shards: readonly ShardName[];
  readonly follower?: Partial<Omit<FollowerOptions, 'model'>>;
}

export type StatisticsStatus = Omit<ReadModelStatus, 'rows'>;

const MODEL = 'statistics';
/** SM1. */
const LINGER_MS = 1000;
const PRUNE_EVERY_MS = 5000;
/** SM3: how long a question waits for that, and how often it looks. */
const WAIT_MS = 2000;
const LOOK_EVERY_MS = 50;
/** In one step: some milliseconds. */
const PRUNE_SUBJECTS = 50;
/** Indexes of one question. */
const MAX_INDEXES = 1000;

type Follower = Pick<MeterFollower, 'shard' | 'lag' | 'isCaughtUp' | 'hasGap' | 'trouble' | 'run'>;

export class StatisticsModel implements Statistics {
  readonly #store: StatsStore;
  readonly #reader: StatsReader;
  #followers: readonly Follower[] = [];
  #stop = new AbortController();
  #running: Promise<void> = Promise.resolve();
  #pruning: Timer | undefined;
  #prunedUpTo = 0;
  #isStopped = false;
  #why = '';

  constructor(
    private readonly ports: FollowerPorts,
    files: SqlFiles,
    private readonly options: StatisticsOptions,
  ) {
    const { clusterId } = options;
    this.#store = new StatsStore(files, ports.log, { clusterId, nowMs: () => ports.clock.nowMs() });
    this.#reader = new StatsReader(this.#store);
  }

  start(): void {
    this.#running = this.#run();
    this.#pruneLater();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#pruning?.cancel();
    this.#stop.abort();
    await this.#running;
    this.#store.close();
  }

  status(): StatisticsStatus {
    const followers = this.#followers;
    return {
      behindPositions: followers.reduce((sum, { lag }) => sum + lag.positions, 0),
      behindMs: Math.max(0, ...followers.map(({ lag }) => lag.ms)),
      isCaughtUp: followers.length > 0 && followers.every((one) => one.isCaughtUp),
      incompleteShards: followers.filter(({ hasGap }) => hasGap).map(({ shard }) => shard),
      troubles: followers.flatMap(({ shard, trouble }) => (trouble === undefined ? [] : [[shard, trouble] as const])),
    };
  }

  async database(id: DatabaseId, period: Period, nowMs: number): Promise<DatabaseSeries> {
    return this.#answer(() => this.#reader.database(id, period, nowMs));
  }

  async account(id: AccountId, period: Period, nowMs: number): Promise<AccountSeries> {
    return this.#answer(() => this.#reader.account(id, period, nowMs));
  }

  async search(id: DatabaseId, period: Period, nowMs: number): Promise<SearchSeries> {
    return this.#answer(() => this.#reader.search(id, period, nowMs));
  }

  async searchTotals(ids: readonly DatabaseId[], nowMs: number): Promise<SearchTotals> {
    if (ids.length > MAX_INDEXES) throw new MillraceError('INVALID', `more than ${MAX_INDEXES} search indexes`);
    return this.#answer(() => this.#reader.searchTotals(ids, nowMs));
  }

  /** SM3. A shard that is held up keeps nobody from what there is of the others. */
  get #isReady(): boolean {
    const followers = this.#followers;
    return followers.length > 0 && followers.every((one) => one.isCaughtUp || one.trouble !== undefined);
  }

  async #answer<T>(read: () => T): Promise<T> {
    const { clock, timers } = this.ports;
    const endMs = clock.monotonicMs() + WAIT_MS;
    while (!this.#isReady && !this.#isStopped && clock.monotonicMs() < endMs) {
      await new Promise<void>((resolve) => timers.after(LOOK_EVERY_MS, resolve));
    }

    if (this.#isStopped) throw new MillraceError('SHUTTING_DOWN', 'the read models are stopping');
    if (!this.#isReady) throw new MillraceError('SHARD_UNAVAILABLE', 'the statistics are being folded');
    try {
      return read();
    } catch (error) {
      if (!(error instanceof SqlFailure)) throw error;
      if (error.isDamaged) this.#restart(error.message);
      throw new MillraceError('SHARD_UNAVAILABLE', 'the statistics are being made anew', {}, error);
    }
  }

  async #run(): Promise<void> {
    const { ports } = this;
    const store = this.#store;
    const { shards, follower } = this.options;
    const options = { ...DEFAULT_FOLLOWER_OPTIONS, lingerMs: LINGER_MS, ...follower, model: MODEL };
    const restore = (shard: ShardName) => factsFromSnapshot(ports, store, shard);
    while (!this.#isStopped) {
      this.#stop = new AbortController();
      const { signal } = this.#stop;
      this.#followers = [
        ...shards.map((shard) => new ShardFollower(ports, store, restore, shard, options, () => {})),
        new MeterFollower(ports, store, options),
      ];
      const reasons = await Promise.all(
        this.#followers.map(async (one) => {
          const reason = await one.run(signal);
          if (reason !== undefined) this.#restart(reason);
          return reason;
        }),
      );
      if (this.#isStopped) return;
      store.discard(reasons.find((reason) => reason !== undefined) ?? this.#why);
    }
  }

  /** SM2. Ends all followers; the file is made anew when they have ended. */
  #restart(reason: string): void {
    this.#why = reason;
    this.#stop.abort();
  }

  #pruneLater(): void {
    if (this.#isStopped) return;
    this.#pruning = this.ports.timers.after(PRUNE_EVERY_MS, () => {
      this.#prune();
      this.#pruneLater();
    });
  }

  #prune(): void {
    try {
      this.#prunedUpTo = this.#store.prune(this.#prunedUpTo, PRUNE_SUBJECTS);
    } catch (error) {
      if (!(error instanceof SqlFailure)) throw error;
      this.ports.log.warn('read-model.not-pruned', { model: MODEL, reason: error.message });
      if (error.isDamaged) this.#restart(error.message);
    }
  }
}
