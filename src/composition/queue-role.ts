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
  OwnerDuties,
  Performer,
  QueuePlane,
  type QueueWork,
  serveQueueShard,
} from '../actors/queue/index.js';
import type { OwnedShards, PlaneWorld, ShardHost } from '../actors/runtime/index.js';
import { JwtDeliverySigner } from '../adapters/http-delivery/index.js';
import { shardNames } from '../adapters/nats/index.js';
import { DeliveredHeaders } from '../domain/queue/index.js';
import { BodyReader } from '../journal/index.js';
import type { ShardName } from '../kernel/index.js';
import type { Metrics } from '../ports/index.js';
import { ownedShards } from './owned-shards.js';
import { ANSWER_MEMORY, inSeconds, silenceWatchOf, watchShards } from './runtime-parts.js';
import * as tokens from './tokens.js';

export interface QueueRole {
  readonly host: ShardHost<QueueWork>;
  start(): void;
  stop(): Promise<void>;
}

/** What all shards of the queue in this process share. */
interface Shared {
  readonly room: DeliveryRoom;
  readonly memory: BodyMemory;
  readonly held: HeldMessages;
  readonly reader: BodyReader;
}

export function queueRole(c: DependencyContainer): QueueRole {
  const config = c.resolve(tokens.CONFIG);
  const { clock, timers, log, metrics, journal, objects, bus } = tokens.portsOf(c);
  const shards = shardNames(c.resolve(tokens.LAYOUT)).queue;
  const { queueMemoryBytes = c.resolve(tokens.MEMORY).queueBytes, queueMaxMessages, queueMaxBytes } = config.delivery;

  const memory = new BodyMemory(config.delivery.queueBodyMemoryBytes);
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
  const room = new DeliveryRoom(config.delivery.deliveryConcurrency);
  const reader = new BodyReader({ journal, objects, timers, log }, carriedBodies);
  const shared = { room, memory, held, reader };
  const { accounts } = c.resolve(tokens.CONTROL);
  const duties = new OwnerDuties(
    { intake: c.resolve(tokens.INTAKE), clock, timers, log, metrics },
    config.process.shutdownMs / 4,
  );
  const silence = silenceWatchOf(config, clock, timers);

  const owned = ownedShards<QueueWork, QueuePlane>(c, {
    shards,
    createPlane: planeMaker(c, shared),
    serve: (actor) => serveQueueShard(bus, actor, ANSWER_MEMORY, silence),
    onServing: (actor) => duties.takeOverIntake(actor),
    beforeHandOver: (actor, plane) => duties.untilCallsHaveEnded(actor, plane),
    onSnapshot: (plane, { manifest }, { purgeBelow }) => {
      reader.adopt(manifest);
      // What both snapshots hold, and not all that the newest does: should it break, the journal still has the rest.
      plane.covered(purgeBelow - 1);
    },
  });
  watchShards(metrics, owned.host, shards);
  watchQueue(metrics, owned, shards, shared);
  accounts.whenChanged(() => {
    for (const { plane } of owned.planes()) plane.accountsChanged();
  });

  return {
    host: owned.host,
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

/** @returns what makes the plane of each activation */
function planeMaker(
  c: DependencyContainer,
  { room, memory, held, reader }: Shared,
): (world: PlaneWorld<QueueWork>) => QueuePlane {
  const config = c.resolve(tokens.CONFIG);
  const { clock, timers, log, metrics } = tokens.portsOf(c);
  const storage = c.resolve(tokens.STORAGE);
  const http = c.resolve(tokens.HTTP_OUT);
  const { accounts } = c.resolve(tokens.CONTROL);
  const { wireAlias: alias, wireAliasDeliver } = config.faces;
  const { deliveryPerOrigin, region, workflowInlineBytes } = config.delivery;
  const signer = new JwtDeliverySigner({ keys: accounts, random: c.resolve(tokens.RANDOM) });
  const headers = new DeliveredHeaders({ alias, isBoth: wireAliasDeliver === 'both', region });
  const words = ['Svc', ...(alias === undefined ? [] : [alias.headerWord])];
  const engine = {
    maxInFlightPerOrigin: deliveryPerOrigin,
    nonRetryableNames: words.map((word) => `${word}-NonRetryable-Error`),
    aliasHeaderWord: alias?.headerWord,
    deliveredWords: headers.headerWords,
  };
  const listLimits = { ...DEFAULT_LIST_LIMITS, inlineBytes: workflowInlineBytes };
  const limits = { ...DEFAULT_QUEUE_PLANE_LIMITS, holdMs: config.ownership.requestHoldMs };

  return ({ activation: { shard }, actor, loadPartition }) => {
    const submit = (work: QueueWork) => actor().submit(work);
    const mayCall = () => actor().holdsLease;
    const calls = { http, signer, headers, clock, timers, log, metrics, submit, mayCall };
    return new QueuePlane(
      {
        clock,
        timers,
        log,
        storage,
        accounts,
        room,
        held,
        performer: new Performer(calls, listLimits),
        engine,
        createBodies: (partition) => new BodyCache({ shard, partition, memory, reader }),
        loadPartition,
        onReady: () => actor().resume(),
        mayStart: () => actor().state === 'serving',
      },
      limits,
    );
  };
}

function watchQueue(
  metrics: Metrics,
  owned: OwnedShards<QueueWork, QueuePlane>,
  shards: readonly ShardName[],
  { room, memory, held }: Shared,
): void {
  const planeOf = (shard: ShardName) => {
    const actor = owned.host.actorOf(shard);
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
}
