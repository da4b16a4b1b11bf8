/**
 * One process of the cluster with the queue's role: the real runtime, plane, performer, gateway and intake follower on
 * simulated ports, wired as in src/composition.
 */
import {
  BodyCache,
  BodyMemory,
  carriedBodies,
  DEFAULT_INTAKE_LIMITS,
  DeliveryPlaces,
  IntakeFollower,
  Performer,
  QueuePartitionFold,
  QueuePlane,
  QueueShardGateway,
  type QueueWork,
  serveQueueShard,
} from '../../src/actors/queue/index.js';
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
import { DeliveredHeaders } from '../../src/domain/queue/index.js';
import {
  BodyReader,
  compactShard,
  DefiniteAppender,
  recover,
  recoverFollowing,
  SnapshotStore,
} from '../../src/journal/index.js';
import type { PartitionName, ShardName } from '../../src/kernel/index.js';
import {
  type AccountBook,
  type Compactor,
  type IntakeLog,
  type QueueGateway,
  ROOMY,
  UNWATCHED,
} from '../../src/ports/index.js';
import { NO_METRICS } from '../support/no-metrics.js';
import type { SimDestinations } from './queue-destinations.js';
import type { SimMember } from './sim-kit.js';
import {
  ACTOR,
  ANSWERS,
  APPEND_RETRIES,
  CALLS,
  CLOCK,
  CLOCK_WATCH,
  CLUSTER_ID,
  HOST,
  QUEUE_BODY_MEMORY_BYTES,
  QUEUE_COMPACTION,
  QUEUE_CONCURRENCY,
  QUEUE_GATEWAY,
  QUEUE_PLANE,
  QUEUE_SNAPSHOTS,
  SESSION,
} from './sim-settings.js';

export interface QueueNodeOptions {
  readonly shards: readonly ShardName[];
  readonly hasSnapshots: boolean;
  readonly destinations: SimDestinations;
  readonly intake: IntakeLog;
  readonly accounts: AccountBook;
}

export interface QueueNode {
  readonly name: string;
  readonly member: SimMember;
  readonly gateway: QueueGateway;
  /** What an account may do has changed. */
  accountsChanged(): void;
  /** Hands its shards over. */
  stop(): Promise<void>;
  /** Of each partition of the shards that it serves now. */
  digests(): ReadonlyMap<PartitionName, string>;
}

export function startQueueNode(member: SimMember, options: QueueNodeOptions): QueueNode {
  const parts = new QueueNodeParts(member, options);
  // Its first step is an event of its own, like every other.
  member.process.timers.soon(() => parts.begin());
  return {
    name: member.process.name,
    member,
    gateway: parts.gateway,
    accountsChanged: () => parts.accountsChanged(),
    stop: () => parts.stop(),
    digests: () => parts.digests(),
  };
}

class QueueNodeParts {
  readonly gateway: QueueGateway;
  private readonly host: ShardHost<QueueWork>;
  private readonly clock: GuardedClock;
  private readonly session: Session;
  private readonly membership: Membership;
  private readonly snapshots: SnapshotStore;
  private readonly snapshotter: Snapshotter<QueueWork>;
  private readonly planes = new WeakMap<ShardActor<QueueWork>, QueuePlane>();
  private readonly room = new DeliveryPlaces(QUEUE_CONCURRENCY);
  private readonly memory = new BodyMemory(QUEUE_BODY_MEMORY_BYTES);
  private readonly reader: BodyReader;

  constructor(
    private readonly member: SimMember,
    private readonly options: QueueNodeOptions,
  ) {
    const { journal, leases, objects, bus } = member;
    const { clock: machine, boot, timers, random, log } = member.process;
    const clock = new GuardedClock(machine, boot, CLOCK);
    this.clock = clock;
    const { shards, intake } = options;
    this.snapshots = new SnapshotStore(objects, log);
    this.reader = new BodyReader({ journal, objects, timers, log }, carriedBodies);
    this.membership = new Membership(bus, clock);
    const clocks = new ClockWatch({ clock, boot, leases, log }, CLOCK_WATCH, this.membership);
    this.session = new Session({ leases, clock, clocks, timers, random, log }, SESSION, this.membership, ['queue']);
    this.snapshotter = this.createSnapshotter();
    this.host = new ShardHost<QueueWork>(
      { journal, leases, clock, timers, log, metrics: NO_METRICS },
      HOST,
      {
        shards,
        clusterId: CLUSTER_ID,
        isExclusive: false,
        readsNeedBarrier: false,
        createActor: (activation) => this.createActor(activation),
        serve: (actor) => serveQueueShard(bus, actor, ANSWERS, { clock, timers, silenceMs: 4 * CALLS.tryMs }),
        onServing: (actor) => this.serves(actor),
        onStored: (actor, head, bytes) => this.snapshotter.noteStored(actor, head, bytes),
      },
      this.session,
      this.membership,
    );
    const caller = new ShardCaller(bus, clock, timers, random, CALLS);
    const ports = { clock, timers, metrics: UNWATCHED, intake, caller, host: this.host };
    this.gateway = new QueueShardGateway(ports, QUEUE_GATEWAY, shards.length);
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

  accountsChanged(): void {
    for (const actor of this.host.actors()) this.planes.get(actor)?.accountsChanged();
  }

  digests(): ReadonlyMap<PartitionName, string> {
    const digests = new Map<PartitionName, string>();
    for (const actor of this.host.actors()) {
      if (actor.state !== 'serving') continue;
      for (const { name, fold } of this.planes.get(actor)?.queues() ?? []) digests.set(name, fold.digest());
    }
    return digests;
  }

  private serves(actor: ShardActor<QueueWork>): void {
    this.snapshotter.watch(actor);
    const { timers, log } = this.member.process;
    const follower = new IntakeFollower(
      {
        intake: this.options.intake,
        timers,
        log,
        metrics: UNWATCHED,
        submit: (work) => actor.submit(work),
      },
      actor.shard,
      DEFAULT_INTAKE_LIMITS,
    );
    follower.start();
    void actor.ended.then(() => follower.stop());
  }

  private createActor(activation: Activation): ShardActor<QueueWork> {
    const { shard, epoch } = activation;
    const { journal, objects, process } = this.member;
    const { clock } = this;
    const { timers, random, log } = process;
    const caller = { process, shard, epoch };
    const performer = new Performer({
      mayCall: () => actor.holdsLease,
      http: this.options.destinations.outOf(caller),
      signer: { sign: () => 'signed' },
      headers: new DeliveredHeaders({ alias: undefined, region: undefined }),
      clock,
      timers,
      log,
      metrics: UNWATCHED,
      submit: (work) => actor.submit(work),
    });
    const plane = new QueuePlane(
      {
        clock,
        timers,
        log,
        storage: ROOMY,
        accounts: this.options.accounts,
        room: this.room,
        performer,
        createBodies: (partition) => new BodyCache({ shard, partition, memory: this.memory, reader: this.reader }),
        loadPartition: async (partition, fold) => {
          for await (const _ of this.snapshots.loadPartition(partition, fold));
        },
        mayStart: () => actor.state === 'serving',
        onReady: () => actor.resume(),
      },
      QUEUE_PLANE,
    );
    const actor: ShardActor<QueueWork> = new ShardActor<QueueWork>(
      {
        journal,
        appender: new DefiniteAppender(journal, timers, APPEND_RETRIES),
        clock,
        timers,
        random,
        log,
        metrics: NO_METRICS,
        recover: (name, claim, highWater) => recover({ journal, objects, log }, name, claim, highWater),
        follow: (name, coming) => recoverFollowing({ journal, objects, log }, name, coming),
      },
      ACTOR,
      activation,
      plane,
    );
    this.planes.set(actor, plane);
    void actor.ended.then(() => this.options.destinations.ended(caller));
    return actor;
  }

  private createSnapshotter(): Snapshotter<QueueWork> {
    const { journal, objects } = this.member;
    const { clock } = this;
    const { timers, log } = this.member.process;
    const compactor: Compactor = {
      compact: (job) =>
        compactShard({ journal, objects, clock, log }, job, () => new QueuePartitionFold(), QUEUE_COMPACTION),
    };
    return new Snapshotter<QueueWork>(
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
          this.reader.adopt(stored.manifest);
          this.planes.get(actor)?.covered(stored.manifest.head.position);
        },
      },
      this.options.hasSnapshots
        ? QUEUE_SNAPSHOTS
        : { ...QUEUE_SNAPSHOTS, entries: Number.POSITIVE_INFINITY, bytes: Number.POSITIVE_INFINITY },
      CLUSTER_ID,
    );
  }
}
