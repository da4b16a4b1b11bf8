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
import type { Activation, ShardActor } from '../../src/actors/runtime/index.js';
import { DeliveredHeaders } from '../../src/domain/queue/index.js';
import { BodyReader, compactShard } from '../../src/journal/index.js';
import type { PartitionName, ShardName } from '../../src/kernel/index.js';
import {
  type AccountBook,
  type CompactionJob,
  type CompactionResult,
  type IntakeLog,
  type QueueGateway,
  ROOMY,
  UNWATCHED,
} from '../../src/ports/index.js';
import type { Manifest } from '../../src/protocol/index.js';
import { NodeParts } from './node-parts.js';
import type { SimDestinations } from './queue-destinations.js';
import type { SimMember } from './sim-kit.js';
import {
  ANSWERS,
  CALLS,
  QUEUE_BODY_MEMORY_BYTES,
  QUEUE_COMPACTION,
  QUEUE_CONCURRENCY,
  QUEUE_GATEWAY,
  QUEUE_PLANE,
  QUEUE_SNAPSHOTS,
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
  /** Signals a change of account permissions. */
  accountsChanged(): void;
  /** Stops the process gracefully; it hands over its shards. */
  stop(): Promise<void>;
  /** The digests of the partitions of currently served shards. */
  digests(): ReadonlyMap<PartitionName, string>;
}

export function startQueueNode(member: SimMember, options: QueueNodeOptions): QueueNode {
  const parts = new QueueNodeParts(member, options);
  // The first step is a separate event, like every other step.
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

class QueueNodeParts extends NodeParts<QueueWork, QueuePlane> {
  readonly gateway: QueueGateway;
  readonly #room = new DeliveryPlaces(QUEUE_CONCURRENCY);
  readonly #memory = new BodyMemory(QUEUE_BODY_MEMORY_BYTES);
  readonly #reader: BodyReader;
  readonly #callers = new WeakMap<Activation, Parameters<SimDestinations['ended']>[0]>();

  constructor(
    member: SimMember,
    private readonly options: QueueNodeOptions,
  ) {
    const { journal, objects, bus, process } = member;
    const { timers, log } = process;
    super(member, {
      ...options,
      kind: 'queue',
      readsNeedBarrier: false,
      snapshots: QUEUE_SNAPSHOTS,
      serve: (actor) => serveQueueShard(bus, actor, ANSWERS, { clock: this.clock, timers, silenceMs: 4 * CALLS.tryMs }),
    });
    this.#reader = new BodyReader({ journal, objects, timers, log }, carriedBodies);
    const { clock, caller, host } = this;
    const ports = { clock, timers, metrics: UNWATCHED, intake: options.intake, caller, host };
    this.gateway = new QueueShardGateway(ports, QUEUE_GATEWAY, options.shards.length);
  }

  accountsChanged(): void {
    for (const actor of this.host.actors()) this.planes.get(actor)?.accountsChanged();
  }

  digests(): ReadonlyMap<PartitionName, string> {
    const digests = new Map<PartitionName, string>();
    for (const plane of this.servedPlanes()) {
      for (const { name, fold } of plane.queues()) digests.set(name, fold.digest());
    }
    return digests;
  }

  protected override serves(actor: ShardActor<QueueWork>): void {
    super.serves(actor);
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

  protected createPlane(activation: Activation, actorOf: () => ShardActor<QueueWork>): QueuePlane {
    const { clock } = this;
    const { shard, epoch } = activation;
    const { process } = this.member;
    const { timers, log } = process;
    const caller = { process, shard, epoch };
    this.#callers.set(activation, caller);
    const performer = new Performer({
      mayCall: () => actorOf().holdsLease,
      http: this.options.destinations.outOf(caller),
      signer: { sign: () => 'signed' },
      webhooks: { headersFor: () => [] },
      headers: new DeliveredHeaders({ alias: undefined, region: undefined }),
      clock,
      timers,
      log,
      metrics: UNWATCHED,
      submit: (work) => actorOf().submit(work),
    });
    return new QueuePlane(
      {
        clock,
        timers,
        log,
        storage: ROOMY,
        accounts: this.options.accounts,
        room: this.#room,
        performer,
        createBodies: (partition) => new BodyCache({ shard, partition, memory: this.#memory, reader: this.#reader }),
        loadPartition: async (partition, fold) => {
          for await (const _ of this.snapshots.loadPartition(partition, fold));
        },
        mayStart: () => actorOf().state === 'serving',
        onReady: () => actorOf().resume(),
      },
      QUEUE_PLANE,
    );
  }

  protected override created(actor: ShardActor<QueueWork>, activation: Activation): void {
    const caller = this.#callers.get(activation);
    if (caller !== undefined) void actor.ended.then(() => this.options.destinations.ended(caller));
  }

  protected compact(job: CompactionJob): Promise<CompactionResult> {
    const { clock, member } = this;
    const { journal, objects, process } = member;
    const ports = { journal, objects, clock, log: process.log };
    return compactShard(ports, job, () => new QueuePartitionFold(), QUEUE_COMPACTION);
  }

  protected covered(plane: QueuePlane | undefined, manifest: Manifest): void {
    this.#reader.adopt(manifest);
    plane?.covered(manifest.head.position);
  }
}
