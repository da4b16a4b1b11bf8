/**
 * Keeps the search databases of one shard: a fold that serves, and a second one while the first has failed or lacks a
 * database.
 *
 *  SK1 the serving fold continues until its successor has caught up
 *  SK2 a failed fold is replaced by another one after a pause
 */
import { type FollowingReader, followLog } from '../../journal/index.js';
import { type DatabaseId, describeError, type ShardName } from '../../kernel/index.js';
import type { IndexedDatabase } from '../../ports/index.js';
import { type ShardLag, unreadableAt } from '../progress.js';
import { type AnyDatabase, type SearchPorts, ShardFold, type ShardFoldOptions } from './shard-fold.js';

/** A subscription from the start of a fold to its end; after a failure it continues with another fold. */
interface Following {
  fold: ShardFold;
  readonly stop: AbortController;
  /** The fold has not failed. */
  isAlive: boolean;
}

export class ShardKeeper {
  /** The serving fold and its subscription, which may have moved to another fold after a failure. */
  #serving: { readonly fold: ShardFold; readonly by: Following } | undefined;
  #loading: Following | undefined;
  /** A subscription in the pause before its next fold. */
  #pausing: Following | undefined;
  #wanted: ReadonlyMap<DatabaseId, IndexedDatabase> = new Map();
  #trouble: string | undefined;
  #isStopped = false;
  readonly #ending = new Set<Promise<void>>();

  constructor(
    private readonly ports: SearchPorts,
    readonly shard: ShardName,
    private readonly options: ShardFoldOptions & { readonly retryMs: number },
    private readonly onProgress: () => void,
  ) {}

  get trouble(): string | undefined {
    return this.#trouble;
  }

  get lag(): ShardLag {
    return this.#serving?.fold.lag ?? this.#loading?.fold.lag ?? { positions: 0, ms: 0 };
  }

  /** Every wanted database can be queried. */
  get isServing(): boolean {
    return [...this.#wanted.keys()].every((id) => this.database(id) !== undefined);
  }

  get documents(): number {
    return this.#serving?.fold.documents ?? 0;
  }

  get unreadable(): number {
    return this.#serving?.fold.unreadable ?? 0;
  }

  database(id: DatabaseId): AnyDatabase | undefined {
    return this.#wanted.has(id) ? this.#serving?.fold.database(id) : undefined;
  }

  /** Sets the databases to keep; without any, no journal is followed. */
  want(wanted: ReadonlyMap<DatabaseId, IndexedDatabase>): void {
    if (this.#isStopped || isSame(wanted, this.#wanted)) return;
    for (const id of this.#wanted.keys()) {
      if (wanted.has(id)) continue;
      this.#serving?.fold.leave(id);
      this.#loading?.fold.leave(id);
    }
    this.#wanted = new Map(wanted);
    if (wanted.size === 0) {
      this.#endAll();
      return;
    }
    const newest = this.#loading ?? this.#serving?.by;
    // All are tried, because a fold keeps those that it can join.
    const joins = [...wanted.values()].map((database) => this.#join(newest?.fold, database));
    if (newest?.isAlive !== true || joins.includes(false)) this.rebuild();
  }

  /** Starts another fold while the present one serves. */
  rebuild(): void {
    if (this.#isStopped || this.#wanted.size === 0) return;
    for (const other of [this.#loading, this.#pausing]) other?.stop.abort();
    this.#pausing = undefined;
    const following: Following = { fold: this.#newFold(), stop: new AbortController(), isAlive: true };
    const { signal } = following.stop;
    const ended = followLog(
      this.ports.timers,
      this.#readerOf(following),
      { ...this.options, shard: this.shard },
      signal,
    );
    this.#ending.add(ended);
    void ended.then(() => this.#ending.delete(ended));
  }

  #newFold(): ShardFold {
    return new ShardFold(this.ports, this.shard, this.options, this.#wanted.values());
  }

  #readerOf(following: Following): FollowingReader {
    const onProgress = () => {
      if (this.#loading === following && following.fold.isCaughtUp) this.#switchTo(following);
      this.onProgress();
    };
    return {
      follow: (from, follower) => this.ports.journal.follow(this.shard, from, follower),
      begin: async (signal) => {
        this.#pausing = undefined;
        this.#loading = following;
        if (!following.isAlive) following.fold = this.#newFold();
        following.isAlive = true;
        const position = await following.fold.load(signal);
        if (!signal.aborted) onProgress();
        return position;
      },
      take: (batch, signal) => following.fold.take(batch, signal, onProgress),
      idle: () => following.fold.idle(following.stop.signal),
      end: {
        journal: this.ports.journal,
        last: () => following.fold.lastAtStart,
        unreadable: (position) => this.#lacksEnd(position),
      },
      failed: (error) => this.#failed(following, error),
    };
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#endAll();
    await Promise.all(this.#ending);
  }

  #join(fold: ShardFold | undefined, database: IndexedDatabase): boolean {
    if (fold === undefined) return false;
    if (fold !== this.#serving?.fold) this.#serving?.fold.join(database);
    return fold.join(database);
  }

  #switchTo(following: Following): void {
    if (this.#serving?.by !== following) this.#serving?.by.stop.abort();
    this.#serving = { fold: following.fold, by: following };
    this.#loading = undefined;
    this.#trouble = undefined;
  }

  /**
   * SK2 (a failed fold is replaced by another one).
   * @returns whether the subscription continues with another fold
   */
  #failed(following: Following, error: unknown): boolean {
    following.isAlive = false;
    this.#tellHeldUp(describeError(error));
    if (this.#loading === following) this.#loading = undefined;
    // A fold that is loading already also replaces this one.
    if (this.#loading !== undefined) return false;
    this.#pausing?.stop.abort();
    this.#pausing = following;
    return true;
  }

  #lacksEnd(position: number): void {
    if (this.#trouble === undefined) this.#tellHeldUp(unreadableAt(position));
  }

  #tellHeldUp(reason: string): void {
    this.#trouble = reason;
    this.ports.log.warn('search.held-up', { shard: this.shard, reason });
  }

  #endAll(): void {
    for (const one of [this.#serving?.by, this.#loading, this.#pausing]) one?.stop.abort();
    this.#serving = undefined;
    this.#loading = undefined;
    this.#pausing = undefined;
    this.#trouble = undefined;
  }
}

/** The kind of an index never changes. */
function isSame(a: ReadonlyMap<DatabaseId, unknown>, b: ReadonlyMap<DatabaseId, unknown>): boolean {
  return a.size === b.size && [...a.keys()].every((id) => b.has(id));
}
