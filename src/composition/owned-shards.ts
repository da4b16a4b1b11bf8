/**
 * The shards of one plane that this process may own: an actor over each, its recovery, its snapshots, its host. What
 * the plane is, and who may ask it, the roles say.
 *
 *  OS1 a snapshot that does not load is passed over from then on: the next activation begins at the one before it
 */
import type { DependencyContainer } from 'tsyringe';
import {
  type Activation,
  type RecoveryStep,
  ShardActor,
  ShardHost,
  type ShardPlane,
  Snapshotter,
  type Work,
} from '../actors/runtime/index.js';
import { DefiniteAppender, type PartitionFold, recover, SnapshotStore, type StoredManifest } from '../journal/index.js';
import { isMillraceError, MillraceError, type ShardName } from '../kernel/index.js';
import type { ManifestPartition } from '../messages/index.js';
import type { CompactionResult, Compactor } from '../ports/index.js';
import {
  APPEND_RETRY,
  actorLimitsOf,
  hostTimesOf,
  loadBreathing,
  runtimeMetricsOf,
  snapshotPolicyOf,
} from './runtime-parts.js';
import * as tokens from './tokens.js';

/** What a plane is given of the activation that it is made for. */
export interface PlaneWorld<W extends Work> {
  readonly activation: Activation;
  /** Once the plane is there. */
  actor(): ShardActor<W>;
  /** Fills an empty fold from a snapshot. @throws JOURNAL_DAMAGED, JOURNAL_UNAVAILABLE */
  loadPartition(partition: ManifestPartition, fold: PartitionFold): Promise<void>;
  /** The newest snapshot and every entry behind it, up to the last that is stored. */
  history(): AsyncIterable<RecoveryStep>;
}

export interface OwnedShardsOptions<W extends Work, P extends ShardPlane<W>> {
  readonly shards: readonly ShardName[];
  readonly isExclusive: boolean;
  readonly compactor: Compactor;
  createPlane(world: PlaneWorld<W>): P;
  /** Lets others ask the actor. */
  serve(actor: ShardActor<W>, plane: P): void;
  onServing?(actor: ShardActor<W>, plane: P): void;
  /** As `HostOptions.beforeHandOver`. */
  beforeHandOver?(actor: ShardActor<W>, plane: P): Promise<void>;
  /** A snapshot was made, and is the newest that counts. */
  onSnapshot?(plane: P, stored: StoredManifest, result: CompactionResult): void;
}

export interface OwnedShards<W extends Work, P> {
  readonly host: ShardHost<W>;
  planeOf(actor: ShardActor<W> | undefined): P | undefined;
  start(): void;
  /** Drains and hands over. */
  stop(): Promise<void>;
}

export function ownedShards<W extends Work, P extends ShardPlane<W>>(
  c: DependencyContainer,
  options: OwnedShardsOptions<W, P>,
): OwnedShards<W, P> {
  const config = c.resolve(tokens.CONFIG);
  const clock = c.resolve(tokens.CLOCK);
  const timers = c.resolve(tokens.TIMERS);
  const random = c.resolve(tokens.RANDOM);
  const log = c.resolve(tokens.LOG);
  const journal = c.resolve(tokens.JOURNAL);
  const objects = c.resolve(tokens.OBJECTS);
  const { clusterId } = c.resolve(tokens.LAYOUT);
  const metrics = runtimeMetricsOf(c.resolve(tokens.METRICS));
  const snapshots = new SnapshotStore(objects, log);
  const appender = new DefiniteAppender(journal, timers, APPEND_RETRY);
  const planes = new WeakMap<ShardActor<W>, P>();
  /** OS1. */
  const damaged = new Set<string>();

  async function avoidNewest(shard: ShardName, error: unknown): Promise<void> {
    if (!isMillraceError(error, 'JOURNAL_DAMAGED')) return;
    const newest = await snapshots.newest(shard, damaged);
    if (newest !== undefined) damaged.add(newest.name);
  }

  const snapshotter = new Snapshotter<W>(
    {
      compactor: options.compactor,
      journal,
      clock,
      timers,
      log,
      metrics,
      onSnapshot: async (shard, result) => {
        const actor = host.actorOf(shard);
        const plane = actor === undefined ? undefined : planes.get(actor);
        if (plane === undefined || options.onSnapshot === undefined) return;
        const stored = await snapshots.newest(shard);
        if (stored?.name === result.manifest) options.onSnapshot(plane, stored, result);
      },
    },
    snapshotPolicyOf(config),
    clusterId,
  );

  function createActor(activation: Activation): ShardActor<W> {
    const { shard } = activation;
    const plane = options.createPlane({
      activation,
      actor: () => actor,
      loadPartition: async (partition, fold) => {
        try {
          await loadBreathing(snapshots, partition, fold, clock, timers);
        } catch (error) {
          await avoidNewest(shard, error);
          throw error;
        }
      },
      history: () => {
        const { head } = actor;
        if (head === undefined) throw new MillraceError('DEFECT', `${shard} has not been claimed`);
        return recover({ journal, objects, log }, shard, head, undefined, damaged).steps;
      },
    });
    const actor: ShardActor<W> = new ShardActor<W>(
      {
        journal,
        appender,
        clock,
        timers,
        random,
        log,
        metrics,
        recover: (name, claim, highWater) => recover({ journal, objects, log }, name, claim, highWater, damaged),
      },
      actorLimitsOf(config),
      activation,
      plane,
    );
    planes.set(actor, plane);
    options.serve(actor, plane);
    return actor;
  }

  const host: ShardHost<W> = new ShardHost<W>(
    { journal, leases: c.resolve(tokens.LEASES), clock, timers, log, metrics },
    hostTimesOf(config),
    {
      shards: options.shards,
      clusterId,
      isExclusive: options.isExclusive,
      readsNeedBarrier: config.ownership.reads === 'barrier',
      createActor,
      onServing: (actor) => {
        snapshotter.watch(actor);
        const plane = planes.get(actor);
        if (plane !== undefined) options.onServing?.(actor, plane);
      },
      onStored: (actor, head, bytes) => snapshotter.noteStored(actor, head, bytes),
      beforeHandOver: async (actor) => {
        const plane = planes.get(actor);
        if (plane !== undefined) await options.beforeHandOver?.(actor, plane);
      },
    },
    c.resolve(tokens.SESSION),
    c.resolve(tokens.MEMBERSHIP),
  );
  return {
    host,
    planeOf: (actor) => (actor === undefined ? undefined : planes.get(actor)),
    start: () => {
      host.start();
      snapshotter.start();
    },
    stop: async () => {
      snapshotter.stop();
      await host.stop();
    },
  };
}
