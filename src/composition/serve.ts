/** A process, from its settings to its ready line: what it is made of, in the order of its start. */
import type { DependencyContainer } from 'tsyringe';
import { checkOfShards } from '../actors/runtime/index.js';
import { EDGE_CHECKS, startHealthServer, untilReady } from '../adapters/http-health/index.js';
import { LeaderSpread, streamSizes } from '../adapters/nats/index.js';
import {
  AwaitedStart,
  journalTotalOf,
  type NatsOpening,
  sealingOf,
  watchedNats,
} from '../adapters/nats/installation/index.js';
import { DiskUsage, Lifetime, ProcessWatch } from '../adapters/node/index.js';
import type { Config } from '../config/index.js';
import { hostAndPort } from '../edge/http/index.js';
import type { Check, Log } from '../ports/index.js';
import { readinessOfModels, readinessOfSearch } from '../projections/index.js';
import { registerCluster, startCluster } from './cluster-module.js';
import { type MadeCredentials, registerControl, startControl } from './control-module.js';
import { registerDuties, startDuties } from './duties-module.js';
import { startFaces } from './faces.js';
import { registerKvGateway, registerKvOwner } from './kv-module.js';
import { registerBasics, registerNats } from './process-module.js';
import { registerReadModels, registerRemoteReadModels, startReadModels } from './projections-module.js';
import { registerQueueOwner } from './queue-module.js';
import { registerRemoteSearch, registerSearch, startSearch } from './search-module.js';
import { registerShards } from './shards-module.js';
import * as tokens from './tokens.js';
import { startTracing } from './tracing-module.js';

export interface RunningProcess {
  /** `name=url`, in the order they are listed on the ready line. */
  readonly addresses: readonly string[];
  /** Resolves when every plane serves, as `/readyz` says. */
  readonly ready: Promise<void>;
  /** What the first start made, a line each; shown once. */
  readonly credentials: MadeCredentials | undefined;
  /** Resolves with why, when the process cannot go on by itself. */
  readonly failed: Promise<string>;
  /** Finishes what is in flight, hands over, lets go of everything. */
  stop(): Promise<void>;
}

type Checks = () => Record<string, Check>;

/** What was begun before the program was there. */
export interface Beginning {
  readonly config: Config;
  readonly log: Log;
  readonly nats: NatsOpening;
}

/**
 * Probes are answered from the first moment, whatever the start still waits for.
 * @param stopping  ends the wait for what is not there yet
 * @throws MillraceError with one clear line; whatever was started is stopped again. SHUTTING_DOWN when `stopping` was first
 */
export function startProcess({ config, log, nats }: Beginning, stopping: AbortSignal) {
  return Lifetime.begin(async (life): Promise<RunningProcess> => {
    life.atEnd(() => nats.giveUp());
    const c = tokens.newContainer();
    registerBasics(c, config, log);
    c.registerInstance(tokens.NATS_OPENING, nats);
    await startTracing(c, life);
    life.closeAtEnd(new ProcessWatch(c.resolve(tokens.METRICS).registry));
    const awaited = new AwaitedStart({ log, timers: c.resolve(tokens.TIMERS) });
    let checks: Checks = () => awaited.checks();
    const health = await startHealth(c, life, () => checks());
    const start = () => startPlanes(c);
    // An embedded server is this process's own: who else could bring it back?
    const planes = config.isEmbedded ? await start() : await awaited.begin(start, stopping);
    life.atEnd(() => planes.stop());
    checks = planes.checks;
    return { ...planes, addresses: [...planes.addresses, health], stop: () => life.end() };
  });
}

/** Everything that stands on NATS. @throws MillraceError; whatever it had started is stopped again */
function startPlanes(basics: DependencyContainer) {
  return Lifetime.begin(async (life): Promise<RunningProcess & { readonly checks: Checks }> => {
    const c = basics.createChildContainer();
    c.registerInstance(tokens.LIFETIME, life);
    await joinOthers(c);
    await startOwners(c);
    const credentials = await startControl(c);
    await startDuties(c);
    const addresses = hasRole(c, 'edge') ? await startFaces(c) : [];
    watchStreams(c);
    const checks = checksOf(c);
    await startCluster(c, { checks, hosts: [...hostsOf(c), c.resolve(tokens.CONTROL).host].filter((host) => !!host) });
    const stop = () => life.endAfter(c.resolve(tokens.CONFIG).process, c.resolve(tokens.TIMERS));
    const { failed } = c.resolve(tokens.NATS_OPENING);
    return { addresses, ready: untilAllIsReady(c, checks), credentials, failed, checks, stop };
  });
}

/** What every role stands on: the journal, this process's place among the others, the control plane. */
async function joinOthers(c: DependencyContainer): Promise<void> {
  const config = c.resolve(tokens.CONFIG);
  const life = c.resolve(tokens.LIFETIME);
  const nats = await c.resolve(tokens.NATS_OPENING).take();
  life.atEnd(() => nats.close());
  registerNats(c, watchedNats(nats, c.resolve(tokens.METRICS)));
  await life.run(c.resolve(tokens.MEMBERSHIP));
  const session = c.resolve(tokens.SESSION);
  await session.start();
  life.closeAtEnd(session);
  c.registerInstance(tokens.JOURNAL_TOTAL, await journalTotalOf(config, nats));
  c.registerInstance(tokens.SEALING, await sealingOf(config, nats, c.resolve(tokens.RANDOM)));
  registerShards(c);
  registerCluster(c);
  const compactor = c.resolve(tokens.COMPACTOR);
  life.atEnd(() => compactor.close());
  // It looks at the disk from here on.
  c.resolve(tokens.STORAGE);
  const http = c.resolve(tokens.HTTP_OUT);
  life.atEnd(() => http.close());
  registerControl(c, hasRole(c, 'kv', 'queue'));
  const control = c.resolve(tokens.CONTROL);
  life.atEnd(() => control.stop());
}

/** What this process may own of databases and queues, and the read models: its own, or the way to another's. */
async function startOwners(c: DependencyContainer): Promise<void> {
  const life = c.resolve(tokens.LIFETIME);
  if (hasRole(c, 'kv')) {
    registerKvOwner(c);
    await life.run(c.resolve(tokens.KV_OWNER));
  }
  if (hasRole(c, 'queue')) {
    registerQueueOwner(c);
    await life.run(c.resolve(tokens.QUEUE_OWNER));
  }
  registerKvGateway(c);
  registerDuties(c);
  if (!hasRole(c, 'projection')) {
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
  const usage = new DiskUsage({
    ...tokens.portsOf(c),
    dataDir: c.resolve(tokens.CONFIG).storage.dataDir,
    streamSizes: () => streamSizes(nats),
    total: c.resolve(tokens.JOURNAL_TOTAL),
  });
  c.resolve(tokens.LIFETIME).atEnd(() => usage.stop());
  void usage.start();
}

/** @returns where it is asked */
async function startHealth(c: DependencyContainer, life: Lifetime, checks: Checks): Promise<string> {
  const { faces, signIn } = c.resolve(tokens.CONFIG);
  const metrics = c.resolve(tokens.METRICS);
  metrics.gauge('millrace_ready', () => Number(Object.values(checks()).every(({ ok }) => ok)));
  const health = await startHealthServer({
    host: faces.host,
    port: faces.metricsPort,
    checks,
    edgeChecks: hasRole(c, 'edge') ? EDGE_CHECKS : [],
    metrics: () => metrics.page(),
    metricsToken: signIn.metricsToken?.reveal(),
    timers: c.resolve(tokens.TIMERS),
    log: c.resolve(tokens.FACE_LOG),
  });
  life.atEnd(() => health.close());
  return `metrics=http://${hostAndPort(health.host, health.port)}`;
}

async function untilAllIsReady(c: DependencyContainer, checks: Checks): Promise<void> {
  const { id: session } = c.resolve(tokens.SESSION);
  const { log, clock, timers } = tokens.storagePortsOf(c);
  await untilReady(checks, { timers, clock, log });
  const { serverVersion: nats } = c.resolve(tokens.NATS);
  log.info('process.ready', { session, nats, roles: c.resolve(tokens.CONFIG).process.roles });
}

/** What `/readyz` looks at: what this process has. */
function checksOf(c: DependencyContainer): Checks {
  const nats = c.resolve(tokens.NATS);
  const control = c.resolve(tokens.CONTROL);
  const clocks = c.resolve(tokens.CLOCK_WATCH);
  const hosts = hostsOf(c);
  const readModels = tokens.ifRegistered(c, tokens.READ_MODELS_THREAD);
  const searches = tokens.ifRegistered(c, tokens.SEARCH_THREAD);
  const life = c.resolve(tokens.LIFETIME);
  return () => ({
    ...life.checks(),
    nats: nats.check(),
    control: control.check(),
    ...(hosts.length > 0 && { clock: clocks.check(), shards: checkOfShards(hosts) }),
    ...(readModels && {
      'read-models': readinessOfModels(readModels.status?.readModels, readModels.status?.statistics),
    }),
    ...(searches && { search: readinessOfSearch(searches.status) }),
  });
}

function hostsOf(c: DependencyContainer) {
  const owners = [tokens.ifRegistered(c, tokens.KV_OWNER), tokens.ifRegistered(c, tokens.QUEUE_OWNER)];
  return owners.flatMap((owner) => (owner === undefined ? [] : [owner.host]));
}

function hasRole(c: DependencyContainer, ...roles: Config['process']['roles']): boolean {
  return roles.some((role) => c.resolve(tokens.CONFIG).process.roles.includes(role));
}
