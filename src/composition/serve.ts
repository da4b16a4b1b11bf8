import type { DependencyContainer } from 'tsyringe';
import { DailyBackups, DeletedData, Sweeps } from '../actors/control/index.js';
import { KvDeliveries, PartitionRemoval } from '../actors/kv-shard/index.js';
import { SessionSweep } from '../actors/runtime/index.js';
import { resolverOfThisMachine, UndiciHttpOut } from '../adapters/http-delivery/index.js';
import { startHealthServer } from '../adapters/http-health/index.js';
import { JetStreamIntakeLog, JetStreamObjectStore, streamSizes } from '../adapters/nats/index.js';
import { DiskUsage, DiskWatch, openKeyFile, WorkerCompactor } from '../adapters/node/index.js';
import type { Config } from '../config/index.js';
import { DEFAULT_COMPACTION_LIMITS } from '../journal/index.js';
import {
  type Compactor,
  type DataRemoval,
  type HttpOut,
  type IntakeLog,
  type KvGateway,
  type Metrics,
  ROOMY,
  type StorageGauge,
} from '../ports/index.js';
import { type BackupRole, backupRole } from './backup-role.js';
import type { CompactorWorld } from './compactor-worker.js';
import { controlRole, type MadeCredentials } from './control-role.js';
import { at, startFaces, type Undo } from './faces.js';
import { healthChecks, untilReady } from './health-checks.js';
import { type JournalTotal, journalTotalOf } from './journal-total.js';
import { kvGateway } from './kv-gateway.js';
import { kvRole } from './kv-role.js';
import { type NatsWorld, openNatsWorld } from './nats-world.js';
import { basicParts, natsParts } from './process-parts.js';
import { projectionRole, remoteReadModels, remoteStatistics } from './projection-role.js';
import { queueRole } from './queue-role.js';
import { remoteSearch, searchRole } from './search-role.js';
import * as tokens from './tokens.js';

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

/** @throws MillraceError with one clear line; whatever was started is stopped again */
export async function startProcess(config: Config, warnings: readonly string[]): Promise<RunningProcess> {
  const undo: Undo = [];
  const stop = async () => {
    for (const step of undo.splice(0).reverse()) await step();
  };
  try {
    return await startRoles(config, warnings, undo, stop);
  } catch (error) {
    await stop();
    throw error;
  }
}

async function startRoles(
  config: Config,
  warnings: readonly string[],
  undo: Undo,
  stop: () => Promise<void>,
): Promise<RunningProcess> {
  const { container: c, log, metrics, watch } = basicParts(config);
  undo.push(() => watch.close());
  for (const warning of warnings) log.warn('config.warning', { warning });
  let fail: (why: string) => void = () => {};
  const failed = new Promise<string>((resolve) => {
    fail = resolve;
  });
  const world = await openNatsWorld(config, log, fail);
  undo.push(() => world.close());
  const ownsShards = hasRole(config, 'kv') || hasRole(config, 'queue');
  natsParts(c, world, ownsShards);
  await joinOthers(c, undo);
  const total = await journalTotalOf(config, world);
  await sharedParts(c, undo, total);

  const control = controlRole(c, { ownsShard: ownsShards });
  c.registerInstance(tokens.CONTROL, control);
  undo.push(() => control.stop());
  await startPlanes(c, undo);
  await startReadModels(c, undo);
  const credentials = await control.start();
  startDuties(c, undo);

  const addresses = hasRole(config, 'edge') ? await startFaces(c, undo) : [];
  watchDisk(c, undo, total);
  const checks = healthChecks(c);
  const health = await startHealthServer({
    host: config.faces.host,
    port: config.faces.metricsPort,
    checks,
    metrics: () => metrics.page(),
    metricsToken: config.signIn.metricsToken?.reveal(),
    timers: c.resolve(tokens.TIMERS),
    log: c.resolve(tokens.FACE_LOG),
  });
  undo.push(() => health.close());
  addresses.push(`metrics=http://${at(health.host, health.port)}`);
  const { id } = c.resolve(tokens.SESSION);
  const ready = untilReady(checks, { timers: c.resolve(tokens.TIMERS), clock: c.resolve(tokens.CLOCK), log }).then(() =>
    log.info('process.ready', { session: id, nats: world.serverVersion, roles: config.process.roles }),
  );
  return { addresses, ready, credentials, failed, stop };
}

function hasRole({ process: { roles } }: Config, role: Config['process']['roles'][number]): boolean {
  return roles.includes(role);
}

async function joinOthers(c: DependencyContainer, undo: Undo): Promise<void> {
  const membership = c.resolve(tokens.MEMBERSHIP);
  membership.start();
  undo.push(() => membership.stop());
  const session = c.resolve(tokens.SESSION);
  await session.start();
  undo.push(() => session.close());
}

/** What several roles have in common. */
async function sharedParts(c: DependencyContainer, undo: Undo, total: JournalTotal): Promise<void> {
  const config = c.resolve(tokens.CONFIG);
  const world = c.resolve(tokens.WORLD);
  c.registerInstance(tokens.SEALING, await openKeyFile(config.storage.sealKeyFile, c.resolve(tokens.RANDOM)));
  const compactor = new WorkerCompactor<CompactorWorld>({
    entry: new URL('./compactor-worker.js', import.meta.url),
    world: { nats: world.options, prefix: config.nats.natsPrefix, limits: compactionLimitsOf(config, total) },
    log: c.resolve(tokens.LOG),
  });
  undo.push(() => compactor.close());
  c.registerInstance<Compactor>(tokens.COMPACTOR, compactor);
  c.registerInstance(tokens.STORAGE, storageOf(c, world, undo));
  c.registerInstance(tokens.DELIVERIES, new KvDeliveries(c.resolve(tokens.BUS)));
  const intake = new JetStreamIntakeLog(world.connections, world.names, c.resolve(tokens.JOURNAL));
  c.registerInstance<IntakeLog>(tokens.INTAKE, intake);
  const http = httpOutOf(config, c.resolve(tokens.METRICS));
  undo.push(() => http.close());
  c.registerInstance<HttpOut>(tokens.HTTP_OUT, http);
}

/** What this process may own of databases and queues. */
async function startPlanes(c: DependencyContainer, undo: Undo): Promise<void> {
  const config = c.resolve(tokens.CONFIG);
  if (hasRole(config, 'kv')) {
    const kv = kvRole(c);
    c.registerInstance(tokens.KV_HOST, kv.host);
    kv.start();
    undo.push(() => kv.stop());
  }
  if (hasRole(config, 'queue')) {
    const queue = queueRole(c);
    c.registerInstance(tokens.QUEUE_HOST, queue.host);
    queue.start();
    undo.push(() => queue.stop());
  }
}

/** Of this process, or the way to another's. */
async function startReadModels(c: DependencyContainer, undo: Undo): Promise<void> {
  if (!hasRole(c.resolve(tokens.CONFIG), 'projection')) {
    c.registerInstance(tokens.READ_MODELS, remoteReadModels(c));
    c.registerInstance(tokens.STATISTICS, remoteStatistics(c));
    c.registerInstance(tokens.SEARCH, remoteSearch(c));
    return;
  }
  const models = projectionRole(c);
  await models.start();
  undo.push(() => models.stop());
  c.registerInstance(tokens.PROJECTION_ROLE, models);
  c.registerInstance(tokens.READ_MODELS, models.readModels);
  c.registerInstance(tokens.STATISTICS, models.statistics);
  const searches = searchRole(c);
  await searches.start();
  undo.push(() => searches.stop());
  c.registerInstance(tokens.SEARCH_ROLE, searches);
  c.registerInstance(tokens.SEARCH, searches.search);
}

/** What the owner of the control shard does beside answering, with the data of databases. */
function startDuties(c: DependencyContainer, undo: Undo): void {
  const control = c.resolve(tokens.CONTROL);
  const { clock, timers, log } = tokens.portsOf(c);
  const gateway = kvGateway(c);
  c.registerInstance<KvGateway>(tokens.GATEWAY, gateway);
  const keeping = backupRole(c);
  undo.push(() => keeping.stop());
  const { backups } = keeping;
  c.registerInstance(tokens.BACKUPS, backups);
  const removal = new PartitionRemoval({ gateway, timers, log });
  undo.push(() => removal.stop());
  c.registerInstance<DataRemoval>(tokens.REMOVAL, removal);
  const shared = { state: () => control.view.state, isOwner: () => control.isOwner(), clock, timers };
  const duties = [
    new DailyBackups({ ...shared, control: control.client, backups, log }),
    new DeletedData({ ...shared, removal }),
    sweepsOf(c, keeping),
  ];
  for (const duty of duties) {
    duty.start();
    undo.push(() => duty.stop());
  }
}

function watchDisk(c: DependencyContainer, undo: Undo, total: JournalTotal): void {
  const { connections, names, layout } = c.resolve(tokens.WORLD);
  const usage = new DiskUsage({
    dataDir: c.resolve(tokens.CONFIG).storage.dataDir,
    streamSizes: () => streamSizes(connections, names, layout),
    total,
    metrics: c.resolve(tokens.METRICS),
    timers: c.resolve(tokens.TIMERS),
    log: c.resolve(tokens.LOG),
  });
  undo.push(() => usage.stop());
  void usage.start();
}

/** Of an embedded server's disk; a cluster's servers have disks of their own, which their operators watch. */
function storageOf(c: DependencyContainer, world: NatsWorld, undo: Undo): StorageGauge {
  const { dataDir: directory, diskReserveBytes: reserveBytes } = c.resolve(tokens.CONFIG).storage;
  if (!world.isExclusive || reserveBytes === 0) return ROOMY;
  const watch = new DiskWatch({
    directory,
    reserveBytes,
    timers: c.resolve(tokens.TIMERS),
    log: c.resolve(tokens.LOG),
  });
  void watch.start();
  undo.push(() => watch.stop());
  return watch;
}

function compactionLimitsOf(config: Config, total: JournalTotal): CompactorWorld['limits'] {
  const { ageMs, bytes } = config.storage.auditRetention;
  const retention = { maxAgeMs: ageMs ?? Number.POSITIVE_INFINITY, maxBytes: bytes ?? Number.POSITIVE_INFINITY };
  return { ...DEFAULT_COMPACTION_LIMITS, retention, total };
}

function httpOutOf({ destinations, delivery }: Config, metrics: Metrics): UndiciHttpOut {
  const { deliveryNameServers: servers } = delivery;
  const out = new UndiciHttpOut({
    allowPrivate: destinations.allowPrivateDestinations,
    allow: destinations.destinationAllow,
    socketsPerOrigin: delivery.deliveryPerOrigin,
    connectTimeoutMs: delivery.deliveryConnectTimeoutMs,
    lookupTimeoutMs: delivery.deliveryLookupTimeoutMs,
    maxLookups: delivery.deliveryLookups,
    resolve: resolverOfThisMachine({ servers: servers.length > 0 ? servers : undefined }),
    maxOverheadBytes: delivery.deliveryOverheadBytes,
    maxAnswerBytes: delivery.deliveryAnswerBytes,
    metrics,
  });
  metrics.gauge('millrace_delivery_answer_bytes', () => out.answers.usedBytes);
  return out;
}

/** Objects of an hour ago are written or given up. */
const OBJECTS_EVERY_MS = 3_600_000;
const SESSIONS_EVERY_MS = 60_000;

/** What was left behind by those who ended in the middle. */
function sweepsOf(c: DependencyContainer, keeping: BackupRole): Sweeps {
  const { connections, names } = c.resolve(tokens.WORLD);
  const control = c.resolve(tokens.CONTROL);
  const sessions = new SessionSweep(c.resolve(tokens.LEASES), c.resolve(tokens.CLOCK));
  const objects = new JetStreamObjectStore(connections, names);
  return new Sweeps({
    isOwner: () => control.isOwner(),
    timers: c.resolve(tokens.TIMERS),
    log: c.resolve(tokens.LOG),
    sweeps: [
      { name: 'sessions', everyMs: SESSIONS_EVERY_MS, run: () => sessions.look() },
      { name: 'moments', everyMs: OBJECTS_EVERY_MS, run: () => keeping.sweep() },
      { name: 'objects', everyMs: OBJECTS_EVERY_MS, run: () => objects.sweepLoose() },
    ],
  });
}
