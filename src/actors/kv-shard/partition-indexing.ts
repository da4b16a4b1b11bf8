/**
 * Puts changed keys into the indexes of their partitions, a millisecond at a time, after the replies of a turn. The
 * databases with such work take turns. A database without indexes costs one look at an empty set.
 *
 *  PIX1 a partition is not worked on while a command or transaction is half done: its contents do not change during a
 *       query, and never have changes that are undone later
 *  PIX2 at most half of the time is spent here
 */
import type { KvEngine } from '../../domain/kv/index.js';
import type { Clock } from '../../ports/index.js';
import type { KvWork } from './kv-work.js';
import type { OwnedPartition } from './owned-partition.js';
import type { StoredIndexes } from './stored-indexes.js';

/** The work for one partition before the next one's turn, and the least time until the next slice. */
const SLICE_MS = 1;
/** One of so many slices is for storing contents, also while changes wait. */
const STORING_TURNS = 4;

export class PartitionIndexing {
  /** Partitions with work or with waiting requests, the one whose turn is next first. */
  readonly #busy = new Set<OwnedPartition>();
  #pausedUntilMs = 0;
  #turns = 0;

  constructor(
    private readonly clock: Clock,
    /** Requests that need not wait any more. */
    private readonly onReady: (works: readonly KvWork[]) => void,
    /** Tells the engine the present bounds of plan and process. */
    private readonly tellLimits: (owned: OwnedPartition, engine: KvEngine) => void,
    private readonly stored?: StoredIndexes | undefined,
  ) {}

  /** Milliseconds until there may be work; undefined: there is none. */
  get inMs(): number | undefined {
    return this.#busy.size > 0 ? 1 : this.stored?.inMs;
  }

  /** To be called after commands have run: notes whether the partition has work. */
  look(owned: OwnedPartition): void {
    const searches = owned.engine?.searches;
    if (searches === undefined) return;
    if (searches.size === 0 && !searches.isInMemory && this.stored?.isWatched(owned) !== true) return;
    this.stored?.look(owned, searches);
    if (searches.hasWork || owned.indexWaits.size > 0) this.#busy.add(owned);
  }

  /** Writes no more files, because the actor ends. */
  stop(): void {
    this.stored?.stop();
  }

  /** Works for one partition. @returns how many requests need not wait any more */
  run(): number {
    if (this.inMs === undefined) return 0;
    const nowMs = this.clock.monotonicMs();
    if (nowMs < this.#pausedUntilMs) return 0;
    const [owned] = this.#busy;
    this.#turns += 1;
    if (owned === undefined || this.#turns % STORING_TURNS === 0) {
      this.stored?.work(() => this.clock.monotonicMs() - nowMs >= SLICE_MS);
      this.#pausedUntilMs = this.clock.monotonicMs() + SLICE_MS;
      return 0;
    }
    this.#busy.delete(owned);
    const { engine } = owned;
    if (engine === undefined) return 0;
    const { searches } = engine;
    if (owned.underway === undefined && !owned.isInDoubt) {
      this.tellLimits(owned, engine);
      searches.workUntil(() => this.clock.monotonicMs() - nowMs >= SLICE_MS);
    }
    const ready = owned.indexWaits.takeReady(searches, nowMs);
    this.onReady(ready);
    if (searches.hasWork || owned.indexWaits.size > 0) this.#busy.add(owned);
    this.#pausedUntilMs = this.clock.monotonicMs() + SLICE_MS;
    return ready.length;
  }
}
