/**
 * The shards of one plane that this process may own: an actor for each, its recovery, its snapshots, its host. The
 * caller provides the plane and its server.
 *
 *  OS1 a snapshot that does not load is skipped from then on: the next activation begins at the one before it
 */
import {
  type DefiniteAppender,
  type PartitionFold,
  recover,
  recoverFollowing,
  SnapshotStore,
  type StoredManifest,
} from '../../journal/index.js';
import { isMillraceError, MillraceError, type ShardName } from '../../kernel/index.js';
import type { Clock, CompactionResult, Compactor, StoragePorts, Timers } from '../../ports/index.js';
import type { ManifestPartition } from '../../protocol/index.js';
import type { Activation, ActorLimits } from './activation.js';
import type { HostTimes } from './host-options.js';
import type { Membership } from './membership.js';
import type { RuntimeMetrics } from './runtime-metrics.js';
import type { Session } from './session.js';
import { ShardActor } from './shard-actor.js';
import { ShardHost } from './shard-host.js';
import { type SnapshotPolicy, Snapshotter } from './snapshotter.js';
import type { RecoveryStep, ShardPlane, Work } from './work.js';

/** Several shards may be replayed in parallel. */
const SHORTEST_SLICE_MS = 2;

/** The longest time that a request has to wait for the slice. */
const LONGEST_SLICE_MS = 5;

/**
 * The time that background work (a replay, the loading of a snapshot) may run before it yields to the event loop. The
 * next slice is as long as the other work took, within bounds, so that it keeps a fair share in a busy process.
 */
export class YieldBudget {
  #lastAtMs: number;
  #sliceMs = SHORTEST_SLICE_MS;

  constructor(
    private readonly clock: Clock,
    private readonly timers: Timers,
  ) {
    this.#lastAtMs = clock.monotonicMs();
  }

  /** The slice is used up. It is read often, and creates no promise while there is time. */
  get isSpent(): boolean {
    return this.clock.monotonicMs() - this.#lastAtMs >= this.#sliceMs;
  }

  /** Lets other work run, and sets the length of the next slice. */
  async yield(): Promise<void> {
    const leftAtMs = this.clock.monotonicMs();
    await this.timers.yieldToEventLoop();
    this.#lastAtMs = this.clock.monotonicMs();
    const othersMs = this.#lastAtMs - leftAtMs;
    this.#sliceMs = Math.min(LONGEST_SLICE_MS, Math.max(SHORTEST_SLICE_MS, othersMs));
  }
}

/** The parts of an activation from which a plane is made. */
export interface PlaneParts<W extends Work> {
  readonly activation: Activation;
  /** Available once the plane is made. */
  actor(): ShardActor<W>;
  /** Fills an empty fold from a snapshot. @throws JOURNAL_DAMAGED, JOURNAL_UNAVAILABLE */
  loadPartition(partition: ManifestPartition, fold: PartitionFold): Promise<void>;
  /** The newest snapshot and every later entry up to the last stored one. */
  history(): AsyncIterable<RecoveryStep>;
}

export interface OwnedShardsPorts extends StoragePorts {
  readonly appender: DefiniteAppender;
  readonly compactor: Compactor;
  readonly metrics: RuntimeMetrics;
  readonly session: Session;
  readonly membership: Membership;
}

export interface OwnedShardsOptions {
  readonly clusterId: string;
  /** As in `HostOptions`. */
  readonly isExclusive: boolean;
  readonly readsNeedBarrier: boolean;
  readonly actor: ActorLimits;
  readonly times: HostTimes;
  readonly snapshots: SnapshotPolicy;
}

/** The parts that differ between planes. */
export interface OwnedPlane<W extends Work, P extends ShardPlane<W>> {
  readonly shards: readonly ShardName[];
  createPlane(parts: PlaneParts<W>): P;
  /** Accepts requests for the actor. */
  serve(actor: ShardActor<W>, plane: P): void;
  onServing?(actor: ShardActor<W>, plane: P): void;
  /** As `HostOptions.beforeHandOver`. */
  beforeHandOver?(actor: ShardActor<W>, plane: P): Promise<void>;
  /** A snapshot was made, and is the newest valid one. */
  onSnapshot?(plane: P, stored: StoredManifest, result: CompactionResult): void;
}

export class OwnedShards<W extends Work, P extends ShardPlane<W>> {
  readonly host: ShardHost<W>;
  readonly #snapshots: SnapshotStore;
  readonly #snapshotter: Snapshotter<W>;
  readonly #planes = new WeakMap<ShardActor<W>, P>();
  /** Snapshots that did not load (OS1). */
  readonly #damaged = new Set<string>();

  constructor(
    private readonly ports: OwnedShardsPorts,
    private readonly options: OwnedShardsOptions,
    private readonly plane: OwnedPlane<W, P>,
  ) {
    this.#snapshots = new SnapshotStore(ports.objects, ports.log);
    this.#snapshotter = new Snapshotter<W>(
      { ...ports, onSnapshot: (shard, result) => this.#snapshotMade(shard, result) },
      options.snapshots,
      options.clusterId,
    );
    this.host = new ShardHost<W>(
      ports,
      options.times,
      {
        ...options,
        shards: plane.shards,
        createActor: (activation) => this.#createActor(activation),
        serve: (actor) => this.#withPlane(actor, (its) => plane.serve(actor, its)),
        onServing: (actor) => {
          this.#snapshotter.watch(actor);
          this.#withPlane(actor, (its) => plane.onServing?.(actor, its));
        },
        onStored: (actor, head, bytes) => this.#snapshotter.noteStored(actor, head, bytes),
        beforeHandOver: async (actor) => this.#withPlane(actor, (its) => plane.beforeHandOver?.(actor, its)),
      },
      ports.session,
      ports.membership,
    );
  }

  planeOf(actor: ShardActor<W> | undefined): P | undefined {
    return actor === undefined ? undefined : this.#planes.get(actor);
  }

  /** The actor and the plane of every shard of this process. */
  *planes(): Iterable<{ readonly actor: ShardActor<W>; readonly plane: P }> {
    for (const actor of this.host.actors()) {
      const plane = this.#planes.get(actor);
      if (plane !== undefined) yield { actor, plane };
    }
  }

  start(): void {
    this.host.start();
    this.#snapshotter.start();
  }

  /** Drains and moves the shards. */
  async stop(): Promise<void> {
    this.#snapshotter.stop();
    await this.host.stop();
  }

  #createActor(activation: Activation): ShardActor<W> {
    const { journal, objects, log } = this.ports;
    const { shard } = activation;
    const plane = this.plane.createPlane({
      activation,
      actor: () => actor,
      loadPartition: (partition, fold) => this.#loadPartition(shard, partition, fold),
      history: () => {
        const { head } = actor;
        if (head === undefined) throw new MillraceError('DEFECT', `${shard} has not been claimed`);
        return recover({ journal, objects, log }, shard, head, undefined, this.#damaged).steps;
      },
    });
    const actor: ShardActor<W> = new ShardActor<W>(
      {
        ...this.ports,
        recover: (name, claim, highWater) => recover({ journal, objects, log }, name, claim, highWater, this.#damaged),
        follow: (name, coming) => recoverFollowing({ journal, objects, log }, name, coming, this.#damaged),
      },
      this.options.actor,
      activation,
      plane,
    );
    this.#planes.set(actor, plane);
    return actor;
  }

  /** Runs in short slices. */
  async #loadPartition(shard: ShardName, partition: ManifestPartition, fold: PartitionFold): Promise<void> {
    const budget = new YieldBudget(this.ports.clock, this.ports.timers);
    try {
      for await (const _ of this.#snapshots.loadPartition(partition, fold)) if (budget.isSpent) await budget.yield();
    } catch (error) {
      await this.#avoidNewest(shard, error);
      throw error;
    }
  }

  async #avoidNewest(shard: ShardName, error: unknown): Promise<void> {
    if (!isMillraceError(error, 'JOURNAL_DAMAGED')) return;
    const newest = await this.#snapshots.newest(shard, this.#damaged);
    if (newest !== undefined) this.#damaged.add(newest.name);
  }

  async #snapshotMade(shard: ShardName, result: CompactionResult): Promise<void> {
    const plane = this.planeOf(this.host.actorOf(shard));
    if (plane === undefined || this.plane.onSnapshot === undefined) return;
    const stored = await this.#snapshots.newest(shard);
    if (stored?.name === result.manifest) this.plane.onSnapshot(plane, stored, result);
  }

  #withPlane<T>(actor: ShardActor<W>, use: (plane: P) => T): T | undefined {
    const plane = this.#planes.get(actor);
    return plane === undefined ? undefined : use(plane);
  }
}
