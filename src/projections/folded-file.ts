/**
 * Runs one read model's file: the followers that fold logs into it, their status, and regular pruning.
 *
 *  FF1 a useless file is removed after all its writers have ended, and then rebuilt from the beginning
 */
import { MillraceError, type ShardName } from '../kernel/index.js';
import { type Log, SqlFailure, type Timer, type Timers } from '../ports/index.js';
import type { ShardFollower } from './shard-follower.js';

/** The status of a file, for monitoring. */
export interface FileStatus {
  /** Messages not yet folded, of all shards together. */
  readonly behindPositions: number;
  /** The delay of the slowest shard. */
  readonly behindMs: number;
  /** Every shard has reached its end since the start. */
  readonly isCaughtUp: boolean;
  /** Shards with possibly missing older events. */
  readonly incompleteShards: readonly ShardName[];
  /** Shards that cannot be folded, with the reasons. */
  readonly troubles: readonly (readonly [ShardName, string])[];
}

export interface FoldedFileParts {
  readonly timers: Timers;
  readonly log: Log;
  readonly store: { discard(reason: string): void; close(): void };
  /** The subject of error texts, with its verb: `the read model is`. */
  readonly name: string;
  /**
   * Makes the followers of the present file.
   * @returns none if the file was stopped in that time
   */
  follow(signal: AbortSignal): Promise<readonly ShardFollower[]> | readonly ShardFollower[];
  /** Further work that writes or reads the whole file until it is stopped. */
  background?(signal: AbortSignal): Promise<void>;
  /**
   * Removes expired rows for some milliseconds.
   * @returns whether more are left
   * @throws SqlFailure
   */
  prune(): boolean;
  /** The pause between two rounds when none are left. */
  readonly pruneEveryMs: number;
  /** Fields of the log line about a failed pruning. */
  readonly pruneFields?: Readonly<Record<string, string>>;
}

/** The pause while a round leaves rows. */
const PRUNE_ON_AFTER_MS = 100;

export class FoldedFile {
  #followers: readonly ShardFollower[] = [];
  #stop = new AbortController();
  #running: Promise<void> = Promise.resolve();
  #pruning: Timer | undefined;
  #isStopped = false;
  #reason = '';

  constructor(private readonly parts: FoldedFileParts) {}

  get isStopped(): boolean {
    return this.#isStopped;
  }

  /** Empty before the start. */
  get followers(): readonly ShardFollower[] {
    return this.#followers;
  }

  get status(): FileStatus {
    const followers = this.#followers;
    return {
      behindPositions: followers.reduce((sum, { lag }) => sum + lag.positions, 0),
      behindMs: Math.max(0, ...followers.map(({ lag }) => lag.ms)),
      isCaughtUp: followers.length > 0 && followers.every((one) => one.isCaughtUp),
      incompleteShards: followers.filter(({ hasGap }) => hasGap).map(({ shard }) => shard),
      troubles: followers.flatMap(({ shard, trouble }) => (trouble === undefined ? [] : [[shard, trouble] as const])),
    };
  }

  start(): void {
    this.#running = this.#run();
    this.#pruneLater();
  }

  /** @param wake wakes readers that wait for folding, because there will be none */
  async stop(wake: () => void = () => {}): Promise<void> {
    this.#isStopped = true;
    this.#pruning?.cancel();
    this.#stop.abort();
    wake();
    await this.#running;
    this.parts.store.close();
  }

  /** FF1 (a useless file is removed and rebuilt). Ends all followers; the file is rebuilt when they have ended. */
  restart(reason: string): void {
    this.#reason = reason;
    this.#stop.abort();
  }

  /**
   * Reads the file.
   * @throws SHARD_UNAVAILABLE when it cannot be read, SHUTTING_DOWN
   */
  async read<T>(work: () => Promise<T> | T): Promise<T> {
    this.mustGoOn();
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof SqlFailure)) throw error;
      if (error.isDamaged) this.restart(error.message);
      throw new MillraceError('SHARD_UNAVAILABLE', `${this.parts.name} being rebuilt`, {}, error);
    }
  }

  /** @throws SHUTTING_DOWN */
  mustGoOn(): void {
    if (this.#isStopped) throw new MillraceError('SHUTTING_DOWN', 'the read models are stopping');
  }

  async #run(): Promise<void> {
    while (!this.#isStopped) {
      this.#stop = new AbortController();
      const { signal } = this.#stop;
      this.#followers = [];
      this.#followers = await this.parts.follow(signal);
      const background = this.parts.background?.(signal);
      const reasons = await Promise.all(
        this.#followers.map(async (one) => {
          // One signal each: Node.js warns of a leak when one signal has more than ten listeners.
          const reason = await one.run(AbortSignal.any([signal]));
          if (reason !== undefined) this.restart(reason);
          return reason;
        }),
      );
      await background;
      if (this.#isStopped) return;
      this.parts.store.discard(reasons.find((reason) => reason !== undefined) ?? this.#reason);
    }
  }

  #pruneLater(afterMs = this.parts.pruneEveryMs): void {
    if (this.#isStopped) return;
    this.#pruning = this.parts.timers.roughlyAfter(afterMs, () => {
      const isMore = this.#prune();
      this.#pruneLater(isMore ? PRUNE_ON_AFTER_MS : this.parts.pruneEveryMs);
    });
  }

  #prune(): boolean {
    try {
      return this.parts.prune();
    } catch (error) {
      if (!(error instanceof SqlFailure)) throw error;
      this.parts.log.warn('read-model.not-pruned', { ...this.parts.pruneFields, reason: error.message });
      if (error.isDamaged) this.restart(error.message);
      return false;
    }
  }
}
