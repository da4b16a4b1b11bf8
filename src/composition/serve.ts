/** Starts a process: builds its parts in order, from its settings to its ready line. */
import type { DependencyContainer } from 'tsyringe';
import { checkOfShards } from '../actors/runtime/index.js';
import { EDGE_CHECKS, startHealthServer, untilReady } from '../adapters/http-health/index.js';
import { LeaderSpread, streamSizes } from '../adapters/nats/index.js';
import {
  AwaitedStart,
  dataKeyOf,
  journalTotalOf,
  type NatsOpening,
  sealingOf,
  watchedNats,
} from '../adapters/nats/installation/index.js';
import { DiskUsage, Lifetime, ProcessWatch } from '../adapters/node/index.js';
import type { Config } from '../config/index.js';
import { hostAndPort } from '../edge/http/index.js';
import type { Check, Log } from '../ports/index.js';
import { registerAlerts, startAlerts } from './alerts-module.js';
import { registerCluster, startCluster } from './cluster-module.js';
import { type MadeCredentials, registerControl, startControl } from './control-module.js';
import { registerDuties, startDuties } from './duties-module.js';
import { startEndpoints } from './endpoints.js';
import { registerKvGateway, registerKvOwner } from './kv-module.js';
import { registerBasics, registerMembership, registerNats } from './process-module.js';
import { registerReadModels, registerRemoteReadModels, startReadModels } from './projections-module.js';
import { registerQueueGateway, registerQueueOwner, startLaneQueueSweep, startTriggers } from './queue-module.js';
import { registerRemoteSearch, registerSearch, startSearch } from './search-module.js';
import { registerShards } from './shards-module.js';
import * as tokens from './tokens.js';
import { startTracing } from './tracing-module.js';
import { isWorker, joinWorkers, modelChecksOf } from './worker-module.js';

export interface RunningProcess {
  /** `name=url`, in the order of the ready line. */
  readonly addresses: readonly string[];
  /** Resolves when every plane serves, as `/readyz` says. */
  readonly ready: Promise<void>;
  /** Credentials that the first start generated; shown once. */
  readonly credentials: MadeCredentials | undefined;
  /** Resolves with the reason when the process cannot continue. */
  readonly failed: Promise<string>;
  /** Finishes work in flight, hands shards over and releases all resources. */
  stop(): Promise<void>;
}

type Checks = () => Record<string, Check>;

/** The parts that exist before the start. */
export interface Beginning {
  readonly config: Config;
  readonly log: Log;
  readonly nats: NatsOpening;
  /** Given in a worker: its supervisor answers probes and scrapers. */
  readonly worker?: tokens.WorkerPlace | undefined;
}

/**
 * Probes are answered from the first moment, even while the start waits.
 * @param stopping  ends the wait for missing dependencies
 * @throws MillraceError with one line; all started parts are stopped again. SHUTTING_DOWN if `stopping` came first
 */
export function startProcess({ config, log, nats, worker }: Beginning, stopping: AbortSignal) {
  return Lifetime.begin(async (life): Promise<RunningProcess> => {
    life.atEnd(() => nats.giveUp());
    const c = tokens.newContainer();
    registerBasics(c, config, log, worker && { worker: `${worker.start.number}` });
    if (worker !== undefined) c.registerInstance(tokens.WORKER, worker);
    c.registerInstance(tokens.NATS_OPENING, nats);
    await startTracing(c, life);
    life.closeAtEnd(new ProcessWatch(c.resolve(tokens.METRICS).registry));
    const awaited = new AwaitedStart({ log, timers: c.resolve(tokens.TIMERS) });
    c.registerInstance(tokens.AWAITED_START, awaited);
    let checks: Checks = () => awaited.checks();
    c.resolve(tokens.METRICS).gauge('millrace_ready', () => Number(Object.values(checks()).every(({ ok }) => ok)));
    const health = worker === undefined ? [await startHealth(c, life, () => checks())] : [];
    worker?.link.answerWith({
      checks: () => checks(),
      metrics: async () => (await c.resolve(tokens.METRICS).page()).text,
    });
    const start = () => startPlanes(c);
    // An embedded server belongs to this process, so waiting for it to return would be useless.
    const planes = config.isEmbedded ? await start() : await awaited.begin(start, stopping);
    life.atEnd(() => planes.stop());
    checks = planes.checks;
    return { ...planes, addresses: [...planes.addresses, ...health], stop: () => life.end() };
  });
}

/** The parts that need NATS. @throws MillraceError; all started parts are stopped again */
function startPlanes(basics: DependencyContainer) {
  return Lifetime.begin(async (life): Promise<RunningProcess & { readonly checks: Checks }> => {
    const c = basics.createChildContainer();
    c.registerInstance(tokens.LIFETIME, life);
    c.registerInstance(tokens.START, { isOver: false });
    c.registerInstance(tokens.MANAGEMENT_ADDRESS, { url: undefined });
    await joinOthers(c);
    await startOwners(c);
    const credentials = await startControl(c);
    await startDuties(c);
    const addresses = hasRole(c, 'edge') ? await startEndpoints(c) : [];
    watchStreams(c);
    const checks = checksOf(c);
    await startCluster(c, {
      checks,
      hosts: [...hostsOf(c), c.resolve(tokens.CONTROL).host].filter((host) => !!host),
      trials: c.resolve(tokens.TRIALS),
    });
    await startAlerts(c);
    const stop = () => life.endAfter(c.resolve(tokens.CONFIG).process, c.resolve(tokens.TIMERS));
    const { failed } = c.resolve(tokens.NATS_OPENING);
    return { addresses, ready: untilAllIsReady(c, checks), credentials, failed, checks, stop };
  });
}

/** The parts that every role needs: the journal, this process's session, the control plane. */
async function joinOthers(c: DependencyContainer): Promise<void> {
  const config = c.resolve(tokens.CONFIG);
  const life = c.resolve(tokens.LIFETIME);
  const nats = await c.resolve(tokens.NATS_OPENING).takeListening(c.resolve(tokens.AWAITED_START), (connections) => {
    registerMembership(c, connections, config.isEmbedded && !isWorker(c));
    const membership = c.resolve(tokens.MEMBERSHIP);
    membership.start();
    life.atEnd(() => membership.stop());
    return membership;
  });
  life.atEnd(() => nats.close());
  registerNats(c, watchedNats(nats, c.resolve(tokens.METRICS)));
  const session = c.resolve(tokens.SESSION);
  await session.start();
  life.closeAtEnd(session);
  await joinWorkers(c);
  c.registerInstance(tokens.JOURNAL_TOTAL, await journalTotalOf(config, nats));
  c.registerInstance(tokens.DATA_KEY, { key: await dataKeyOf(config, c.resolve(tokens.RANDOM)) });
  c.registerInstance(tokens.SEALING, await sealingOf(config, nats, c.resolve(tokens.RANDOM)));
  registerShards(c);
  registerCluster(c);
  const compactor = c.resolve(tokens.COMPACTOR);
  life.atEnd(() => compactor.close());
  // Starts watching the disk.
  c.resolve(tokens.STORAGE);
  const http = c.resolve(tokens.HTTP_OUT);
  life.atEnd(() => http.close());
  registerControl(c, hasRole(c, 'kv', 'queue'));
  const control = c.resolve(tokens.CONTROL);
  life.atEnd(() => control.stop());
}

/** The owners of databases and queues in this process, and its read models or access to those of another process. */
async function startOwners(c: DependencyContainer): Promise<void> {
  const life = c.resolve(tokens.LIFETIME);
  if (hasRole(c, 'queue')) registerQueueOwner(c);
  // Owners of databases send messages to those of queues.
  registerQueueGateway(c);
  if (hasRole(c, 'kv')) {
    registerKvOwner(c);
    await life.run(c.resolve(tokens.KV_OWNER));
  }
  if (hasRole(c, 'queue')) {
    await life.run(c.resolve(tokens.QUEUE_OWNER));
    await startLaneQueueSweep(c);
  }
  if (hasRole(c, 'kv')) await startTriggers(c);
  registerKvGateway(c);
  registerDuties(c);
  registerAlerts(c);
  if (!hasRole(c, 'projection') || isWorker(c)) {
    registerRemoteReadModels(c);
    registerRemoteSearch(c);
    return;
  }
  registerReadModels(c);
  await startReadModels(c);
  registerSearch(c);
  await startSearch(c);
}

function watchStreams(c: DependencyContainer): void {
  const nats = c.resolve(tokens.NATS);
  const leaders = new LeaderSpread(nats, tokens.portsOf(c), () => c.resolve(tokens.CONTROL).isOwner());
  c.resolve(tokens.LIFETIME).atEnd(() => leaders.stop());
  // The workers of a machine have one data directory.
  if ((tokens.ifRegistered(c, tokens.WORKER)?.start.number ?? 1) > 1) return;
  const usage = new DiskUsage({
    ...tokens.portsOf(c),
    dataDir: c.resolve(tokens.CONFIG).storage.dataDir,
    streamSizes: () => streamSizes(nats),
    total: c.resolve(tokens.JOURNAL_TOTAL),
  });
  c.resolve(tokens.LIFETIME).atEnd(() => usage.stop());
  void usage.start();
}

/** @returns its address */
async function startHealth(c: DependencyContainer, life: Lifetime, checks: Checks): Promise<string> {
  const { endpoints, signIn } = c.resolve(tokens.CONFIG);
  const metrics = c.resolve(tokens.METRICS);
  const health = await startHealthServer({
    host: endpoints.host,
    port: endpoints.metricsPort,
    checks,
    edgeChecks: hasRole(c, 'edge') ? EDGE_CHECKS : [],
    metrics: () => metrics.page(),
    metricsToken: signIn.metricsToken?.reveal(),
    timers: c.resolve(tokens.TIMERS),
    log: c.resolve(tokens.ENDPOINT_LOG),
  });
  life.atEnd(() => health.close());
  return `metrics=http://${hostAndPort(health.host, health.port)}`;
}

async function untilAllIsReady(c: DependencyContainer, checks: Checks): Promise<void> {
  const { id: session } = c.resolve(tokens.SESSION);
  const { log, clock, timers } = tokens.storagePortsOf(c);
  await untilReady(checks, { timers, clock, log });
  c.resolve(tokens.START).isOver = true;
  const { serverVersion: nats } = c.resolve(tokens.NATS);
  log.info('process.ready', { session, nats, roles: c.resolve(tokens.CONFIG).process.roles });
}

/** The checks of `/readyz` for the parts of this process. */
function checksOf(c: DependencyContainer): Checks {
  const nats = c.resolve(tokens.NATS);
  const control = c.resolve(tokens.CONTROL);
  const clocks = c.resolve(tokens.CLOCK_WATCH);
  const hosts = hostsOf(c);
  const life = c.resolve(tokens.LIFETIME);
  const modelChecks = modelChecksOf(c);
  return () => ({
    ...life.checks(),
    nats: nats.check(),
    control: control.check(),
    ...(hosts.length > 0 && { clock: clocks.check(), shards: checkOfShards(hosts) }),
    ...modelChecks(),
  });
}

function hostsOf(c: DependencyContainer) {
  const owners = [tokens.ifRegistered(c, tokens.KV_OWNER), tokens.ifRegistered(c, tokens.QUEUE_OWNER)];
  return owners.flatMap((owner) => (owner === undefined ? [] : [owner.host]));
}

function hasRole(c: DependencyContainer, ...roles: Config['process']['roles']): boolean {
  return roles.some((role) => c.resolve(tokens.CONFIG).process.roles.includes(role));
}
