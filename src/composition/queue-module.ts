/** The queue: its shards in a process with the role `queue`, and its endpoint with access to the owners. */
import { readFile } from 'node:fs/promises';
import type { DependencyContainer } from 'tsyringe';
import { Sweeps } from '../actors/control/index.js';
import { MAX_INTAKE_BYTES, ProcessTrials, QueueOwner, QueueShardGateway } from '../actors/queue/index.js';
import { callerSilenceMs, ROUTE_RETRY_MS } from '../actors/runtime/index.js';
import { LaneQueueSweep, TriggerDesk, TriggerRelays } from '../actors/triggers/index.js';
import { JwtDeliverySigner, StandardWebhooks } from '../adapters/http-delivery/index.js';
import { shardNames } from '../adapters/nats/index.js';
import { readPortalFile } from '../adapters/node/index.js';
import { MailingOut } from '../adapters/smtp/index.js';
import { DeliveredHeaders } from '../domain/queue/index.js';
import { createQueueServer, type QueueServer, type QueueServerParts } from '../edge/index.js';
import { ANSWERS_FORMAT_LEVEL, ByteBudget, CUSTOMER_MAILS_FORMAT_LEVEL, type DatabaseId } from '../kernel/index.js';
import { ownedShards } from './shards-module.js';
import * as tokens from './tokens.js';

/** Looking at the queues of loaded accounts takes a few milliseconds. */
const LANE_QUEUES_EVERY_MS = 15_000;

export function registerQueueOwner(c: DependencyContainer): void {
  tokens.once(c, tokens.QUEUE_OWNER, () => {
    const config = c.resolve(tokens.CONFIG);
    const { delivery } = config;
    const { accounts, view } = c.resolve(tokens.CONTROL);
    const [http, mail] = [c.resolve(tokens.HTTP_OUT), c.resolve(tokens.MAIL_SENDER)];
    const memoryBytes = delivery.queueMemoryBytes ?? c.resolve(tokens.MEMORY).queueBytes;
    return new QueueOwner(
      {
        ...tokens.portsOf(c),
        intake: c.resolve(tokens.INTAKE),
        storage: c.resolve(tokens.STORAGE),
        http: mail === undefined ? http : new MailingOut({ http, mail, clock: c.resolve(tokens.CLOCK) }),
        signer: new JwtDeliverySigner({ keys: accounts, random: c.resolve(tokens.RANDOM) }),
        webhooks: c.resolve(tokens.WEBHOOKS),
        accounts,
        own: (plane) => ownedShards(c, plane),
      },
      {
        shards: shardNames(c.resolve(tokens.NATS).layout).queue,
        held: { messages: delivery.queueMaxMessages, bytes: delivery.queueMaxBytes, memoryBytes },
        bodyMemoryBytes: delivery.queueBodyMemoryBytes,
        concurrency: delivery.deliveryConcurrency,
        lastCallsMs: config.process.shutdownMs / 4,
        holdMs: config.ownership.requestHoldMs,
        silenceMs: callerSilenceMs(config.ownership.requestHoldMs),
        workflowInlineBytes: delivery.workflowInlineBytes,
        // Processes of the previous release cannot read kept answers.
        keptAnswerBytes: () => (view.formatLevel < ANSWERS_FORMAT_LEVEL ? 0 : delivery.deliveredAnswerBytes),
        mailsCustomers: () => mail !== undefined && view.formatLevel >= CUSTOMER_MAILS_FORMAT_LEVEL,
        maxInFlightPerOrigin: delivery.deliveryPerOrigin,
        alias: config.endpoints.wireAlias,
        deliversBoth: config.endpoints.wireAliasDeliver === 'both',
        region: delivery.region,
      },
    );
  });
}

export function queueEndpoint(c: DependencyContainer, endpoint: Partial<QueueServerParts>): QueueServer {
  const { accounts, view, client } = c.resolve(tokens.CONTROL);
  const readModels = c.resolve(tokens.READ_MODELS);
  const { endpoints, delivery } = c.resolve(tokens.CONFIG);
  const { publicUrlQueue: publicUrl, trustedProxies, wireAlias: alias, wireAliasDeliver } = endpoints;
  const http = c.resolve(tokens.HTTP_OUT);
  return createQueueServer({
    ...tokens.portsOf(c),
    gateway: c.resolve(tokens.QUEUE_GATEWAY),
    access: accounts,
    admin: accounts,
    control: client,
    triggers: triggerDesk(c),
    messageLog: readModels,
    runLog: readModels,
    formatLevel: () => view.formatLevel,
    destinations: http,
    deliveries: {
      http,
      signer: new JwtDeliverySigner({ keys: accounts, random: c.resolve(tokens.RANDOM) }),
      headers: new DeliveredHeaders({ alias, isBoth: wireAliasDeliver === 'both', region: delivery.region }),
    },
    secrets: c.resolve(tokens.WEBHOOKS),
    hasMail: c.resolve(tokens.MAIL_SENDER) !== undefined,
    portal: {
      frameAncestors: endpoints.portalFrameAncestors,
      readFile: readPortalFile,
      readLook: async () => (endpoints.portalFile === undefined ? undefined : readFile(endpoints.portalFile)),
    },
    sealing: () => c.resolve(tokens.SEALING),
    trials: c.resolve(tokens.TRIALS),
    log: c.resolve(tokens.ENDPOINT_LOG),
    trustedProxies,
    publicUrl,
    ...endpoint,
  });
}

/** Leads to the owners of accounts from every process; trial runs are in each process, too. */
export function registerQueueGateway(c: DependencyContainer): void {
  tokens.once(c, tokens.TRIGGER_COPIES, () => {
    const { triggerMemoryBytes } = c.resolve(tokens.CONFIG).delivery;
    return new ByteBudget(triggerMemoryBytes ?? c.resolve(tokens.MEMORY).triggerBytes);
  });
  const random = c.resolve(tokens.RANDOM);
  tokens.once(c, tokens.WEBHOOKS, () => new StandardWebhooks({ random, sealing: () => c.resolve(tokens.SEALING) }));
  tokens.once(c, tokens.TRIALS, () => new ProcessTrials(tokens.portsOf(c), c.resolve(tokens.SESSION).processId));
  tokens.once(c, tokens.QUEUE_GATEWAY, () => {
    const { isExclusive, layout } = c.resolve(tokens.NATS);
    const { ownership, delivery } = c.resolve(tokens.CONFIG);
    const caller = isExclusive ? undefined : c.resolve(tokens.CALLER);
    const host = tokens.ifRegistered(c, tokens.QUEUE_OWNER)?.host;
    const times = { holdMs: ownership.requestHoldMs, retryEveryMs: ROUTE_RETRY_MS };
    const intake = { tellAfterMs: delivery.queueTellAfterMs, maxIntakeBytes: MAX_INTAKE_BYTES };
    const ports = { ...tokens.portsOf(c), intake: c.resolve(tokens.INTAKE), caller, host };
    return new QueueShardGateway(ports, { ...times, ...intake }, layout.queueShards);
  });
}

/** The relays of triggers, in a process with databases. */
export async function startTriggers(c: DependencyContainer): Promise<void> {
  const control = c.resolve(tokens.CONTROL);
  const ports = { ...triggerPortsOf(c), control, host: c.resolve(tokens.KV_OWNER).host };
  await c.resolve(tokens.LIFETIME).run(new TriggerRelays(ports, c.resolve(tokens.NATS).layout.kvShards));
}

/** Queues of deleted triggers, in a process with accounts. */
export async function startLaneQueueSweep(c: DependencyContainer): Promise<void> {
  const owner = c.resolve(tokens.QUEUE_OWNER);
  const { view } = c.resolve(tokens.CONTROL);
  const { timers, log } = tokens.portsOf(c);
  const sweep = new LaneQueueSweep({
    queue: c.resolve(tokens.QUEUE_GATEWAY),
    emptyQueues: () => owner.emptyQueues(),
    knownTriggers: () => view.knownTriggers(),
  });
  const sweeps = [{ name: 'queues of triggers', everyMs: LANE_QUEUES_EVERY_MS, run: () => sweep.look() }];
  await c.resolve(tokens.LIFETIME).run(new Sweeps({ isOwner: () => true, timers, log, sweeps }));
}

export function triggerDesk(c: DependencyContainer): TriggerDesk {
  const { view } = c.resolve(tokens.CONTROL);
  const ports = { ...triggerPortsOf(c), layoutOf: (database: DatabaseId) => view.state.live(database) };
  return new TriggerDesk(ports, c.resolve(tokens.NATS).layout.kvShards);
}

function triggerPortsOf(c: DependencyContainer) {
  const [queue, destinations] = [c.resolve(tokens.QUEUE_GATEWAY), c.resolve(tokens.HTTP_OUT)];
  return { ...tokens.portsOf(c), queue, destinations, copyBudget: c.resolve(tokens.TRIGGER_COPIES) };
}
