/**
 * The queue shards in a process that may own them: their shared memory, delivery places and reader of bodies, their
 * background work and their metrics.
 */

import { decodeQueueCommand, decodeQueueEvents, encodeQueueReply } from '../../codec/queue/index.js';
import {
  type AccountCounts,
  type CarriedBody,
  DeliveredHeaders,
  type EngineOptions,
  type QueueEvent,
  rowOf,
} from '../../domain/queue/index.js';
import { BodyReader } from '../../journal/index.js';
import { type AccountId, MillraceError, type ShardName } from '../../kernel/index.js';
import {
  type Bus,
  type DeliverySigner,
  type HttpOut,
  type IntakeLog,
  inSeconds,
  type Metrics,
  type ProcessPorts,
  type StorageGauge,
  type WebhookSigner,
} from '../../ports/index.js';
import {
  type AnswerMemoryLimits,
  DEFAULT_ANSWER_MEMORY,
  type MakeWork,
  type OwnedPlane,
  type OwnedShards,
  type PlaneParts,
  type ShardActor,
  type ShardHost,
  ShardServer,
  type SilenceWatch,
  watchShards,
} from '../runtime/index.js';
import { BodyCache } from './body-cache.js';
import { BodyMemory } from './body-memory.js';
import { DeliveryPlaces } from './delivery-places.js';
import { type HeldLimits, HeldMessages } from './held-messages.js';
import { DEFAULT_LIST_LIMITS } from './list-memory.js';
import { OwnerDuties } from './owner-duties.js';
import { Performer } from './performer.js';
import { DEFAULT_QUEUE_PLANE_LIMITS, QueuePlane, type QueuePlanePorts } from './queue-plane.js';
import { QueueWork } from './queue-work.js';

export interface QueueOwnerPorts extends ProcessPorts {
  readonly intake: IntakeLog;
  readonly storage: StorageGauge;
  readonly http: Pick<HttpOut, 'send'>;
  readonly signer: DeliverySigner;
  readonly webhooks: WebhookSigner;
  readonly accounts: QueuePlanePorts['accounts'] & { whenChanged(listener: () => void): void };
  own(plane: OwnedPlane<QueueWork, QueuePlane>): OwnedShards<QueueWork, QueuePlane>;
}

type Alias = NonNullable<ConstructorParameters<typeof DeliveredHeaders>[0]['alias']>;

export interface QueueOwnerOptions {
  readonly shards: readonly ShardName[];
  /** Bounds of waiting messages. */
  readonly held: HeldLimits;
  readonly bodyMemoryBytes: number;
  /** Calls to destinations in progress. */
  readonly concurrency: number;
  /** How long a move waits for calls in progress. */
  readonly lastCallsMs: number;
  /** How long a command waits for its account to become known. */
  readonly holdMs: number;
  /** A caller in another process stops waiting after this silence of the owner. */
  readonly silenceMs: number;
  /** Bounds the calls to one destination. */
  readonly maxInFlightPerOrigin: number;
  /** The header spelling of another product's clients; undefined: it is not supported. */
  readonly alias: Alias | undefined;
  /** Calls carry headers in both spellings. */
  readonly deliversBoth: boolean;
  readonly region: string | undefined;
  /** The largest result of a step that is sent with the list of steps. */
  readonly workflowInlineBytes: number;
  /** Bytes of the answer to a successful attempt that are kept; 0: none. */
  readonly keptAnswerBytes: () => number;
  /** Whether customers get mails about their endpoints. */
  readonly mailsCustomers: () => boolean;
}

export class QueueOwner {
  readonly #room: DeliveryPlaces;
  readonly #memory: BodyMemory;
  readonly #held: HeldMessages;
  readonly #reader: BodyReader;
  readonly #headers: DeliveredHeaders;
  readonly #engine: EngineOptions;
  readonly #owned: OwnedShards<QueueWork, QueuePlane>;

  constructor(
    private readonly ports: QueueOwnerPorts,
    private readonly options: QueueOwnerOptions,
  ) {
    const { clock, timers, metrics, bus, accounts } = ports;
    const { shards, silenceMs } = options;
    const { alias, deliversBoth: isBoth, region, maxInFlightPerOrigin, keptAnswerBytes, mailsCustomers } = options;
    this.#headers = new DeliveredHeaders({ alias, isBoth, region });
    const words = ['Svc', ...(alias === undefined ? [] : [alias.headerWord])];
    this.#engine = {
      maxInFlightPerOrigin,
      nonRetryableNames: words.map((word) => `${word}-NonRetryable-Error`),
      aliasHeaderWord: alias?.headerWord,
      deliveredWords: this.#headers.headerWords,
      runWords: (isAlias) => this.#headers.wordsFor({ isAlias }, { role: 'failure' }),
      keptAnswerBytes,
      mailsCustomers,
    };
    this.#room = new DeliveryPlaces(options.concurrency);
    this.#memory = new BodyMemory(options.bodyMemoryBytes);
    this.#held = new HeldMessages(options.held, {
      ...ports,
      bodies: this.#memory,
      refused: metrics.counter('millrace_queue_refused_total'),
      queues: () => this.#queues(),
    });
    this.#reader = new BodyReader(ports, carriedBodies);
    const duties = new OwnerDuties(ports, options.lastCallsMs);
    this.#owned = ports.own({
      shards,
      createPlane: (activation) => this.#createPlane(activation),
      serve: (actor) => serveQueueShard(bus, actor, DEFAULT_ANSWER_MEMORY, { clock, timers, silenceMs }),
      onServing: (actor) => duties.takeOverIntake(actor),
      beforeHandOver: (actor, plane) => duties.untilCallsHaveEnded(actor, plane),
      onSnapshot: (plane, { manifest }, { purgeBelow }) => {
        this.#reader.adopt(manifest);
        // Only bodies in both snapshots count as covered: if the newest snapshot is damaged, the journal still has the
        // others.
        plane.covered(purgeBelow - 1);
      },
    });
    watchShards(metrics, this.host, shards);
    this.#watch(metrics, shards);
    accounts.whenChanged(() => {
      for (const { plane } of this.#owned.planes()) plane.accountsChanged();
    });
  }

  get host(): ShardHost<QueueWork> {
    return this.#owned.host;
  }

  start(): void {
    this.#owned.start();
    this.#held.start();
  }

  stop(): Promise<void> {
    this.#held.stop();
    return this.#owned.stop();
  }

  /** Queues without messages, of the accounts in memory. */
  *emptyQueues(): Iterable<readonly [account: AccountId, name: string]> {
    for (const { account, fold } of this.#queues()) {
      for (const name of fold.engine.emptyQueues()) yield [account, name];
    }
  }

  *#queues() {
    for (const { plane } of this.#owned.planes()) yield* plane.queues();
  }

  #createPlane({ activation: { shard }, actor, loadPartition }: PlaneParts<QueueWork>): QueuePlane {
    const { holdMs, workflowInlineBytes } = this.options;
    const submit = (work: QueueWork) => actor().submit(work);
    const calls = { ...this.ports, headers: this.#headers, submit, mayCall: () => actor().holdsLease };
    const bodies = { shard, memory: this.#memory, reader: this.#reader };
    return new QueuePlane(
      {
        ...this.ports,
        room: this.#room,
        held: this.#held,
        performer: new Performer(calls, { ...DEFAULT_LIST_LIMITS, inlineBytes: workflowInlineBytes }),
        engine: this.#engine,
        createBodies: (partition) => new BodyCache({ ...bodies, partition }),
        loadPartition,
        onReady: () => actor().resume(),
        mayStart: () => actor().state === 'serving',
      },
      { ...DEFAULT_QUEUE_PLANE_LIMITS, holdMs },
    );
  }

  #watch(metrics: Metrics, shards: readonly ShardName[]): void {
    const planeOf = (shard: ShardName) => {
      const actor = this.host.actorOf(shard);
      return actor?.state === 'serving' ? this.#owned.planeOf(actor) : undefined;
    };
    for (const shard of shards) {
      metrics.gauge('millrace_queue_records', () => planeOf(shard)?.size, shard);
      metrics.gauge('millrace_queue_lag_seconds', () => inSeconds(planeOf(shard)?.lagMs), shard);
    }
    metrics.gauge('millrace_deliveries_in_flight', () => this.#room.inFlight);
    metrics.gauge('millrace_queue_body_bytes', () => this.#memory.usedBytes);
    metrics.gauge('millrace_queue_messages', () => this.#held.messages);
    const sum = (count: keyof AccountCounts) => {
      let total = 0;
      for (const { fold } of this.#queues()) total += fold.engine.counts()[count];
      return total;
    };
    metrics.gauge('millrace_queue_dead_letters', () => sum('deadLetters'));
    metrics.gauge('millrace_queue_schedules', () => sum('schedules'));
    metrics.gauge('millrace_runs', () => sum('runsInProgress'), 'in-progress');
    metrics.gauge('millrace_runs', () => sum('runsFailed'), 'failed');
    metrics.gauge('millrace_run_waiters', () => sum('waiters'));
    metrics.gauge('millrace_queue_stopped_destinations', () => sum('stoppedDestinations'));
    metrics.gauge('millrace_queue_bytes', () => this.#held.bytes);
    metrics.gauge('millrace_queue_memory_bytes', () => this.#held.usedBytes);
    metrics.gauge('millrace_queue_memory_limit_bytes', () => this.#held.limits.memoryBytes);
  }
}

/** At least one step for each event; undefined for those without a body. @throws JOURNAL_DAMAGED */
export function* carriedBodies(
  effects: Uint8Array,
): Iterable<readonly [number: number, content: Uint8Array] | undefined> {
  for (const event of decodeQueueEvents(effects)) {
    const bodies = bodiesOf(event);
    if (bodies.length === 0) yield undefined;
    for (const { number, content } of bodies) yield content === undefined ? undefined : [number, content];
  }
}

/** Finds the bodies within the events of a queue, for readers of entries. */
function bodiesOf(event: QueueEvent): readonly CarriedBody[] {
  switch (event.type) {
    case 'MessageAccepted':
    case 'ScheduleSet':
      return [event.body];
    case 'MessageDeadLettered':
    case 'FailureFunctionEnded':
      return [event.response];
    case 'RunStarted':
      return event.rerunOf?.contents ?? [];
    default:
      return [];
  }
}

/** Serves commands of other processes for a shard that this process owns. */
export function serveQueueShard(
  bus: Bus,
  actor: ShardActor<QueueWork>,
  limits: AnswerMemoryLimits,
  silence?: SilenceWatch,
): ShardServer<QueueWork> {
  const workFor: MakeWork<QueueWork> = (body, commandId, onAnswer, onFailure) => {
    const { account, command } = decodeQueueCommand(body);
    if (rowOf(command).isOfTheActor)
      throw new MillraceError('INVALID', `${command.type} is not accepted from other processes`);
    return new QueueWork(account, command, (reply) => onAnswer(encodeQueueReply(reply)), onFailure, commandId);
  };
  return new ShardServer(bus, actor, limits, workFor, silence);
}
