/**
 * Tells the meter the size of each partition and how many reads found their key, which only the owner knows. It checks
 * once a second and tells changes.
 *
 *  KG1 the size of a partition is told at most every `tellEveryMs`; its last change is always told while it is owned
 *  KG2 lookups of keys are told once: the count since the last telling
 *  KG3 partitions are checked a few at a time, because a new owner has thousands to tell of
 *  KG4 only a serving owner tells sizes: one that is loading has a part of the data, one with an expired lease an old
 *      state. The size told last stays valid until then, and for partitions that are not loaded
 */
import { KEY_OVERHEAD_BYTES } from '../../domain/kv/index.js';
import { getOrCreate, type PartitionName } from '../../kernel/index.js';
import type { Clock, Meter, Timer, Timers } from '../../ports/index.js';
import { parseKvPartition } from '../../protocol/index.js';
import type { ShardActor } from '../runtime/index.js';
import type { KvFold } from './kv-fold.js';
import type { KvPlane } from './kv-plane.js';
import type { KvWork } from './kv-work.js';

/** The owner of a shard in this process, in any state. */
export interface GaugedOwner {
  readonly actor: Pick<ShardActor<KvWork>, 'state' | 'epoch' | 'holdsLease'>;
  readonly plane: Pick<KvPlane, 'loaded'>;
}

export interface KvGaugesParts {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly meter: Pick<Meter, 'gaugeKv' | 'recordLookups'>;
  owners(): Iterable<GaugedOwner>;
}

export interface KvGaugesOptions {
  readonly lookEveryMs: number;
  readonly tellEveryMs: number;
}

const DEFAULT_KV_GAUGES: KvGaugesOptions = { lookEveryMs: 1000, tellEveryMs: 10_000 };

/** So many take well under a millisecond, even when each has changes. */
const STEP_PARTITIONS = 200;

type Served = readonly [name: PartitionName, fold: KvFold, epoch: number];

interface ReportedCounts {
  keys: number;
  storageBytes: number;
  hits: number;
  misses: number;
  atMs: number;
}

export class KvGauges {
  /** Keyed by the fold: a reloaded partition has a new fold, which counts from 0. */
  readonly #told = new WeakMap<KvFold, ReportedCounts>();
  #timer: Timer | undefined;
  #isStopped = false;

  constructor(
    private readonly parts: KvGaugesParts,
    private readonly options: KvGaugesOptions = DEFAULT_KV_GAUGES,
  ) {}

  start(): void {
    this.#timer = this.parts.timers.roughlyAfter(this.options.lookEveryMs, () => {
      this.#lookOn(this.#served());
    });
  }

  /** Tells the last changes of all partitions. */
  stop(): void {
    this.#isStopped = true;
    this.#timer?.cancel();
    const nowMs = this.parts.clock.monotonicMs();
    for (const [name, fold, epoch] of this.#served()) this.#lookAt(name, fold, epoch, nowMs);
  }

  /** The partitions of serving owners (KG4), checked again at each step. */
  *#served(): Generator<Served, undefined> {
    for (const { actor, plane } of this.parts.owners()) {
      for (const [name, fold] of plane.loaded()) {
        if (actor.state !== 'serving' || !actor.holdsLease) break;
        yield [name, fold, actor.epoch];
      }
    }
  }

  /** Checks a few partitions (KG3). */
  #lookOn(partitions: Iterator<Served, undefined>): void {
    if (this.#isStopped) return;
    const nowMs = this.parts.clock.monotonicMs();
    for (let looked = 0; looked < STEP_PARTITIONS; looked += 1) {
      const next = partitions.next();
      if (next.done === true) {
        this.start();
        return;
      }
      this.#lookAt(...next.value, nowMs);
    }
    this.parts.timers.soon(() => this.#lookOn(partitions));
  }

  #lookAt(name: PartitionName, fold: KvFold, epoch: number, nowMs: number): void {
    const { size: keys, bytes, hits, misses } = fold.engine.keyspace;
    const storageBytes = bytes + keys * KEY_OVERHEAD_BYTES;
    const told = getOrCreate(this.#told, fold, () => ({
      keys: -1,
      storageBytes: -1,
      hits: 0,
      misses: 0,
      atMs: Number.NEGATIVE_INFINITY,
    }));
    const hasNewSize = keys !== told.keys || storageBytes !== told.storageBytes;
    const hasLooks = hits !== told.hits || misses !== told.misses;
    if (!hasNewSize && !hasLooks) return;
    const { database, index } = parseKvPartition(name);
    if (hasLooks) {
      this.parts.meter.recordLookups(database, since(told.hits, hits), since(told.misses, misses));
      told.hits = hits;
      told.misses = misses;
    }
    if (!hasNewSize || nowMs - told.atMs < this.options.tellEveryMs) return;
    this.parts.meter.gaugeKv({ database, index, keys, storageBytes, epoch });
    told.keys = keys;
    told.storageBytes = storageBytes;
    told.atMs = nowMs;
  }
}

/** CONFIG RESETSTAT sets the engine's counts back to 0. */
function since(told: number, now: number): number {
  return now >= told ? now - told : now;
}
