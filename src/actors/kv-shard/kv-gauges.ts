/**
 * What only the owner of a partition knows and statistics want: how large it is, and whether reads found their keys.
 * Looked at once a second, told to the meter where it has changed.
 *
 *  KG1 the size of a partition is told at most every `tellEveryMs`, and its last change always, as long as it is owned
 *  KG2 looks at keys are told once: what was counted since they were told last
 *  KG3 partitions are looked at some at a time: a new owner has thousands to tell of
 *  KG4 told is what an owner that serves has in memory: one that still loads has a part of it, one whose lease is over
 *      knows what once was. Until then, and of what is not loaded, the size that was told last stands
 */
import { KEY_OVERHEAD_BYTES } from '../../domain/kv/index.js';
import { obtain, type PartitionName } from '../../kernel/index.js';
import { parseKvPartition } from '../../messages/index.js';
import type { Clock, Meter, Timer, Timers } from '../../ports/index.js';
import type { ShardActor } from '../runtime/index.js';
import type { KvFold } from './kv-fold.js';
import type { KvPlane } from './kv-plane.js';
import type { KvWork } from './kv-work.js';

/** The owner of a shard in this process, in whatever state it is. */
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

/** Well under a millisecond, when all of them have something to tell. */
const STEP_PARTITIONS = 200;

type Served = readonly [name: PartitionName, fold: KvFold, epoch: number];

interface Told {
  keys: number;
  storageBytes: number;
  hits: number;
  misses: number;
  atMs: number;
}

export class KvGauges {
  /** A fold that was put away is forgotten with what was told of it: its successor begins to count at 0. */
  readonly #told = new WeakMap<KvFold, Told>();
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

  /** Looks once more, at all. */
  stop(): void {
    this.#isStopped = true;
    this.#timer?.cancel();
    const nowMs = this.parts.clock.monotonicMs();
    for (const [name, fold, epoch] of this.#served()) this.#lookAt(name, fold, epoch, nowMs);
  }

  /** KG4, as it is whenever the next one is asked for. */
  *#served(): Generator<Served, undefined> {
    for (const { actor, plane } of this.parts.owners()) {
      for (const [name, fold] of plane.loaded()) {
        if (actor.state !== 'serving' || !actor.holdsLease) break;
        yield [name, fold, actor.epoch];
      }
    }
  }

  /** KG3. */
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
    const told = obtain(this.#told, fold, () => ({
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

/** CONFIG RESETSTAT lets an engine count from 0 again. */
function since(told: number, now: number): number {
  return now >= told ? now - told : now;
}
