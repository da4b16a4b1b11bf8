/** The queue role: this process may own shards of the queue, and makes the calls of what it owns. */
import type { DependencyContainer } from 'tsyringe';
import {
  BodyCache,
  BodyMemory,
  carriedBodies,
  DEFAULT_LIST_LIMITS,
  DEFAULT_QUEUE_PLANE_LIMITS,
  DeliveryRoom,
  HeldMessages,
  IntakeFollower,
  Performer,
  QueuePlane,
  type QueueWork,
  serveQueueShard,
} from '../actors/queue/index.js';
import type { PlaneWorld, ShardActor, ShardHost } from '../actors/runtime/index.js';
import { JwtDeliverySigner } from '../adapters/http-delivery/index.js';
import { shardNames } from '../adapters/nats/index.js';
import { DeliveredHeaders } from '../domain/queue/index.js';
import { BodyReader } from '../journal/index.js';
import type { AccountBook, Compactor, HttpOut, IntakeLog, SigningKeyBook, StorageGauge } from '../ports/index.js';
import { ownedShards } from './owned-shards.js';
import { ANSWER_MEMORY, inSeconds, silenceWatchOf, watchShards } from './runtime-parts.js';
import * as tokens from './tokens.js';

export interface QueueRole {
  readonly host: ShardHost<QueueWork>;
  start(): void;
  stop(): Promise<void>;
}

export interface QueueRoleOptions {
  readonly isExclusive: boolean;
  readonly compactor: Compactor;
  readonly storage: StorageGauge;
  readonly intake: IntakeLog;
  readonly http: HttpOut;
  readonly accounts: AccountBook & SigningKeyBook & { whenChanged(listener: () => void): void };
}

/** Between two looks whether the last calls of a shard have ended. */
const LAST_CALLS_LOOK_MS = 20;

export function queueRole(c: DependencyContainer, options: QueueRoleOptions): QueueRole {
  const { isExclusive, compactor, storage, intake, http, accounts } = options;
  const config = c.resolve(tokens.CONFIG);
  const clock = c.resolve(tokens.CLOCK);
  const timers = c.resolve(tokens.TIMERS);
  const random = c.resolve(tokens.RANDOM);
  const log = c.resolve(tokens.LOG);
  const journal = c.resolve(tokens.JOURNAL);
  const objects = c.resolve(tokens.OBJECTS);
  const bus = c.resolve(tokens.BUS);
  const metrics = c.resolve(tokens.METRICS);
  const { wireAlias: alias, wireAliasDeliver } = config.faces;
  const { deliveryConcurrency, deliveryPerOrigin, queueBodyMemoryBytes, region, workflowInlineBytes } = config.delivery;
  const { queueMemoryBytes = c.resolve(tokens.MEMORY).queueBytes, queueMaxMessages, queueMaxBytes } = config.delivery;
  const shards = shardNames(c.resolve(tokens.LAYOUT)).queue;

  const room = new DeliveryRoom(deliveryConcurrency);
  const memory = new BodyMemory(queueBodyMemoryBytes);
  const held = new HeldMessages(
    { messages: queueMaxMessages, bytes: queueMaxBytes, memoryBytes: queueMemoryBytes },
    {
      clock,
      timers,
      log,
      bodies: memory,
      refused: metrics.counter('millrace_queue_refused_total'),
      *slots() {
        for (const { plane } of owned.planes()) yield* plane.slots();
      },
    },
  );
  const reader = new BodyReader({ journal, objects, timers, log }, carriedBodies);
  const signer = new JwtDeliverySigner({ keys: accounts, random });
  const headers = new DeliveredHeaders({ alias, isBoth: wireAliasDeliver === 'both', region });
  const words = ['Svc', ...(alias === undefined ? [] : [alias.headerWord])];
  const nonRetryableNames = words.map((word) => `${word}-NonRetryable-Error`);
  const silence = silenceWatchOf(config, clock, timers);

  function createPlane({ activation, actor, loadPartition }: PlaneWorld<QueueWork>): QueuePlane {
    const { shard } = activation;
    const submit = (work: QueueWork) => actor().submit(work);
    const plane = new QueuePlane(
      {
        clock,
        timers,
        log,
        storage,
        accounts,
        room,
        held,
        performer: new Performer(
          { http, signer, headers, clock, timers, log, metrics, submit, mayCall: () => actor().holdsLease },
          { ...DEFAULT_LIST_LIMITS, inlineBytes: workflowInlineBytes },
        ),
        engine: {
          maxInFlightPerOrigin: deliveryPerOrigin,
          nonRetryableNames,
          aliasHeaderWord: alias?.headerWord,
          deliveredWords: headers.headerWords,
        },
        createBodies: (partition) => new BodyCache({ shard, partition, memory, reader }),
        loadPartition,
        mayStart: () => actor().state === 'serving',
      },
      { ...DEFAULT_QUEUE_PLANE_LIMITS, holdMs: config.ownership.requestHoldMs },
    );
    plane.onReady = () => actor().resume();
    return plane;
  }

  /** For a while: a call that is cut off is made again by the successor. */
  async function untilCallsHaveEnded(actor: ShardActor<QueueWork>, plane: QueuePlane): Promise<void> {
    plane.startNoMore();
    const endMs = clock.monotonicMs() + config.process.shutdownMs / 4;
    while (plane.attemptsInFlight > 0 && actor.state === 'serving' && clock.monotonicMs() < endMs) {
      await timers.pause(LAST_CALLS_LOOK_MS);
    }
  }

  /** What was told while nobody owned the shard is taken over for as long as this actor serves. */
  function takeOverIntake(actor: ShardActor<QueueWork>): void {
    const submit = (work: QueueWork) => actor.submit(work);
    const follower = new IntakeFollower({ intake, timers, log, metrics, submit }, actor.shard);
    follower.start();
    void actor.ended.then(() => follower.stop());
  }

  const owned = ownedShards<QueueWork, QueuePlane>(
    c,
    { isExclusive, compactor },
    {
      shards,
      createPlane,
      serve: (actor) => serveQueueShard(bus, actor, ANSWER_MEMORY, silence),
      onServing: takeOverIntake,
      beforeHandOver: untilCallsHaveEnded,
      onSnapshot: (plane, { manifest }, { purgeBelow }) => {
        reader.adopt(manifest);
        // What both snapshots hold, and not all that the newest does: should it break, the journal still has the rest.
        plane.covered(purgeBelow - 1);
      },
    },
  );
  const { host } = owned;
  watchShards(metrics, host, shards);
  const planeOf = (shard: (typeof shards)[number]) => {
    const actor = host.actorOf(shard);
    return actor?.state === 'serving' ? owned.planeOf(actor) : undefined;
  };
  for (const shard of shards) {
    metrics.gauge('millrace_queue_records', () => planeOf(shard)?.size, shard);
    metrics.gauge('millrace_queue_lag_seconds', () => inSeconds(planeOf(shard)?.lagMs), shard);
  }
  metrics.gauge('millrace_deliveries_in_flight', () => room.inFlight);
  metrics.gauge('millrace_queue_body_bytes', () => memory.usedBytes);
  metrics.gauge('millrace_queue_messages', () => held.messages);
  metrics.gauge('millrace_queue_bytes', () => held.bytes);
  metrics.gauge('millrace_queue_memory_bytes', () => held.usedBytes);
  metrics.gauge('millrace_queue_memory_limit_bytes', () => held.limits.memoryBytes);
  accounts.whenChanged(() => {
    for (const { plane } of owned.planes()) plane.accountsChanged();
  });

  return {
    host,
    start: () => {
      owned.start();
      held.start();
    },
    stop: () => {
      held.stop();
      return owned.stop();
    },
  };
}
