/**
 * Keeps the search databases of one shard: a fold that answers, and beside it another one when the first cannot go on
 * or lacks a database.
 *
 *  SK1 what answers goes on answering until the other has caught up
 *  SK2 a fold that fails is begun anew after a pause
 */
import { type DatabaseId, describeError, type ShardName } from '../../kernel/index.js';
import type { Timer } from '../../ports/index.js';
import type { SearchDatabase } from './search-database.js';
import { type FoldLag, type SearchPorts, ShardFold, type ShardFoldOptions } from './shard-fold.js';

interface Running {
  readonly fold: ShardFold;
  readonly stop: AbortController;
  readonly ended: Promise<void>;
  /** Goes on: it has not failed. */
  isAlive: boolean;
}

export class ShardKeeper {
  #serving: Running | undefined;
  #loading: Running | undefined;
  #wanted = new Set<DatabaseId>();
  #trouble: string | undefined;
  #retry: Timer | undefined;
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

  get lag(): FoldLag {
    return this.#serving?.fold.lag ?? this.#loading?.fold.lag ?? { positions: 0, ms: 0 };
  }

  /** Everything that is wanted can be asked for. */
  get isServing(): boolean {
    return [...this.#wanted].every((id) => this.database(id) !== undefined);
  }

  get documents(): number {
    return this.#serving?.fold.documents ?? 0;
  }

  get unreadable(): number {
    return this.#serving?.fold.unreadable ?? 0;
  }

  database(id: DatabaseId): SearchDatabase | undefined {
    return this.#wanted.has(id) ? this.#serving?.fold.database(id) : undefined;
  }

  /** The databases that it keeps from now on; none: it follows nothing. */
  want(ids: ReadonlySet<DatabaseId>): void {
    if (this.#isStopped || isSame(ids, this.#wanted)) return;
    for (const id of this.#wanted) {
      if (ids.has(id)) continue;
      this.#serving?.fold.leave(id);
      this.#loading?.fold.leave(id);
    }
    this.#wanted = new Set(ids);
    if (ids.size === 0) {
      this.#endAll();
      return;
    }
    const newest = this.#loading ?? this.#serving;
    // All are tried: a fold keeps what it can have.
    const joins = [...ids].map((id) => this.#join(newest, id));
    if (newest?.isAlive !== true || joins.includes(false)) this.rebuild();
  }

  /** Begins anew, beside what answers. */
  rebuild(): void {
    if (this.#isStopped || this.#wanted.size === 0) return;
    this.#retry?.cancel();
    if (this.#loading !== undefined) this.#end(this.#loading);
    const stop = new AbortController();
    const onProgress = () => {
      if (this.#loading === running && fold.isCaughtUp) this.#switchTo(running);
      this.onProgress();
    };
    const fold = new ShardFold(this.ports, this.shard, this.options, this.#wanted, onProgress);
    const ended = fold.run(stop.signal).then(
      () => {},
      (error: unknown) => this.#failed(running, error),
    );
    const running: Running = { fold, stop, ended, isAlive: true };
    this.#loading = running;
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#endAll();
    await Promise.all(this.#ending);
  }

  #join(running: Running | undefined, id: DatabaseId): boolean {
    if (running === undefined) return false;
    if (running !== this.#serving) this.#serving?.fold.join(id);
    return running.fold.join(id);
  }

  #switchTo(running: Running): void {
    if (this.#serving !== undefined) this.#end(this.#serving);
    this.#serving = running;
    this.#loading = undefined;
    this.#trouble = undefined;
  }

  #failed(running: Running, error: unknown): void {
    running.isAlive = false;
    if (running.stop.signal.aborted) return;
    this.#trouble = describeError(error);
    this.ports.log.warn('search.held-up', { shard: this.shard, reason: this.#trouble });
    if (this.#loading === running) this.#loading = undefined;
    // One that is being made already will do for this one too.
    if (this.#loading !== undefined) return;
    this.#retry?.cancel();
    this.#retry = this.ports.timers.after(this.options.retryMs, () => this.rebuild());
  }

  #endAll(): void {
    this.#retry?.cancel();
    for (const running of [this.#serving, this.#loading]) if (running !== undefined) this.#end(running);
    this.#serving = undefined;
    this.#loading = undefined;
    this.#trouble = undefined;
  }

  #end(running: Running): void {
    running.stop.abort();
    this.#ending.add(running.ended);
    void running.ended.then(() => this.#ending.delete(running.ended));
  }
}

function isSame(a: ReadonlySet<DatabaseId>, b: ReadonlySet<DatabaseId>): boolean {
  return a.size === b.size && [...a].every((id) => b.has(id));
}
