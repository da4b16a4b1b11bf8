/** One process of the cluster: the real runtime and the real kv plane on simulated ports. */
import { KvPlane, KvShardGateway, type KvWork, serveKvShard } from '../../src/actors/kv-shard/index.js';
import type { Activation, ShardActor } from '../../src/actors/runtime/index.js';
import { compactShard } from '../../src/journal/index.js';
import type { PartitionName, ShardName } from '../../src/kernel/index.js';
import { type CompactionJob, type CompactionResult, type KvGateway, ROOMY } from '../../src/ports/index.js';
import type { KvRequest, KvResponse, Manifest } from '../../src/protocol/index.js';
import { NO_LISTENERS } from '../support/no-listeners.js';
import { newFold } from './folds.js';
import { NodeParts } from './node-parts.js';
import type { SimMember } from './sim-kit.js';
import { ANSWERS, COMPACTION, GATEWAY, PLANE, SNAPSHOTS } from './sim-settings.js';

export interface NodeOptions {
  readonly shards: readonly ShardName[];
  readonly readsNeedBarrier: boolean;
  readonly hasSnapshots: boolean;
}

export interface SimNode {
  readonly name: string;
  readonly member: SimMember;
  readonly gateway: KvGateway;
  /** Stops the process gracefully; it hands over its shards. */
  stop(): Promise<void>;
  /** The digests of the partitions in memory of currently served shards. */
  digests(): ReadonlyMap<PartitionName, string>;
  /** The shards that it stopped because their journal is in doubt. */
  stoppedShards(): readonly ShardName[];
}

export function startNode(member: SimMember, options: NodeOptions): SimNode {
  const { process } = member;
  const parts = new KvNodeParts(member, options);
  // The first step is a separate event, like every other step.
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

class KvNodeParts extends NodeParts<KvWork, KvPlane> {
  readonly gateway: KvGateway;

  constructor(member: SimMember, options: NodeOptions) {
    const { bus } = member;
    super(member, {
      ...options,
      kind: 'kv',
      snapshots: SNAPSHOTS,
      serve: (actor) => serveKvShard(bus, actor, ANSWERS),
    });
    const { clock, caller, host } = this;
    const { timers } = member.process;
    this.gateway = new KvShardGateway({ clock, timers, caller, host }, GATEWAY, options.shards.length);
  }

  digests(): ReadonlyMap<PartitionName, string> {
    const digests = new Map<PartitionName, string>();
    for (const plane of this.servedPlanes()) {
      for (const [partition, fold] of plane.loaded()) digests.set(partition, fold.digest());
    }
    return digests;
  }

  protected createPlane(_: Activation, actorOf: () => ShardActor<KvWork>): KvPlane {
    const { clock } = this;
    const { timers, random, log } = this.member.process;
    return new KvPlane(
      {
        clock,
        timers,
        log,
        storage: ROOMY,
        ...NO_LISTENERS,
        onReady: () => actorOf().resume(),
        onFailure: (error) => actorOf().fail(error),
        createFold: () => newFold(random, () => clock.nowMs()),
        loadPartition: async (partition, fold) => {
          for await (const _ of this.snapshots.loadPartition(partition, fold));
        },
      },
      PLANE,
    );
  }

  protected compact(job: CompactionJob): Promise<CompactionResult> {
    const { clock, member } = this;
    const { journal, objects, process } = member;
    const { log, random } = process;
    return compactShard({ journal, objects, clock, log }, job, () => newFold(random, () => 0), COMPACTION);
  }

  protected covered(plane: KvPlane | undefined, manifest: Manifest): void {
    plane?.adoptManifest(manifest);
  }
}
