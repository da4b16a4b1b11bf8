/**
 * One process of the cluster: the real runtime and the real kv plane, wired to simulated ports as
 * composition wires them to real ones. A session that is lost is begun anew, as the process would.
 */
import { KvFold, KvPlane, KvShardGateway, type KvWork, serveKvShard } from '../../src/actors/kv-shard/index.js';
import {
  type Activation,
  type HostTimes,
  Membership,
  NO_METRICS,
  Session,
  type SessionTimes,
  ShardActor,
  ShardCaller,
  ShardHost,
} from '../../src/actors/runtime/index.js';
import { KvEngine } from '../../src/domain/kv/index.js';
import { DefiniteAppender, recover, SnapshotStore } from '../../src/journal/index.js';
import type { PartitionName, Random, ShardName } from '../../src/kernel/index.js';
import type { KvRequest, KvResponse } from '../../src/messages/index.js';
import type { KvGateway } from '../../src/ports/index.js';
import type { SimMember } from './sim-kit.js';

/** The defaults of the product: virtual time costs nothing. */
const SESSION: SessionTimes = { heartbeatMs: 500, renewMs: 1000, readLeaseMs: 2000, clockJumpMs: 500 };
const HOST: HostTimes = {
  lookEveryMs: 500,
  takeoverMs: 3000,
  readLeaseMs: 2000,
  marginMs: 250,
  highWaterEveryMs: 1000,
  settleMs: 5000,
  restartBackoffMs: 500,
};
const CALLS = { deadlineMs: 5000, tryMs: 1000, pauseMs: 50 };
const GATEWAY = { holdMs: 5000, retryEveryMs: 50 };
const ANSWERS = { maxAnswers: 1000, maxBytes: 1 << 20 };
const PLANE = { expiryKeysPerTick: 20, expiryEveryMs: 100, passivateAfterMs: 60_000 };
const RETRIES = { firstRetryMs: 20, maxRetryMs: 1000 };
/** Small turns and chunks, so that short runs meet full turns and sets of chunks. */
const ACTOR = {
  mailbox: { maxWorks: 1000, maxBytes: 1 << 20, quantum: 1000 },
  turn: { maxCommands: 8, maxEffectBytes: 4096, maxMs: 5 },
  chunkBytes: 900,
  holdMs: 5000,
  commandMemoryMs: 120_000,
};
const CLUSTER_ID = 'simulated';
/** What supervision takes to start a process anew. */
const NEW_SESSION_AFTER_MS = 300;

export interface SimNode {
  readonly name: string;
  readonly member: SimMember;
  readonly gateway: KvGateway;
  /** Of each partition in memory of the shards that it serves now. */
  digests(): ReadonlyMap<PartitionName, string>;
  /** Shards that it stopped because their journal is in doubt. */
  stoppedShards(): readonly ShardName[];
}

export function newFold(random: Random, nowMs: () => number): KvFold {
  return new KvFold(new KvEngine(random, { nowMicros: () => nowMs() * 1000, info: () => new Map() }));
}

export function startNode(member: SimMember, shards: readonly ShardName[]): SimNode {
  let incarnation = new Incarnation(member, shards);
  const begin = () => {
    incarnation.begin(() => {
      member.process.timers.after(NEW_SESSION_AFTER_MS, () => {
        incarnation = new Incarnation(member, shards);
        begin();
      });
    });
  };
  // Its first step is an event of its own, like every other.
  member.process.timers.soon(begin);
  return {
    name: member.process.name,
    member,
    gateway: { execute: (request: KvRequest): Promise<KvResponse> => incarnation.gateway.execute(request) },
    digests: () => incarnation.digests(),
    stoppedShards: () => [...incarnation.host.stoppedShards().keys()],
  };
}

class Incarnation {
  readonly host: ShardHost<KvWork>;
  readonly gateway: KvGateway;
  private readonly session: Session;
  private readonly membership: Membership;
  private readonly planes = new WeakMap<ShardActor<KvWork>, KvPlane>();

  constructor(
    private readonly member: SimMember,
    shards: readonly ShardName[],
  ) {
    const { journal, leases, bus } = member;
    const { clock, timers, random, log } = member.process;
    this.membership = new Membership(bus, clock);
    this.session = new Session({ leases, clock, timers, random, log }, SESSION, this.membership, true);
    this.host = new ShardHost<KvWork>(
      { journal, leases, clock, timers, log, metrics: NO_METRICS },
      HOST,
      {
        shards,
        clusterId: CLUSTER_ID,
        isExclusive: false,
        readsNeedBarrier: false,
        createActor: (activation) => this.createActor(activation),
      },
      this.session,
      this.membership,
    );
    const caller = new ShardCaller(bus, clock, timers, random, CALLS);
    this.gateway = new KvShardGateway({ clock, timers, caller, host: this.host }, GATEWAY, shards.length);
  }

  begin(onLost: () => void): void {
    this.membership.start();
    void this.session.start().then(() => {
      this.host.start();
      const endAll = this.session.onLost;
      this.session.onLost = (why) => {
        endAll(why);
        this.membership.stop();
        onLost();
      };
    });
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
    const { journal, objects, bus } = this.member;
    const { clock, timers, random, log } = this.member.process;
    const snapshots = new SnapshotStore(objects, log);
    const plane = new KvPlane(
      {
        clock,
        timers,
        log,
        createFold: () => newFold(random, () => clock.nowMs()),
        loadPartition: async (partition, fold) => {
          for await (const _ of snapshots.loadPartition(partition, fold)) continue;
        },
      },
      PLANE,
    );
    const ports = {
      journal,
      appender: new DefiniteAppender(journal, timers, RETRIES),
      clock,
      timers,
      random,
      log,
      metrics: NO_METRICS,
      recover: (shard: ShardName, ...rest: RecoverArguments) => recover({ journal, objects, log }, shard, ...rest),
    };
    const actor = new ShardActor<KvWork>(ports, ACTOR, activation, plane);
    plane.onReady = () => actor.resume();
    plane.onFailure = (error) => actor.end(error as never);
    this.planes.set(actor, plane);
    serveKvShard(bus, actor, ANSWERS);
    return actor;
  }
}

type RecoverArguments = [claim: Parameters<typeof recover>[2], highWater: Parameters<typeof recover>[3]];
