/** The kv role: this process may own kv shards. */
import type { DependencyContainer } from 'tsyringe';
import { KvFold, KvPlane, type KvWork, serveKvShard } from '../actors/kv-shard/index.js';
import { type Activation, ShardActor, ShardHost, Snapshotter } from '../actors/runtime/index.js';
import { shardNames } from '../adapters/nats/index.js';
import { KvEngine, permissionsOf, type ServerFacts } from '../domain/kv/index.js';
import { DefiniteAppender, recover, SnapshotStore } from '../journal/index.js';
import { isMillraceError, MillraceError, type SessionId, type ShardName } from '../kernel/index.js';
import type { KvDelivery } from '../messages/index.js';
import type { Compactor, StorageGauge } from '../ports/index.js';
import {
  ANSWER_MEMORY,
  APPEND_RETRY,
  actorLimitsOf,
  callLimitsOf,
  hostTimesOf,
  loadBreathing,
  runtimeMetricsOf,
  snapshotPolicyOf,
  watchShards,
} from './runtime-parts.js';
import * as tokens from './tokens.js';

export interface KvRole {
  readonly host: ShardHost<KvWork>;
  start(): void;
  stop(): Promise<void>;
}

/** A caller that has not asked again for so many of its tries waits no more. */
const CALLER_SILENCE_TRIES = 4;
const EXPIRY_EVERY_MS = 100;
const PASSIVATE_AFTER_MS = 600_000;
const PASSIVATE_EVERY_MS = 60_000;

export interface KvRoleOptions {
  readonly isExclusive: boolean;
  readonly compactor: Compactor;
  readonly storage: StorageGauge;
  readonly facts: ServerFacts;
  /** Tells a process, this one or another, what its clients listen to. */
  deliver(edge: SessionId, delivery: KvDelivery): void;
}

export function kvRole(
  c: DependencyContainer,
  { isExclusive, compactor, storage, facts, deliver }: KvRoleOptions,
): KvRole {
  const config = c.resolve(tokens.CONFIG);
  const clock = c.resolve(tokens.CLOCK);
  const timers = c.resolve(tokens.TIMERS);
  const random = c.resolve(tokens.RANDOM);
  const log = c.resolve(tokens.LOG);
  const journal = c.resolve(tokens.JOURNAL);
  const objects = c.resolve(tokens.OBJECTS);
  const leases = c.resolve(tokens.LEASES);
  const bus = c.resolve(tokens.BUS);
  const layout = c.resolve(tokens.LAYOUT);
  const metrics = runtimeMetricsOf(c.resolve(tokens.METRICS));
  const snapshots = new SnapshotStore(objects, log);
  const appender = new DefiniteAppender(journal, timers, APPEND_RETRY);
  const planes = new WeakMap<ShardActor<KvWork>, KvPlane>();

  const snapshotter = new Snapshotter<KvWork>(
    {
      compactor,
      journal,
      clock,
      timers,
      log,
      metrics,
      onSnapshot: async (shard, result) => {
        const stored = await snapshots.newest(shard);
        const actor = host.actorOf(shard);
        if (stored === undefined || stored.name !== result.manifest || actor === undefined) return;
        planes.get(actor)?.adoptManifest(stored.manifest);
      },
    },
    snapshotPolicyOf(config),
    layout.clusterId,
  );

  /** A snapshot that does not load is not tried again: the next activation begins at the one before it. */
  const damaged = new Set<string>();
  async function avoidNewest(shard: ShardName, error: unknown): Promise<void> {
    if (!isMillraceError(error, 'JOURNAL_DAMAGED')) return;
    const newest = await snapshots.newest(shard, damaged);
    if (newest !== undefined) damaged.add(newest.name);
  }

  function createActor(activation: Activation): ShardActor<KvWork> {
    const plane = new KvPlane(
      {
        clock,
        timers,
        log,
        storage,
        activation: `${activation.epoch}-${Buffer.from(random.bytes(6)).toString('hex')}`,
        permissionsOf: (user, rules) => permissionsOf(rules, user),
        deliver: (edge, partition, events) => deliver(edge, { partition, activation: plane.activation, events }),
        history: () => {
          const { head } = actor;
          if (head === undefined) throw new MillraceError('DEFECT', `${activation.shard} has not been claimed`);
          return recover({ journal, objects, log }, activation.shard, head, undefined, damaged).steps;
        },
        createFold: (audience) => new KvFold(new KvEngine(random, facts, audience)),
        loadPartition: async (partition, fold) => {
          try {
            await loadBreathing(snapshots, partition, fold, clock, timers);
          } catch (error) {
            await avoidNewest(activation.shard, error);
            throw error;
          }
        },
      },
      {
        expiryKeysPerTick: config.bounds.expiryKeys,
        expiryEveryMs: EXPIRY_EVERY_MS,
        passivateAfterMs: PASSIVATE_AFTER_MS,
      },
    );
    const actor = new ShardActor<KvWork>(
      {
        journal,
        appender,
        clock,
        timers,
        random,
        log,
        metrics,
        recover: (shard, claim, highWater) => recover({ journal, objects, log }, shard, claim, highWater, damaged),
      },
      actorLimitsOf(config),
      activation,
      plane,
    );
    plane.onReady = () => actor.resume();
    plane.onFailure = (error) => actor.fail(error);
    planes.set(actor, plane);
    serveKvShard(bus, actor, ANSWER_MEMORY, {
      clock,
      timers,
      silenceMs: CALLER_SILENCE_TRIES * callLimitsOf(config).tryMs,
    });
    return actor;
  }

  const host: ShardHost<KvWork> = new ShardHost<KvWork>(
    { journal, leases, clock, timers, log, metrics },
    hostTimesOf(config),
    {
      shards: shardNames(layout).kv,
      clusterId: layout.clusterId,
      isExclusive,
      readsNeedBarrier: config.ownership.reads === 'barrier',
      createActor,
      onServing: (actor) => snapshotter.watch(actor),
      onStored: (actor, head, bytes) => snapshotter.noteStored(actor, head, bytes),
    },
    c.resolve(tokens.SESSION),
    c.resolve(tokens.MEMBERSHIP),
  );
  watchShards(c.resolve(tokens.METRICS), host, shardNames(layout).kv);
  let isStopped = false;
  const sweep = () => {
    if (isStopped) return;
    for (const actor of host.actors()) planes.get(actor)?.passivateIdle(clock.nowMs());
    timers.after(PASSIVATE_EVERY_MS, sweep);
  };

  return {
    host,
    start: () => {
      host.start();
      snapshotter.start();
      timers.after(PASSIVATE_EVERY_MS, sweep);
    },
    stop: async () => {
      isStopped = true;
      snapshotter.stop();
      await host.stop();
    },
  };
}
