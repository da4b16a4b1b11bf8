/** A control actor over a journal in memory, with manual time, and the parts of other processes. */

import { ControlFold } from '../../../../src/actors/control/control-fold.js';
import {
  type ControlClient,
  ControlPlane,
  ControlView,
  ControlWork,
  Revocations,
} from '../../../../src/actors/control/index.js';
import { confirmRights } from '../../../../src/actors/control/rights-freshness.js';
import { ShardActor } from '../../../../src/actors/runtime/index.js';
import type { ControlCommand, ControlReply } from '../../../../src/domain/control/index.js';
import {
  compactShard,
  DefiniteAppender,
  recover,
  recoverFollowing,
  SnapshotStore,
} from '../../../../src/journal/index.js';
import type { SessionId } from '../../../../src/kernel/index.js';
import type { Journal } from '../../../../src/ports/index.js';
import { CONTROL_SHARD, METER_SHARD } from '../../../../src/protocol/index.js';
import {
  ManualTime,
  type MemoryBus,
  MemoryJournal,
  MemoryNetwork,
  MemoryObjectStore,
} from '../../../support/memory/index.js';
import { NO_METRICS } from '../../../support/no-metrics.js';
import { silentLog } from '../../../support/silent-log.js';

const RANDOM = { bytes: (count: number) => new Uint8Array(count).fill(7), float: () => 0.5 };
const STALE_MS = 500;
const CLUSTER_ID = 'test';

export class Installation {
  readonly time = new ManualTime();
  readonly journal = new MemoryJournal({ clock: this.time, timers: this.time, aliveEveryMs: 100 });
  readonly objects = new MemoryObjectStore();
  readonly network = new MemoryNetwork(this.time);
  readonly edges: SessionId[] = [];
  readonly revocations = new Revocations(this.network.connect(), this.time, () => this.edges);
  plane!: ControlPlane;
  actor!: ShardActor<ControlWork>;
  /** Whether the owner's lease still keeps other processes from owning the shard. */
  holdsLease = true;
  /** Slices of snapshots that owners loaded. */
  segments = 0;
  #epoch = 0;
  #isSilent = false;
  #wordGiver: MemoryBus | undefined;
  readonly #held: (() => void)[] = [];

  constructor() {
    this.journal.createStream(CONTROL_SHARD);
    this.journal.createStream(METER_SHARD);
    this.revocations.start();
  }

  /** A new owner; the one before is forgotten, as after a kill. */
  async activate(): Promise<void> {
    const { time, journal, objects } = this;
    const store = new SnapshotStore(objects, silentLog);
    this.#epoch += 1;
    this.plane = new ControlPlane({
      loadPartition: async (partition, fold) => {
        for await (const _ of store.loadPartition(partition, fold, { checkDigest: true })) this.segments += 1;
      },
      untilInForce: (position) => this.revocations.untilInForce(position),
    });
    const appender = new DefiniteAppender(journal, time, { firstRetryMs: 10, maxRetryMs: 100 });
    const recovery = { journal, objects, log: silentLog };
    this.actor = new ShardActor(
      {
        journal,
        appender,
        clock: time,
        timers: time,
        random: RANDOM,
        log: silentLog,
        metrics: NO_METRICS,
        recover: (shard, claim, highWater) => recover(recovery, shard, claim, highWater),
        follow: (shard, coming) => recoverFollowing(recovery, shard, coming),
      },
      {
        mailbox: { maxWorks: 10_000, maxBytes: 1e9, quantum: 1e6 },
        turn: { maxCommands: 100, maxEffectBytes: 1e6, maxMs: 1000 },
        chunkBytes: 4096,
        holdMs: 5000,
        commandMemoryMs: 60_000,
      },
      {
        shard: CONTROL_SHARD,
        epoch: this.#epoch,
        clusterId: CLUSTER_ID,
        highWater: undefined,
        quietMs: 0,
        readsNeedBarrier: false,
        mayAnswerReads: () => this.holdsLease,
        onStored: () => undefined,
      },
      this.plane,
    );
    await this.actor.start();
    const { plane, actor } = this;
    const claimedAt = actor.head?.position ?? 0;
    this.#wordGiver?.setConnected(false);
    this.#wordGiver = this.network.connect();
    confirmRights(this.#wordGiver, actor, 'node-owner' as SessionId, () => plane.accessPosition ?? claimedAt);
  }

  readonly client: ControlClient = {
    send: (command) => new Promise((resolve, reject) => this.actor.submit(new ControlWork(command, resolve, reject))),
  };

  async ask(command: ControlCommand): Promise<ControlReply> {
    return this.client.send(command);
  }

  /** A snapshot of everything so far. */
  async compact(): Promise<void> {
    const { journal, objects, time: clock } = this;
    const upToPosition = this.actor.head?.position ?? 0;
    const job = { shard: CONTROL_SHARD, clusterId: CLUSTER_ID, upToPosition };
    await compactShard({ journal, objects, clock, log: silentLog }, job, () => new ControlFold());
  }

  /** Messages to followers wait until the silence ends. */
  silence(isSilent = true): void {
    this.#isSilent = isSilent;
    if (!isSilent) for (const deliver of this.#held.splice(0)) deliver();
  }

  #storedHere(): number | undefined {
    return this.actor.state === 'serving' ? (this.plane.accessPosition ?? 0) : undefined;
  }

  #silenceableJournal(): Journal {
    const heard: Journal = Object.create(this.journal);
    const orHold = (deliver: () => void): void => {
      if (this.#isSilent) this.#held.push(deliver);
      else deliver();
    };
    heard.follow = (shard, from, follower) =>
      this.journal.follow(shard, from, {
        onMessage: (message) => orHold(() => follower.onMessage(message)),
        onAlive: () => this.#isSilent || follower.onAlive(),
      });
    return heard;
  }

  /** An edge in a separate process; or in that of the owner, which no other process can follow. */
  newView(name: string, onBackInTouch?: (silentForMs: number) => void, owner?: 'is-asked' | 'is-here'): ControlView {
    const { objects, time } = this;
    const journal = this.#silenceableJournal();
    const session = `node-${name}` as SessionId;
    this.edges.push(session);
    const ports = { journal, objects, timers: time, clock: time, log: silentLog, bus: this.network.connect() };
    const telling = onBackInTouch === undefined ? {} : { onBackInTouch };
    const word = owner === 'is-here' ? { storedHere: () => this.#storedHere() } : { asksOwner: owner === 'is-asked' };
    return new ControlView({ ...ports, ...telling }, { session, staleMs: STALE_MS, ...word });
  }
}

/** Runs all ready tasks without letting time pass. */
export async function runReadyTasks(times = 10): Promise<void> {
  for (let i = 0; i < times; i += 1) await new Promise((resolve) => setImmediate(resolve));
}
