/**
 * One read model's file, for as long as it is not stopped: the followers that fold logs into it, what is shown of how far
 * they are, and its pruning now and then.
 *
 *  FF1 a file that turns out to be of no use is removed when all that writes to it has ended, and everything folded anew
 */
import { MillraceError, type ShardName } from '../kernel/index.js';
import { type Log, SqlFailure, type Timer, type Timers } from '../ports/index.js';
import type { ShardFollower } from './shard-follower.js';

/** What a process shows of a file. */
export interface FileStatus {
  /** Positions behind, of all shards. */
  readonly behindPositions: number;
  /** How long the shard that is furthest behind has been so. */
  readonly behindMs: number;
  /** Every shard has been at its end since the start. */
  readonly isCaughtUp: boolean;
  /** Shards whose older events may be missing. */
  readonly incompleteShards: readonly ShardName[];
  /** Shards that are held up, and why. */
  readonly troubles: readonly (readonly [ShardName, string])[];
}

export interface FoldedFileParts {
  readonly timers: Timers;
  readonly log: Log;
  readonly store: { discard(reason: string): void; close(): void };
  /** Errors name it so, with its verb: `the read model is`. */
  readonly name: string;
  /** Makes the followers of the file as it is now, or was made anew. @returns none when it was stopped meanwhile */
  follow(signal: AbortSignal): Promise<readonly ShardFollower[]> | readonly ShardFollower[];
  /** What else writes to the file, or reads all of it, until it is stopped. */
  beside?(signal: AbortSignal): Promise<void>;
  /** Removes what is older than is kept, some milliseconds' worth. @returns whether more waits. @throws SqlFailure */
  prune(): boolean;
  /** Between two rounds, while nothing more waits. */
  readonly pruneEveryMs: number;
  /** In the line about a pruning that failed. */
  readonly pruneFields?: Readonly<Record<string, string>>;
}

/** While more waits than one round removes. */
const PRUNE_ON_AFTER_MS = 100;

export class FoldedFile {
  #followers: readonly ShardFollower[] = [];
  #stop = new AbortController();
  #running: Promise<void> = Promise.resolve();
  #pruning: Timer | undefined;
  #isStopped = false;
  #why = '';

  constructor(private readonly parts: FoldedFileParts) {}

  get isStopped(): boolean {
    return this.#isStopped;
  }

  /** None before it has begun. */
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

  /** @param wake what waits for something to be folded: nothing will be */
  async stop(wake: () => void = () => {}): Promise<void> {
    this.#isStopped = true;
    this.#pruning?.cancel();
    this.#stop.abort();
    wake();
    await this.#running;
    this.parts.store.close();
  }

  /** FF1. Ends all followers; the file is made anew when they have ended. */
  restart(reason: string): void {
    this.#why = reason;
    this.#stop.abort();
  }

  /** Reads the file. @throws SHARD_UNAVAILABLE when it cannot be read, SHUTTING_DOWN */
  async read<T>(work: () => Promise<T> | T): Promise<T> {
    this.mustGoOn();
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof SqlFailure)) throw error;
      if (error.isDamaged) this.restart(error.message);
      throw new MillraceError('SHARD_UNAVAILABLE', `${this.parts.name} being made anew`, {}, error);
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
      const beside = this.parts.beside?.(signal);
      const reasons = await Promise.all(
        this.#followers.map(async (one) => {
          // Each has a signal of its own: a warning of a leak comes from ten listeners on one.
          const reason = await one.run(AbortSignal.any([signal]));
          if (reason !== undefined) this.restart(reason);
          return reason;
        }),
      );
      await beside;
      if (this.#isStopped) return;
      this.parts.store.discard(reasons.find((reason) => reason !== undefined) ?? this.#why);
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
