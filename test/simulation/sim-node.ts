/**
 * One process of the cluster: the real runtime and the real kv plane on simulated ports, wired as in src/composition. A
 * process that loses its session starts another, as the real process does.
 */
import { KvPlane, KvShardGateway, type KvWork, serveKvShard } from '../../src/actors/kv-shard/index.js';
import {
  type Activation,
  ClockWatch,
  GuardedClock,
  Membership,
  Session,
  ShardActor,
  ShardCaller,
  ShardHost,
  Snapshotter,
} from '../../src/actors/runtime/index.js';
import { compactShard, DefiniteAppender, recover, recoverFollowing, SnapshotStore } from '../../src/journal/index.js';
import type { PartitionName, ShardName } from '../../src/kernel/index.js';
import { type Compactor, type KvGateway, ROOMY } from '../../src/ports/index.js';
import type { KvRequest, KvResponse } from '../../src/protocol/index.js';
import { NO_LISTENERS } from '../support/no-listeners.js';
import { NO_METRICS } from '../support/no-metrics.js';
import { newFold } from './folds.js';
import type { SimMember } from './sim-kit.js';
import {
  ACTOR,
  ANSWERS,
  APPEND_RETRIES,
  CALLS,
  CLOCK,
  CLOCK_WATCH,
  CLUSTER_ID,
  COMPACTION,
  GATEWAY,
  HOST,
  PLANE,
  SESSION,
  SNAPSHOTS,
} from './sim-settings.js';

export interface NodeOptions {
  readonly shards: readonly ShardName[];
  readonly readsNeedBarrier: boolean;
  readonly hasSnapshots: boolean;
}

export interface SimNode {
  readonly name: string;
  readonly member: SimMember;
  readonly gateway: KvGateway;
  /** Hands its shards over. */
  stop(): Promise<void>;
  /** Of each partition in memory of the shards that it serves now. */
  digests(): ReadonlyMap<PartitionName, string>;
  /** Shards that it stopped because their journal is in doubt. */
  stoppedShards(): readonly ShardName[];
}

export function startNode(member: SimMember, options: NodeOptions): SimNode {
  const { process } = member;
  const parts = new NodeParts(member, options);
  // Its first step is an event of its own, like every other.
  process.timers.soon(() => parts.begin());
  return {
    name: process.name,
    member,
    gateway: { execute: (request: KvRequest): Promise<KvResponse> => parts.gateway.execute(request) },
    stop: () => parts.stop(),
    digests: () => parts.digests(),
    stoppedShards: () => [...parts.host.stoppedShards().keys()],
  };
}

/** The runtime of one process, wired as composition does it. */
class NodeParts {
  readonly host: ShardHost<KvWork>;
  readonly gateway: KvGateway;
  private readonly clock: GuardedClock;
  private readonly session: Session;
  private readonly membership: Membership;
  private readonly snapshots: SnapshotStore;
  private readonly snapshotter: Snapshotter<KvWork>;
  private readonly planes = new WeakMap<ShardActor<KvWork>, KvPlane>();

  constructor(
    private readonly member: SimMember,
    private readonly options: NodeOptions,
  ) {
    const { journal, leases, objects, bus } = member;
    const { clock: machine, boot, timers, random, log } = member.process;
    const clock = new GuardedClock(machine, boot, CLOCK);
    this.clock = clock;
    const { shards, readsNeedBarrier } = options;
    this.snapshots = new SnapshotStore(objects, log);
    this.membership = new Membership(bus, clock);
    const clocks = new ClockWatch({ clock, boot, leases, log }, CLOCK_WATCH, this.membership);
    this.session = new Session({ leases, clock, clocks, timers, random, log }, SESSION, this.membership, ['kv']);
    this.snapshotter = this.createSnapshotter();
    this.host = new ShardHost<KvWork>(
      { journal, leases, clock, timers, log, metrics: NO_METRICS },
      HOST,
      {
        shards,
        clusterId: CLUSTER_ID,
        isExclusive: false,
        readsNeedBarrier,
        createActor: (activation) => this.createActor(activation),
        serve: (actor) => serveKvShard(bus, actor, ANSWERS),
        onServing: (actor) => this.snapshotter.watch(actor),
        onStored: (actor, head, bytes) => this.snapshotter.noteStored(actor, head, bytes),
      },
      this.session,
      this.membership,
    );
    const caller = new ShardCaller(bus, clock, timers, random, CALLS);
    this.gateway = new KvShardGateway({ clock, timers, caller, host: this.host }, GATEWAY, shards.length);
  }

  begin(): void {
    this.membership.start();
    void this.session.start().then(() => {
      this.host.start();
      if (this.options.hasSnapshots) this.snapshotter.start();
    });
  }

  async stop(): Promise<void> {
    this.snapshotter.stop();
    await this.host.stop();
    await this.session.close();
    this.membership.stop();
  }

  digests(): ReadonlyMap<PartitionName, string> {
    const digests = new Map<PartitionName, string>();
    for (const actor of this.host.actors()) {
      if (actor.state !== 'serving') continue;
      for (const [partition, fold] of this.planes.get(actor)?.loaded() ?? []) digests.set(partition, fold.digest());
    }
    return digests;
  }

  private createActor(activation: Activation): ShardActor<KvWork> {
    const { journal, objects } = this.member;
    const { clock } = this;
    const { timers, random, log } = this.member.process;
    const plane = new KvPlane(
      {
        clock,
        timers,
        log,
        storage: ROOMY,
        ...NO_LISTENERS,
        onReady: () => actor.resume(),
        onFailure: (error) => actor.fail(error),
        createFold: () => newFold(random, () => clock.nowMs()),
        loadPartition: async (partition, fold) => {
          for await (const _ of this.snapshots.loadPartition(partition, fold));
        },
      },
      PLANE,
    );
    const actor: ShardActor<KvWork> = new ShardActor<KvWork>(
      {
        journal,
        appender: new DefiniteAppender(journal, timers, APPEND_RETRIES),
        clock,
        timers,
        random,
        log,
        metrics: NO_METRICS,
        recover: (shard, claim, highWater) => recover({ journal, objects, log }, shard, claim, highWater),
        follow: (shard, coming) => recoverFollowing({ journal, objects, log }, shard, coming),
      },
      ACTOR,
      activation,
      plane,
    );
    this.planes.set(actor, plane);
    return actor;
  }

  private createSnapshotter(): Snapshotter<KvWork> {
    const { journal, objects } = this.member;
    const { clock } = this;
    const { timers, log, random } = this.member.process;
    const compactor: Compactor = {
      compact: (job) => compactShard({ journal, objects, clock, log }, job, () => newFold(random, () => 0), COMPACTION),
    };
    return new Snapshotter<KvWork>(
      {
        compactor,
        journal,
        clock,
        timers,
        log,
        metrics: NO_METRICS,
        onSnapshot: async (shard, result) => {
          const stored = await this.snapshots.newest(shard);
          const actor = this.host.actorOf(shard);
          if (stored === undefined || stored.name !== result.manifest || actor === undefined) return;
          this.planes.get(actor)?.adoptManifest(stored.manifest);
        },
      },
      this.options.hasSnapshots
        ? SNAPSHOTS
        : { ...SNAPSHOTS, entries: Number.POSITIVE_INFINITY, bytes: Number.POSITIVE_INFINITY },
      CLUSTER_ID,
    );
  }
}
