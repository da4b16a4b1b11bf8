/**
 * The read models of one process: one file, a follower for each shard of the queue, and the questions that are asked.
 * Belongs in a thread of its own: every transaction and every step of a search holds it up for some milliseconds.
 *
 *  RM1 a question waits until its shard has been folded as far as the asker has seen, or for `waitMs`; an answer that
 *      does not have all of that says how far behind it is
 *  RM2 a file that turns out to be of no use is removed, and everything folded anew
 */
import type { DlqSelector } from '../domain/queue/index.js';
import { type AccountId, MillraceError, type ShardName } from '../kernel/index.js';
import { queuePartition, shardOf } from '../messages/index.js';
import {
  type Behind,
  type DlqPage,
  type LogPage,
  type LogQuery,
  type MessageLog,
  type RunEventPage,
  type RunEventQuery,
  type RunLog,
  type RunPage,
  type RunQuery,
  SqlFailure,
  type SqlFiles,
  type Timer,
} from '../ports/index.js';
import { MessageLogStore, type RetentionLimits } from './message-log/index.js';
import { DEFAULT_FOLLOWER_OPTIONS, type FollowerOptions, type FollowerPorts, ShardFollower } from './shard-follower.js';
import { restoreFromSnapshot } from './snapshot-restore.js';
import { WaitingQuestions } from './waiting-questions.js';

export interface ReadModelOptions {
  readonly clusterId: string;
  /** `QUEUE_0` … in order. */
  readonly shards: readonly ShardName[];
  readonly retention?: RetentionLimits;
  readonly follower?: Partial<Omit<FollowerOptions, 'model'>>;
  /** How long a question waits to see what its asker has seen. */
  readonly waitMs?: number;
  /** How long a search goes on before its page ends. */
  readonly searchMs?: number;
}

/** What a process shows of its read models. */
export interface ReadModelStatus {
  /** Positions behind, of all shards. */
  readonly behindPositions: number;
  /** Of the shard that is furthest behind. */
  readonly behindMs: number;
  /** Every shard has been at its end since the start. */
  readonly isCaughtUp: boolean;
  /** Shards whose older events may be missing. */
  readonly incompleteShards: readonly ShardName[];
  /** Shards that are held up, and why. */
  readonly troubles: readonly (readonly [ShardName, string])[];
  /** Rows of the log since the start. */
  readonly rows: number;
}

const DEFAULT_WAIT_MS = 2000;
const DEFAULT_SEARCH_MS = 1000;
/** Between looks for events that have grown old, when nothing happens. */
const OLD_EVERY_MS = 60_000;
/** Between two rounds of pruning. */
const PRUNE_EVERY_MS = 100;
/** Of one round: folding goes on in between. */
const PRUNE_ROUND_MS = 30;

export class ReadModels implements MessageLog, RunLog {
  readonly #store: MessageLogStore;
  #followers = new Map<ShardName, ShardFollower>();
  #stop = new AbortController();
  #running: Promise<void> = Promise.resolve();
  #pruning: Timer | undefined;
  #lookedForOldAtMs: number;
  #isStopped = false;
  readonly #waiting: WaitingQuestions;

  constructor(
    private readonly ports: FollowerPorts,
    files: SqlFiles,
    private readonly options: ReadModelOptions,
  ) {
    const { clusterId, retention } = options;
    this.#store = new MessageLogStore(files, ports.log, { clusterId, ...(retention && { retention }) });
    this.#lookedForOldAtMs = ports.clock.monotonicMs();
    this.#waiting = new WaitingQuestions(ports.timers, options.waitMs ?? DEFAULT_WAIT_MS, 'the read model');
  }

  start(): void {
    this.#running = this.#run();
    this.#pruneLater();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#pruning?.cancel();
    this.#stop.abort();
    this.#waiting.wake();
    await this.#running;
    this.#store.close();
  }

  /** From now on so many events of each of these accounts are kept, 0 for none. */
  limitEvents(limits: Iterable<readonly [AccountId, number]>): void {
    this.#store.limitEvents(limits);
  }

  status(): ReadModelStatus {
    const followers = [...this.#followers.values()];
    return {
      behindPositions: followers.reduce((sum, { lag }) => sum + lag.positions, 0),
      behindMs: Math.max(0, ...followers.map(({ lag }) => lag.ms)),
      isCaughtUp: followers.length === this.options.shards.length && followers.every((one) => one.isCaughtUp),
      incompleteShards: followers.filter(({ hasGap }) => hasGap).map(({ shard }) => shard),
      troubles: followers.flatMap(({ shard, trouble }) => (trouble === undefined ? [] : [[shard, trouble] as const])),
      rows: followers.reduce((sum, { rows }) => sum + rows, 0),
    };
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

  async runEvents(account: AccountId, query: RunEventQuery, seen: number): Promise<RunEventPage> {
    return this.#answer(account, seen, (isLate) => this.#store.runReader.events(account, query, isLate));
  }

  async #search<T>(begin: (isLate: () => boolean) => Generator<void, T>): Promise<T> {
    const { clock, timers } = this.ports;
    const endMs = clock.monotonicMs() + (this.options.searchMs ?? DEFAULT_SEARCH_MS);
    try {
      const search = begin(() => clock.monotonicMs() >= endMs);
      for (;;) {
        if (this.#isStopped) throw new MillraceError('SHUTTING_DOWN', 'the read models are stopping');
        const step = search.next();
        if (step.done === true) return step.value;
        await timers.breathe();
      }
    } catch (error) {
      if (!(error instanceof SqlFailure)) throw error;
      if (error.isDamaged) this.#restart(error.message);
      throw new MillraceError('SHARD_UNAVAILABLE', 'the read model is being made anew', {}, error);
    }
  }

  /** RM1. */
  async #answer<Page extends object>(
    account: AccountId,
    seen: number,
    begin: (isLate: () => boolean) => Generator<void, Page>,
  ): Promise<Page & { readonly behind?: Behind }> {
    const shard = shardOf('queue', queuePartition(account), this.options.shards.length);
    const position = () => this.#followers.get(shard)?.position ?? 0;
    await this.#waiting.until(() => this.#isStopped || position() >= seen);
    // Looked at before the search: what is folded meanwhile may be in the page or not.
    const positions = seen - position();
    const ms = this.#followers.get(shard)?.ageMs;
    const page = await this.#search(begin);
    return positions > 0 ? { ...page, behind: { positions, ms } } : page;
  }

  async #run(): Promise<void> {
    while (!this.#isStopped) {
      this.#stop = new AbortController();
      const { signal } = this.#stop;
      const { shards, follower } = this.options;
      const options = { ...DEFAULT_FOLLOWER_OPTIONS, ...follower, model: 'messages' };
      const restore = (shard: ShardName) => restoreFromSnapshot(this.ports, this.#store, shard, shards.length);
      const onProgress = () => this.#waiting.wake();
      const followers = shards.map(
        (shard) => new ShardFollower(this.ports, this.#store, restore, shard, options, onProgress),
      );
      this.#followers = new Map(followers.map((one) => [one.shard, one]));
      const reasons = await Promise.all(
        followers.map(async (one) => {
          const reason = await one.run(signal);
          if (reason !== undefined) this.#restart(reason);
          return reason;
        }),
      );
      if (this.#isStopped) return;
      this.#store.discard(reasons.find((reason) => reason !== undefined) ?? this.#why);
    }
  }

  #why = '';

  /** Ends all followers; the file is made anew when they have ended. */
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
    const { clock, log } = this.ports;
    const nowMs = clock.monotonicMs();
    try {
      if (nowMs - this.#lookedForOldAtMs >= OLD_EVERY_MS) {
        this.#lookedForOldAtMs = nowMs;
        this.#store.lookForOld();
      }
      const hasTime = () => clock.monotonicMs() - nowMs < PRUNE_ROUND_MS;
      while (this.#store.isPruneDue && hasTime()) this.#store.prune(clock.nowMs());
      while (hasTime() && this.#store.giveBack() > 0);
    } catch (error) {
      if (!(error instanceof SqlFailure)) throw error;
      log.warn('read-model.not-pruned', { reason: error.message });
      if (error.isDamaged) this.#restart(error.message);
    }
  }
}
