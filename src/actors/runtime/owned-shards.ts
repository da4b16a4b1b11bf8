/**
 * The shards of one plane that this process may own: an actor over each, its recovery, its snapshots, its host. What
 * the plane is, and who may ask it, whoever makes this says.
 *
 *  OS1 a snapshot that does not load is passed over from then on: the next activation begins at the one before it
 */
import {
  type DefiniteAppender,
  type PartitionFold,
  recover,
  SnapshotStore,
  type StoredManifest,
} from '../../journal/index.js';
import { isMillraceError, MillraceError, type ShardName } from '../../kernel/index.js';
import type { ManifestPartition } from '../../messages/index.js';
import type { CompactionResult, Compactor, StoragePorts } from '../../ports/index.js';
import type { Activation, ActorLimits } from './activation.js';
import { Breathing } from './breathing.js';
import type { Membership } from './membership.js';
import type { RuntimeMetrics } from './runtime-metrics.js';
import type { Session } from './session.js';
import { ShardActor } from './shard-actor.js';
import { type HostTimes, ShardHost } from './shard-host.js';
import { type SnapshotPolicy, Snapshotter } from './snapshotter.js';
import type { RecoveryStep, ShardPlane, Work } from './work.js';

/** What a plane is given of the activation that it is made for. */
export interface PlaneParts<W extends Work> {
  readonly activation: Activation;
  /** Once the plane is there. */
  actor(): ShardActor<W>;
  /** Fills an empty fold from a snapshot. @throws JOURNAL_DAMAGED, JOURNAL_UNAVAILABLE */
  loadPartition(partition: ManifestPartition, fold: PartitionFold): Promise<void>;
  /** The newest snapshot and every entry behind it, up to the last that is stored. */
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
  /** It is as in `HostOptions`. */
  readonly isExclusive: boolean;
  readonly readsNeedBarrier: boolean;
  readonly actor: ActorLimits;
  readonly times: HostTimes;
  readonly snapshots: SnapshotPolicy;
}

/** What is particular to a plane. */
export interface OwnedPlane<W extends Work, P extends ShardPlane<W>> {
  readonly shards: readonly ShardName[];
  createPlane(parts: PlaneParts<W>): P;
  /** Lets others ask the actor. */
  serve(actor: ShardActor<W>, plane: P): void;
  onServing?(actor: ShardActor<W>, plane: P): void;
  /** It is `HostOptions.beforeHandOver`. */
  beforeHandOver?(actor: ShardActor<W>, plane: P): Promise<void>;
  /** A snapshot was made, and is the newest that counts. */
  onSnapshot?(plane: P, stored: StoredManifest, result: CompactionResult): void;
}

export class OwnedShards<W extends Work, P extends ShardPlane<W>> {
  readonly host: ShardHost<W>;
  readonly #snapshots: SnapshotStore;
  readonly #snapshotter: Snapshotter<W>;
  readonly #planes = new WeakMap<ShardActor<W>, P>();
  /** OS1. */
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

  /** The actor and the plane of every shard that this process has. */
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

  /** Drains and hands over. */
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
      },
      this.options.actor,
      activation,
      plane,
    );
    this.#planes.set(actor, plane);
    this.plane.serve(actor, plane);
    return actor;
  }

  /** Never holds the loop for long. */
  async #loadPartition(shard: ShardName, partition: ManifestPartition, fold: PartitionFold): Promise<void> {
    const breathing = new Breathing(this.ports.clock, this.ports.timers);
    try {
      for await (const _ of this.#snapshots.loadPartition(partition, fold)) if (breathing.isDue) await breathing.take();
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
