/**
 * Puts changed keys into the indexes of their partitions, and takes over stored graphs, in slices of at most a
 * millisecond, after the replies of a turn. The databases with such work take turns. A database without indexes costs
 * one look at an empty set.
 *
 *  PIX1 a partition is not worked on while a command or transaction is half done: its contents do not change during a
 *       query, and never have changes that are undone later
 *  PIX2 with other work, a slice waits for as much other work as it takes, so at most half of the time is spent here.
 *       Without other work, slices follow each other for at most 2 ms, with one round of the event loop between two,
 *       and then other processes have a millisecond. Slices are short while clients send requests. While stored
 *       contents are compared after a start, clients wait for them, so there is no pause
 */
import type { KvEngine } from '../../domain/kv/index.js';
import type { Clock } from '../../ports/index.js';
import type { KvWork } from './kv-work.js';
import type { OwnedPartition } from './owned-partition.js';
import type { StoredIndexes } from './stored-indexes.js';

/** The work for one partition before the next one's turn: a command that arrives during it waits for the rest of it. */
const SLICE_MS = 0.25;
/** The longest slice. It follows other work that took as long, or a pause without clients. */
const MAX_SLICE_MS = 1;
/** The time until the next look when no slice can be used, and for other processes after `MOST_MS` without a pause. */
const PAUSE_MS = 1;
/**
 * Other processes need the processor too: the 99th percentile of SET is 2.0 times that before without a pause, 1.3 to
 * 1.8 with it. This is the time of the short slices between two pauses.
 */
const MOST_MS = 1;
/** Clients count as sending requests for so long after other work. */
const RECENT_MS = 20;
/** A round of the event loop without other work takes less. */
const IDLE_ROUND_MS = 0.1;
/** One of so many slices is for storing contents, also while changes wait. */
const STORING_TURNS = 4;

export class PartitionIndexing {
  /** Partitions with work or with waiting requests, the one whose turn is next first. */
  readonly #busy = new Set<OwnedPartition>();
  #pausedUntilMs = 0;
  /** When the last slice ended, if more work is left. */
  #endedAtMs: number | undefined;
  /** When the present round of the event loop began. */
  #roundAtMs = 0;
  /** When a round of the event loop last had other work. */
  #otherAtMs = Number.NEGATIVE_INFINITY;
  /** The time of slices without other work since the last pause. */
  #sinceMs = 0;
  #turns = 0;

  constructor(
    private readonly clock: Clock,
    /** Requests that need not wait any more. */
    private readonly onReady: (works: readonly KvWork[]) => void,
    /** Tells the engine the present bounds of plan and process. */
    private readonly tellLimits: (owned: OwnedPartition, engine: KvEngine) => void,
    private readonly stored?: StoredIndexes | undefined,
  ) {}

  /** Milliseconds until there may be work; 0: after one round of the event loop; undefined: there is none. */
  get inMs(): number | undefined {
    if (this.#endedAtMs !== undefined) return 0;
    return this.#busy.size > 0 ? PAUSE_MS : this.stored?.inMs;
  }

  /** To be called after commands have run: notes whether the partition has work. */
  look(owned: OwnedPartition): void {
    const { engine } = owned;
    if (engine === undefined) return;
    const { searches, graphs } = engine;
    const hasNone = searches.size === 0 && graphs.size === 0 && !searches.isInMemory;
    if (hasNone && this.stored?.isWatched(owned) !== true) return;
    this.#lookAt(owned, engine);
  }

  /** To be called when the partition was loaded: also removes the files of keys that are gone. */
  loaded(owned: OwnedPartition): void {
    if (owned.engine !== undefined) this.#lookAt(owned, owned.engine);
  }

  #lookAt(owned: OwnedPartition, engine: KvEngine): void {
    this.stored?.look(owned, engine);
    if (hasWork(owned, engine)) this.#busy.add(owned);
  }

  /** Writes no more files, because the actor ends. */
  stop(): void {
    this.stored?.stop();
  }

  /** Works for one partition. @returns how many requests need not wait any more */
  run(): number {
    if (this.inMs === undefined) return 0;
    const nowMs = this.clock.monotonicMs();
    const [owned] = this.#busy;
    const sliceMs = this.#sliceMs(nowMs, owned?.engine?.searches.isRestoring === true);
    if (sliceMs === 0) return 0;
    const isOver = () => this.clock.monotonicMs() - nowMs >= sliceMs;
    this.#turns += 1;
    if (owned === undefined || this.#turns % STORING_TURNS === 0) {
      this.stored?.work(isOver);
      this.#endSlice(this.#busy.size > 0);
      return 0;
    }
    this.#busy.delete(owned);
    const { engine } = owned;
    if (engine === undefined) return 0;
    const { searches, graphs } = engine;
    const mayWork = owned.underway === undefined && !owned.isInDoubt;
    if (mayWork) {
      this.tellLimits(owned, engine);
      searches.workUntil(isOver);
      graphs.workUntil(isOver);
      this.stored?.look(owned, engine);
    }
    const ready = owned.indexWaits.takeReady(searches, nowMs);
    this.onReady(ready);
    if (hasWork(owned, engine)) this.#busy.add(owned);
    this.#endSlice(mayWork && (searches.hasWork || graphs.hasWork));
    return ready.length;
  }

  /** PIX2. A round of the event loop that takes longer than an empty one had other work. @returns 0: not now */
  #sliceMs(nowMs: number, isUrgent: boolean): number {
    const isRecent = nowMs - this.#otherAtMs < RECENT_MS;
    if (this.#endedAtMs === undefined) {
      if (nowMs < this.#pausedUntilMs) return 0;
      return isRecent && !isUrgent ? SLICE_MS : MAX_SLICE_MS;
    }
    const isIdle = nowMs - this.#roundAtMs < IDLE_ROUND_MS;
    const otherMs = nowMs - this.#endedAtMs;
    this.#roundAtMs = nowMs;
    if (!isIdle) this.#otherAtMs = nowMs;
    if (!isIdle && otherMs < SLICE_MS) return 0;
    this.#endedAtMs = undefined;
    if (otherMs >= SLICE_MS) return Math.min(otherMs, MAX_SLICE_MS);
    this.#sinceMs += SLICE_MS;
    if (isUrgent || this.#sinceMs <= MOST_MS) return SLICE_MS;
    this.#sinceMs = 0;
    this.#pausedUntilMs = nowMs + PAUSE_MS;
    return 0;
  }

  #endSlice(mayGoOn: boolean): void {
    const nowMs = this.clock.monotonicMs();
    this.#roundAtMs = nowMs;
    if (mayGoOn) this.#endedAtMs = nowMs;
    else this.#pausedUntilMs = nowMs + PAUSE_MS;
  }
}

function hasWork({ indexWaits }: OwnedPartition, { searches, graphs }: KvEngine): boolean {
  return searches.hasWork || graphs.hasWork || indexWaits.size > 0;
}
