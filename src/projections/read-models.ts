/**
 * The read models of a process: one file, a follower for each queue shard, and the queries. They run in a separate
 * thread, because each transaction and search step blocks it for some milliseconds.
 *
 *  RM1 a query waits until its shard is folded up to the position that its caller has seen, but at most `waitMs`; an
 *      answer without all of that states its lag
 */
import type { DlqSelector, MessageFilter } from '../domain/queue/index.js';
import type { AccountId, ShardName } from '../kernel/index.js';
import type {
  Backlog,
  BacklogQuery,
  Behind,
  Counts,
  DlqPage,
  LogPage,
  LogQuery,
  MessageLog,
  MessageState,
  RunEntries,
  RunEntriesQuery,
  RunEventPage,
  RunEventQuery,
  RunLog,
  RunLogFilter,
  RunPage,
  RunQuery,
  SqlFiles,
} from '../ports/index.js';
import { queuePartition, shardOf } from '../protocol/index.js';
import { type FileStatus, FoldedFile } from './folded-file.js';
import { JournalSource } from './journal-source.js';
import { MessageLogStore, type RetentionLimits } from './message-log/index.js';
import {
  DEFAULT_FOLLOWER_OPTIONS,
  type FollowerOptions,
  ShardFollower,
  type ShardFollowerPorts,
} from './shard-follower.js';
import { restoreFromSnapshot } from './snapshot-restore.js';
import { WaitingQuestions } from './waiting-questions.js';

export interface ReadModelOptions {
  readonly clusterId: string;
  /** `QUEUE_0` … in order. */
  readonly shards: readonly ShardName[];
  readonly retention?: RetentionLimits;
  readonly follower?: Partial<Omit<FollowerOptions, 'model'>>;
  /** The longest wait for the position that the caller has seen. */
  readonly waitMs?: number;
  /** The longest search for one page. */
  readonly searchMs?: number;
}

/** The status of the read models, for monitoring. */
export interface ReadModelStatus extends FileStatus {
  /** Rows of the log since the start. */
  readonly rows: number;
}

const DEFAULT_WAIT_MS = 2000;
const DEFAULT_SEARCH_MS = 1000;
/** Interval of checks for old events. */
const OLD_EVERY_MS = 60_000;
/** Interval of pruning when no old events are left. */
const PRUNE_EVERY_MS = 2000;
/** The longest round of pruning; folding continues between rounds. */
const PRUNE_ROUND_MS = 30;

export class ReadModels implements MessageLog, RunLog {
  readonly #store: MessageLogStore;
  readonly #file: FoldedFile;
  readonly #waiting: WaitingQuestions;
  #lookedForOldAtMs: number;

  constructor(
    private readonly ports: ShardFollowerPorts,
    files: SqlFiles,
    private readonly options: ReadModelOptions,
  ) {
    const { clusterId, retention } = options;
    const { timers, log, clock } = ports;
    this.#store = new MessageLogStore(files, log, { clusterId, ...(retention && { retention }) });
    this.#lookedForOldAtMs = clock.monotonicMs();
    this.#waiting = new WaitingQuestions(timers, options.waitMs ?? DEFAULT_WAIT_MS, 'the read model');
    this.#file = new FoldedFile({
      timers,
      log,
      store: this.#store,
      name: 'the read model is',
      follow: () => this.#follow(),
      prune: () => this.#prune(),
      pruneEveryMs: PRUNE_EVERY_MS,
    });
  }

  start(): void {
    this.#file.start();
  }

  async stop(): Promise<void> {
    await this.#file.stop(() => this.#waiting.wake());
  }

  /** Sets the number of events kept for these accounts; 0 keeps none. */
  limitEvents(limits: Iterable<readonly [AccountId, number]>): void {
    this.#store.limitEvents(limits);
  }

  status(): ReadModelStatus {
    return { ...this.#file.status, rows: this.#file.followers.reduce((sum, { rows }) => sum + rows, 0) };
  }

  async events(account: AccountId, query: LogQuery, seen: number): Promise<LogPage> {
    return this.#answer(account, seen, (isLate) => this.#store.reader.events(account, query, isLate));
  }

  async dlq(account: AccountId, selector: DlqSelector, seen: number, trimBytes?: number): Promise<DlqPage> {
    return this.#answer(account, seen, (isLate) => this.#store.reader.dlq(account, selector, isLate, trimBytes));
  }

  async runs(account: AccountId, query: RunQuery, seen: number): Promise<RunPage> {
    return this.#answer(account, seen, (isLate) => this.#store.runReader.runs(account, query, isLate));
  }

  async dlqCounts(account: AccountId, filter: MessageFilter, seen: number): Promise<Counts> {
    return this.#answer(account, seen, (isLate) => this.#store.reader.dlqCounts(account, filter, isLate));
  }

  async eventCounts(
    account: AccountId,
    filter: MessageFilter,
    states: readonly MessageState[],
    seen: number,
  ): Promise<Counts> {
    return this.#answer(account, seen, (isLate) => this.#store.reader.eventCounts(account, { filter, states }, isLate));
  }

  async backlog(account: AccountId, query: BacklogQuery, seen: number): Promise<Backlog> {
    return this.#answer(account, seen, (isLate) => this.#store.backlogAges.read(account, query, isLate));
  }

  async runCounts(account: AccountId, filter: RunLogFilter, seen: number): Promise<Counts> {
    return this.#answer(account, seen, (isLate) => this.#store.runReader.counts(account, filter, isLate));
  }

  async runEvents(account: AccountId, query: RunEventQuery, seen: number): Promise<RunEventPage> {
    return this.#answer(account, seen, (isLate) => this.#store.runReader.events(account, query, isLate));
  }

  async runEntries(account: AccountId, query: RunEntriesQuery, seen: number): Promise<RunEntries> {
    return this.#answer(account, seen, () => this.#store.runReader.entries(account, query));
  }

  #search<T>(begin: (isLate: () => boolean) => Generator<void, T>): Promise<T> {
    const { clock, timers } = this.ports;
    const endMs = clock.monotonicMs() + (this.options.searchMs ?? DEFAULT_SEARCH_MS);
    return this.#file.read(async () => {
      const search = begin(() => clock.monotonicMs() >= endMs);
      for (;;) {
        this.#file.mustGoOn();
        const step = search.next();
        if (step.done === true) return step.value;
        await timers.yieldToEventLoop();
      }
    });
  }

  /** RM1 (a query waits until its shard is folded up to the position that its caller has seen). */
  async #answer<Page extends object>(
    account: AccountId,
    seen: number,
    begin: (isLate: () => boolean) => Generator<void, Page>,
  ): Promise<Page & { readonly behind?: Behind }> {
    const shard = shardOf('queue', queuePartition(account), this.options.shards.length);
    const follower = () => this.#file.followers.find((one) => one.shard === shard);
    const position = () => follower()?.position ?? 0;
    await this.#waiting.until(() => this.#file.isStopped || position() >= seen);
    // Read before the search: events that are folded during it may or may not be on the page.
    const positions = seen - position();
    const ms = follower()?.ageMs;
    const page = await this.#search(begin);
    return positions > 0 ? { ...page, behind: { positions, ms } } : page;
  }

  #follow(): ShardFollower[] {
    const { ports } = this;
    const { shards, follower } = this.options;
    const options = { ...DEFAULT_FOLLOWER_OPTIONS, ...follower, model: 'messages' };
    const store = this.#store;
    const readers = { wake: () => this.#waiting.wake(), isAwaited: () => this.#waiting.areThere };
    return shards.map((shard) => {
      const restore = () => restoreFromSnapshot(ports, store, shard, shards.length);
      const source = new JournalSource(shard, store, options.batchBytes, restore);
      return new ShardFollower(ports, store, source, options, readers);
    });
  }

  #prune(): boolean {
    const { clock } = this.ports;
    const nowMs = clock.monotonicMs();
    if (nowMs - this.#lookedForOldAtMs >= OLD_EVERY_MS) {
      this.#lookedForOldAtMs = nowMs;
      this.#store.lookForOld();
    }
    const hasTime = () => clock.monotonicMs() - nowMs < PRUNE_ROUND_MS;
    while (this.#store.isPruneDue && hasTime()) this.#store.prune(clock.nowMs());
    let isGivenBack = false;
    while (hasTime() && !isGivenBack) isGivenBack = this.#store.giveBack() === 0;
    return this.#store.isPruneDue || !isGivenBack;
  }
}
