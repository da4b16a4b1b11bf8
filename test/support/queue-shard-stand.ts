/** A queue shard on in-memory adapters and manual time, with destinations that the test plays. */
import {
  BodyCache,
  BodyMemory,
  carriedBodies,
  DEFAULT_QUEUE_PLANE_LIMITS,
  DeliveryPlaces,
  type HeldLimits,
  HeldMessages,
  Performer,
  QueuePartitionFold,
  QueuePlane,
  type QueuePlaneLimits,
  QueueWork,
} from '../../src/actors/queue/index.js';
import { type Activation, type ActorLimits, ShardActor } from '../../src/actors/runtime/index.js';
import { decodeQueueEvents } from '../../src/codec/queue/index.js';
import {
  type AccountTerms,
  DeliveredHeaders,
  type DeliverySettings,
  type PublishItem,
  type QueueCommand,
  type QueueEvent,
  type QueueReply,
} from '../../src/domain/queue/index.js';
import { BodyReader, chainAfter, compactShard, readEntries, SnapshotStore } from '../../src/journal/index.js';
import type { AccountId, CommandId, MessageId, ShardName } from '../../src/kernel/index.js';
import { type CompactionResult, UNWATCHED } from '../../src/ports/index.js';
import { actorPorts } from './actor-ports.js';
import { HeldJournal } from './held-journal.js';
import { MemoryLog } from './kv-endpoint.js';
import { ManualTime, MemoryObjectStore } from './memory/index.js';
import { PLAIN_DELIVERY } from './plain-delivery.js';
import { ScriptedHttp } from './scripted-http.js';
import { silentLog } from './silent-log.js';

export const QUEUE_SHARD = 'QUEUE_0' as ShardName;
export const ACCOUNT = 'ac-aaaaaaaaaaaaaaaa' as AccountId;
export const OTHER_ACCOUNT = 'ac-bbbbbbbbbbbbbbbb' as AccountId;

/** The rounds of the event loop that an outcome, its entry and the following call need. */
const SETTLE_ROUNDS = 4;

const QUEUE_ACTOR_LIMITS: ActorLimits = {
  mailbox: { maxWorks: 1000, maxBytes: 10_000_000, quantum: 65_536 },
  turn: { maxCommands: 1000, maxEffectBytes: 256 * 1024, maxMs: 1000 },
  chunkBytes: 512 * 1024,
  holdMs: 5000,
  commandMemoryMs: 60_000,
};

/** An account with very high limits. */
export const GENEROUS: AccountTerms = {
  state: 'active',
  centsPer100kMessages: 0,
  limits: {
    maxMessageBytes: 1024 * 1024,
    maxMessagesPerDay: 0,
    maxMessagesPerDayHard: 0,
    maxRequestsPerSecond: 0,
    maxEndpointsPerGroup: 100,
    maxDlqEntries: 1000,
    maxRetries: 100,
    maxGroups: 100,
    maxSchedules: 100,
    maxEvents: 100_000,
    dlqRetentionMs: 7 * 86_400_000,
    maxDelaySeconds: 365 * 86_400,
    maxParallelism: 100,
    maxGlobalParallelism: 500,
    maxQueues: 100,
    timeoutSeconds: 900,
    budgetCents: 0,
  },
};

export const PLAIN_SETTINGS: DeliverySettings = PLAIN_DELIVERY;

export type ItemParts = Partial<PublishItem> & { readonly settings?: Partial<DeliverySettings> };

export function messageItem(number: number, host: string, { settings, ...rest }: ItemParts = {}): PublishItem {
  return {
    id: `msg_${String(number).padStart(28, 'z')}` as MessageId,
    destination: { kind: 'url', url: `https://${host}.example/`, settings: { ...PLAIN_SETTINGS, ...settings } },
    queueName: undefined,
    body: Buffer.from(`body ${number}`),
    notBeforeMs: undefined,
    deduplication: undefined,
    callerIp: '192.0.2.1',
    isAlias: false,
    ...rest,
  };
}

/** The outcome of a command, set when it has one. */
export interface QueueOutcome {
  reply?: QueueReply;
  failure?: string;
}

export class QueueShardStand {
  readonly time = new ManualTime();
  readonly journal = new HeldJournal(QUEUE_SHARD, this.time, this.time);
  readonly objects = new MemoryObjectStore();
  readonly http = new ScriptedHttp();
  readonly accounts = new Map<AccountId, AccountTerms>([
    [ACCOUNT, GENEROUS],
    [OTHER_ACCOUNT, GENEROUS],
  ]);
  /** Undefined if the stand has no signing key. */
  signature: string | undefined = 'signed';
  room = new DeliveryPlaces(1000);
  /** The limit for body memory of later activations. */
  bodyMemoryBytes = 1024 * 1024;
  /** The limits of stored data of accounts; none if undefined. */
  heldLimits: HeldLimits | undefined;
  readonly log = new MemoryLog();
  readonly actors: ShardActor<QueueWork>[] = [];
  /** The planes of the actors, in the same order. */
  readonly planes: QueuePlane[] = [];
  readonly storage = { full: false, isFull: () => this.storage.full };
  epoch = 0;
  /** The types of answered commands, in order. */
  readonly answered: QueueCommand['type'][] = [];
  #messages = 0;

  /** A new activation with the next epoch, as the host makes it after winning the lease. */
  activate(limits: Partial<QueuePlaneLimits> = {}, overrides: Partial<Activation> = {}): ShardActor<QueueWork> {
    const { time, journal, objects, http } = this;
    const random = { bytes: (count: number) => Uint8Array.from({ length: count }, () => this.epoch), float: () => 0.5 };
    const snapshots = new SnapshotStore(objects, silentLog);
    const reader = new BodyReader({ journal, objects, timers: time, log: silentLog }, carriedBodies);
    const memory = new BodyMemory(this.bodyMemoryBytes);
    const held = this.#heldMessages(memory);
    const performer = new Performer({
      mayCall: () => actor.holdsLease,
      http,
      signer: { sign: () => this.signature },
      webhooks: { headersFor: () => [] },
      headers: new DeliveredHeaders({ alias: undefined, region: undefined }),
      clock: time,
      timers: time,
      log: silentLog,
      metrics: UNWATCHED,
      submit: (work) => actor.submit(work),
    });
    const plane = new QueuePlane(
      {
        clock: time,
        timers: time,
        log: silentLog,
        storage: this.storage,
        accounts: { termsOf: (account) => this.accounts.get(account) },
        room: this.room,
        held,
        performer,
        createBodies: (partition) => new BodyCache({ shard: QUEUE_SHARD, partition, memory, reader }),
        loadPartition: async (partition, fold) => {
          for await (const _ of snapshots.loadPartition(partition, fold));
        },
        mayStart: () => actor.state === 'serving',
        onReady: () => actor.resume(),
      },
      { ...DEFAULT_QUEUE_PLANE_LIMITS, ...limits },
    );
    this.epoch += 1;
    const actor: ShardActor<QueueWork> = new ShardActor<QueueWork>(
      actorPorts(journal, objects, time, { clock: time, random }),
      QUEUE_ACTOR_LIMITS,
      {
        shard: QUEUE_SHARD,
        epoch: this.epoch,
        clusterId: 'cluster',
        highWater: undefined,
        quietMs: 0,
        readsNeedBarrier: false,
        mayAnswerReads: () => true,
        onStored: () => {},
        ...overrides,
      },
      plane,
    );
    this.actors.push(actor);
    this.planes.push(plane);
    return actor;
  }

  #heldMessages(bodies: BodyMemory): HeldMessages | undefined {
    if (this.heldLimits === undefined) return undefined;
    const { time, log } = this;
    const queues = () => this.planes.at(-1)?.queues() ?? [];
    const refused = UNWATCHED.counter('millrace_queue_refused_total');
    const held = new HeldMessages(this.heldLimits, { clock: time, timers: time, log, bodies, refused, queues });
    held.start();
    return held;
  }

  /** A new actor that serves the shard. */
  async serving(limits: Partial<QueuePlaneLimits> = {}): Promise<ShardActor<QueueWork>> {
    const actor = this.activate(limits);
    await actor.start();
    return actor;
  }

  /** Sends a command; its result appears in the outcome. */
  ask(actor: ShardActor<QueueWork>, command: QueueCommand, account = ACCOUNT, commandId?: string): QueueOutcome {
    const outcome: QueueOutcome = {};
    const work = new QueueWork(
      account,
      command,
      (reply) => {
        this.answered.push(command.type);
        outcome.reply = reply;
      },
      (error) => {
        outcome.failure = error.code;
      },
      commandId as CommandId | undefined,
    );
    actor.submit(work);
    return outcome;
  }

  /** A message to `https://<host>.example/` with a new id. */
  item(host: string, parts: ItemParts = {}): PublishItem {
    this.#messages += 1;
    return messageItem(this.#messages, host, parts);
  }

  publish(actor: ShardActor<QueueWork>, items: readonly PublishItem[], account = ACCOUNT): QueueOutcome {
    return this.ask(actor, { type: 'Publish', items, isTold: false }, account);
  }

  /** The events of each stored entry that has events, in order. */
  async entries(): Promise<QueueEvent[][]> {
    const { last } = await this.journal.tail(QUEUE_SHARD);
    const entries: QueueEvent[][] = [];
    const chain = chainAfter(QUEUE_SHARD, undefined);
    for await (const { entry } of readEntries(this.journal, chain, 1, last)) {
      if (entry.body.kind !== 'batch') continue;
      entries.push(entry.body.sections.flatMap(({ effects }) => [...decodeQueueEvents(effects)]));
    }
    return entries;
  }

  /** Makes a snapshot of all stored entries, as the compactor does while the actor runs. */
  async compact(actor: ShardActor<QueueWork>): Promise<CompactionResult> {
    const { journal, objects, time } = this;
    const ports = { journal, objects, clock: time, log: silentLog };
    const upToPosition = actor.head?.position ?? 0;
    return compactShard(
      ports,
      { shard: QUEUE_SHARD, clusterId: 'cluster', upToPosition },
      () => new QueuePartitionFold(),
    );
  }

  /** Runs all work that is ready, and its consequences, without a change of the clock. */
  async settle(): Promise<void> {
    for (let round = 0; round < SETTLE_ROUNDS; round += 1) await this.time.advance(0);
  }
}
