/** A key-value shard on in-memory adapters and manual time, for specs of the actor. */
import { KvFold, KvPlane, KvWork, type OutboxParts, replayFold } from '../../src/actors/kv-shard/index.js';
import { type Activation, type ActorLimits, ShardActor } from '../../src/actors/runtime/index.js';
import { KvEngine, type Permissions, type Reply } from '../../src/domain/kv/index.js';
import { loadKept } from '../../src/journal/backup/index.js';
import { type ChainHead, compactShard, recover, SnapshotStore } from '../../src/journal/index.js';
import type { CommandId, DatabaseId, PartitionName, SessionId, ShardName } from '../../src/kernel/index.js';
import { type CompactionResult, type DataLimits, NO_DATA_LIMITS } from '../../src/ports/index.js';
import type { KvEvent, KvMode, KvRequest } from '../../src/protocol/index.js';
import { actorPorts } from './actor-ports.js';
import { HeldJournal } from './held-journal.js';
import { ManualTime, MemoryObjectStore } from './memory/index.js';
import { processorMicros } from './processor-time.js';
import { silentLog } from './silent-log.js';

export const SHARD = 'KV_0' as ShardName;
const DATABASE = 'db-aaaaaaaaaaaaaaaa' as DatabaseId;

export const LIMITS: ActorLimits = {
  mailbox: { maxWorks: 100, maxBytes: 1_000_000, quantum: 65_536 },
  turn: { maxCommands: 1000, maxEffectBytes: 256 * 1024, maxMs: 1000 },
  chunkBytes: 512 * 1024,
  holdMs: 5000,
  commandMemoryMs: 60_000,
};

/** The outcome of a request, set when it has one. */
export interface Outcome {
  replies?: readonly Reply[];
  syncToken?: string;
  isAborted?: boolean;
  scriptReads?: readonly string[];
  denials?: readonly unknown[];
  failure?: string;
}

export class KvShardStand {
  readonly time = new ManualTime();
  readonly journal = new HeldJournal(SHARD, this.time, this.time);
  readonly objects = new MemoryObjectStore();
  readonly actors: ShardActor<KvWork>[] = [];
  /** The planes of the actors, in the same order. */
  readonly planes: KvPlane[] = [];
  readonly snapshots = new SnapshotStore(this.objects, silentLog);
  mayAnswerReads = true;
  readonly storage = { full: false, isFull: () => this.storage.full };
  /** Limits in real time, short so that tests do not wait for seconds. */
  scriptLimits = { totalMs: 200, holdMs: 100 };
  /** The same limit for commands. */
  commandMs = 60_000;
  /** If set, loading a stored state waits for this promise. */
  keptGate: Promise<void> | undefined;
  epoch = 0;
  /** The limits of plans; a test may change them, with a new version. */
  dataLimits: DataLimits = NO_DATA_LIMITS;
  permissionsOf = (_rules: string, user: string): Permissions | undefined => ({
    user,
    refusal: () => undefined,
    mayReach: () => true,
    keyPatterns: ['~*'],
  });
  /** The queue that gets the messages of commands. */
  outbox: OutboxParts | undefined;
  /** The events sent to processes, in order. */
  readonly deliveries: { edge: SessionId; partition: PartitionName; events: readonly KvEvent[] }[] = [];

  /** A new activation with the next epoch, as the host makes it after winning the lease. */
  activate(overrides: Partial<Activation> = {}, limits: ActorLimits = LIMITS): ShardActor<KvWork> {
    const { time, journal, objects } = this;
    const random = { bytes: (count: number) => Uint8Array.from({ length: count }, () => this.epoch), float: () => 0.5 };
    const { snapshots } = this;
    // Script limits count real work.
    const { scriptLimits, commandMs } = this;
    const facts = { nowMicros: processorMicros, info: () => new Map(), scriptLimits, commandMs };
    const plane = new KvPlane(
      {
        clock: time,
        timers: time,
        log: silentLog,
        storage: this.storage,
        onReady: () => actor.resume(),
        onFailure: (error) => actor.fail(error),
        dataLimits: this.#currentDataLimits(),
        outbox: this.outbox,
        activation: `epoch-${this.epoch + 1}`,
        permissionsOf: (user, rules) => this.permissionsOf(rules, user),
        deliver: (edge, partition, events) => this.deliveries.push({ edge, partition, events }),
        history: () => {
          const head = actor.head as ChainHead;
          return recover({ journal, objects, log: silentLog }, SHARD, head, undefined).steps;
        },
        createFold: (audience) => new KvFold(new KvEngine(random, facts, audience)),
        loadPartition: async (partition, fold) => {
          for await (const _ of snapshots.loadPartition(partition, fold));
        },
        loadKept: async (manifest, fold, maxBytes) => {
          await this.keptGate;
          return loadKept({ objects, log: silentLog }, manifest, fold, maxBytes, async () => undefined);
        },
      },
      { expiryKeysPerTick: 100, expiryEveryMs: 100, passivateAfterMs: 600_000 },
    );
    this.epoch += 1;
    const actor: ShardActor<KvWork> = new ShardActor<KvWork>(
      actorPorts(journal, objects, time, { clock: time, random }),
      limits,
      {
        shard: SHARD,
        epoch: this.epoch,
        clusterId: 'cluster',
        highWater: undefined,
        quietMs: 0,
        readsNeedBarrier: false,
        mayAnswerReads: () => this.mayAnswerReads,
        onStored: () => {},
        ...overrides,
      },
      plane,
    );
    this.actors.push(actor);
    this.planes.push(plane);
    return actor;
  }

  #currentDataLimits(): DataLimits {
    const current = () => this.dataLimits;
    return {
      get version() {
        return current().version;
      },
      limitOf: (partition) => current().limitOf(partition),
      maxCommandBytesOf: (partition) => current().maxCommandBytesOf(partition),
      reached: (partition) => current().reached(partition),
    };
  }

  /** A new actor that serves the shard. */
  async serving(overrides: Partial<Activation> = {}, limits: ActorLimits = LIMITS): Promise<ShardActor<KvWork>> {
    const actor = this.activate(overrides, limits);
    await actor.start();
    return actor;
  }

  /** Sends commands, one line of words each; their results appear in the outcome. */
  send(actor: ShardActor<KvWork>, lines: string | string[], mode: KvMode = 'single', commandId?: string): Outcome {
    return this.ask(actor, { mode, commands: [lines].flat().map((line) => line.split(' ')) }, commandId);
  }

  /** Sends a complete request; otherwise as for a plain command. */
  ask(actor: ShardActor<KvWork>, parts: Partial<KvRequest>, commandId?: string): Outcome {
    const outcome: Outcome = {};
    const commands = parts.commands ?? [];
    const bytes = commands.flat().join('').length;
    const partition = `kv:${DATABASE}:0` as PartitionName;
    const request: KvRequest = { database: DATABASE, partition, mode: 'single', bytes, ...parts, commands };
    const work = new KvWork(
      request,
      (response) => Object.assign(outcome, response),
      (error) => Object.assign(outcome, { failure: error.code }),
      commandId as CommandId | undefined,
    );
    actor.submit(work);
    return outcome;
  }

  /** Makes a snapshot of all stored entries, as the compactor does while the actor runs. */
  async compact(actor: ShardActor<KvWork>): Promise<CompactionResult> {
    const { journal, objects, time } = this;
    const ports = { journal, objects, clock: time, log: silentLog };
    const upToPosition = actor.head?.position ?? 0;
    return compactShard(ports, { shard: SHARD, clusterId: 'cluster', upToPosition }, () => replayFold());
  }

  /** Runs all work that is ready, without a change of the clock. */
  settle(): Promise<void> {
    return this.time.advance(0);
  }
}
