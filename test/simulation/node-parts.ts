/**
 * The runtime of one simulated process with shards of one kind, wired as composition does it. A process that loses its
 * session starts another, as the real process does.
 */
import {
  type Activation,
  ClockWatch,
  GuardedClock,
  Membership,
  Session,
  ShardActor,
  ShardCaller,
  ShardHost,
  type ShardPlane,
  type SnapshotPolicy,
  Snapshotter,
  type Work,
} from '../../src/actors/runtime/index.js';
import { DefiniteAppender, recover, recoverFollowing, SnapshotStore } from '../../src/journal/index.js';
import type { ShardName } from '../../src/kernel/index.js';
import type { CompactionJob, CompactionResult } from '../../src/ports/index.js';
import type { Manifest, Plane } from '../../src/protocol/index.js';
import { NO_METRICS } from '../support/no-metrics.js';
import type { SimMember } from './sim-kit.js';
import { ACTOR, APPEND_RETRIES, CALLS, CLOCK, CLOCK_WATCH, CLUSTER_ID, HOST, SESSION } from './sim-settings.js';

/** The shards that the process may own, and how they are stored. */
export interface ShardsOfNode<W extends Work> {
  readonly kind: Plane;
  readonly shards: readonly ShardName[];
  readonly readsNeedBarrier: boolean;
  readonly hasSnapshots: boolean;
  readonly snapshots: SnapshotPolicy;
  serve(actor: ShardActor<W>): unknown;
}

export abstract class NodeParts<W extends Work, P extends ShardPlane<W>> {
  readonly host: ShardHost<W>;
  protected readonly clock: GuardedClock;
  protected readonly caller: ShardCaller;
  protected readonly snapshots: SnapshotStore;
  protected readonly planes = new WeakMap<ShardActor<W>, P>();
  readonly #session: Session;
  readonly #membership: Membership;
  readonly #snapshotter: Snapshotter<W>;

  constructor(
    protected readonly member: SimMember,
    private readonly given: ShardsOfNode<W>,
  ) {
    const { journal, leases, objects, bus } = member;
    const { clock: machine, boot, timers, random, log } = member.process;
    const clock = new GuardedClock(machine, boot, CLOCK);
    this.clock = clock;
    const { kind, shards, readsNeedBarrier, serve } = given;
    this.snapshots = new SnapshotStore(objects, log);
    this.#membership = new Membership(bus, clock);
    const clocks = new ClockWatch({ clock, boot, leases, log }, CLOCK_WATCH, this.#membership);
    this.#session = new Session({ leases, clock, clocks, timers, random, log }, SESSION, this.#membership, [kind]);
    this.#snapshotter = this.#createSnapshotter();
    this.host = new ShardHost<W>(
      { journal, leases, clock, timers, log, metrics: NO_METRICS },
      HOST,
      {
        shards,
        clusterId: CLUSTER_ID,
        isExclusive: false,
        readsNeedBarrier,
        createActor: (activation) => this.#createActor(activation),
        serve,
        onServing: (actor) => this.serves(actor),
        onStored: (actor, head, bytes) => this.#snapshotter.noteStored(actor, head, bytes),
      },
      this.#session,
      this.#membership,
    );
    this.caller = new ShardCaller(bus, clock, timers, random, CALLS);
  }

  begin(): void {
    this.#membership.start();
    void this.#session.start().then(() => {
      this.host.start();
      if (this.given.hasSnapshots) this.#snapshotter.start();
    });
  }

  async stop(): Promise<void> {
    this.#snapshotter.stop();
    await this.host.stop();
    await this.#session.close();
    this.#membership.stop();
  }

  /** The planes of the currently served shards. */
  protected *servedPlanes(): Generator<P> {
    for (const actor of this.host.actors()) {
      const plane = this.planes.get(actor);
      if (actor.state === 'serving' && plane !== undefined) yield plane;
    }
  }

  /** @param actorOf the plane's actor, which exists when the plane is used */
  protected abstract createPlane(activation: Activation, actorOf: () => ShardActor<W>): P;
  protected abstract compact(job: CompactionJob): Promise<CompactionResult>;
  /** Called when a snapshot contains the plane's state up to the end of the manifest. */
  protected abstract covered(plane: P | undefined, manifest: Manifest): void;

  protected created(_actor: ShardActor<W>, _activation: Activation): void {}

  protected serves(actor: ShardActor<W>): void {
    this.#snapshotter.watch(actor);
  }

  #createActor(activation: Activation): ShardActor<W> {
    const { journal, objects } = this.member;
    const { timers, random, log } = this.member.process;
    const plane = this.createPlane(activation, () => actor);
    const actor: ShardActor<W> = new ShardActor<W>(
      {
        journal,
        appender: new DefiniteAppender(journal, timers, APPEND_RETRIES),
        clock: this.clock,
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
    this.created(actor, activation);
    return actor;
  }

  #createSnapshotter(): Snapshotter<W> {
    const { journal } = this.member;
    const { timers, log } = this.member.process;
    const { hasSnapshots, snapshots } = this.given;
    return new Snapshotter<W>(
      {
        compactor: { compact: (job) => this.compact(job) },
        journal,
        clock: this.clock,
        timers,
        log,
        metrics: NO_METRICS,
        onSnapshot: async (shard, result) => {
          const stored = await this.snapshots.newest(shard);
          const actor = this.host.actorOf(shard);
          if (stored === undefined || stored.name !== result.manifest || actor === undefined) return;
          this.covered(this.planes.get(actor), stored.manifest);
        },
      },
      hasSnapshots ? snapshots : { ...snapshots, entries: Number.POSITIVE_INFINITY, bytes: Number.POSITIVE_INFINITY },
      CLUSTER_ID,
    );
  }
}
