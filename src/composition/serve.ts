import type { DependencyContainer } from 'tsyringe';
import { DailyBackups, DeletedData, Sweeps } from '../actors/control/index.js';
import { KvDeliveries, PartitionRemoval, ProcessFacts } from '../actors/kv-shard/index.js';
import { SessionSweep } from '../actors/runtime/index.js';
import { resolverOfThisMachine, UndiciHttpOut } from '../adapters/http-delivery/index.js';
import { startHealthServer } from '../adapters/http-health/index.js';
import { JetStreamIntakeLog, JetStreamObjectStore, streamSizes } from '../adapters/nats/index.js';
import { DiskUsage, DiskWatch, NodeReadings, openKeyFile, WorkerCompactor } from '../adapters/node/index.js';
import type { Config } from '../config/index.js';
import { DEFAULT_COMPACTION_LIMITS } from '../journal/index.js';
import {
  type Backups,
  type DataRemoval,
  type Metrics,
  type ReadModelCare,
  ROOMY,
  type StorageGauge,
} from '../ports/index.js';
import { type BackupRole, backupRole } from './backup-role.js';
import type { CompactorWorld } from './compactor-worker.js';
import { type ControlRole, controlRole, type MadeCredentials } from './control-role.js';
import { at, startFaces } from './faces.js';
import { healthChecks, untilReady } from './health-checks.js';
import { type JournalTotal, journalTotalOf } from './journal-total.js';
import { kvGateway } from './kv-gateway.js';
import { kvRole } from './kv-role.js';
import { type NatsWorld, openNatsWorld } from './nats-world.js';
import { basicParts, natsParts } from './process-parts.js';
import { type ProjectionRole, projectionRole, remoteReadModels, remoteStatistics } from './projection-role.js';
import { queueRole } from './queue-role.js';
import { remoteSearch, type SearchRole, type SearchRoleOptions, searchRole } from './search-role.js';
import * as tokens from './tokens.js';
import { VERSION } from './version.js';

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

type Undo = () => Promise<void> | void;

/** @throws MillraceError with one clear line; whatever was started is stopped again */
export async function startProcess(config: Config, warnings: readonly string[]): Promise<RunningProcess> {
  const undo: Undo[] = [];
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
  undo: Undo[],
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
  const has = (role: Config['process']['roles'][number]) => config.process.roles.includes(role);
  const canOwn = has('kv') || has('queue');
  natsParts(c, world, canOwn);

  const membership = c.resolve(tokens.MEMBERSHIP);
  membership.start();
  undo.push(() => membership.stop());
  const session = c.resolve(tokens.SESSION);
  await session.start();
  undo.push(() => session.close());

  c.registerInstance(tokens.SEALING, await openKeyFile(config.storage.sealKeyFile, c.resolve(tokens.RANDOM)));

  const journalTotal = await journalTotalOf(config, world);
  const compactor = new WorkerCompactor<CompactorWorld>({
    entry: new URL('./compactor-worker.js', import.meta.url),
    world: { nats: world.options, prefix: config.nats.natsPrefix, limits: compactionLimitsOf(config, journalTotal) },
    log,
  });
  undo.push(() => compactor.close());
  const facts = factsOf(c, session.id);
  const control = controlRole(c, { world, compactor, ownsShard: canOwn });
  undo.push(() => control.stop());
  const storage = storageOf(c, world, undo);
  const deliveries = new KvDeliveries(c.resolve(tokens.BUS));
  const kv = has('kv')
    ? kvRole(c, {
        isExclusive: world.isExclusive,
        compactor,
        storage,
        facts,
        meter: control.meter,
        dataLimits: control.dataLimits,
        deliveries,
      })
    : undefined;
  kv?.start();
  if (kv !== undefined) undo.push(() => kv.stop());
  const intake = new JetStreamIntakeLog(world.connections, world.names, c.resolve(tokens.JOURNAL));
  const http = httpOutOf(config, c.resolve(tokens.METRICS));
  undo.push(() => http.close());
  const { accounts } = control;
  const { isExclusive } = world;
  const queue = has('queue') ? queueRole(c, { isExclusive, compactor, storage, intake, http, accounts }) : undefined;
  queue?.start();
  if (queue !== undefined) undo.push(() => queue.stop());
  const meterCountedUpTo = () => control.view.state.meterPosition;
  const readModels = has('projection') ? projectionRole(c, { world, accounts, meterCountedUpTo }) : undefined;
  await readModels?.start();
  if (readModels !== undefined) undo.push(() => readModels.stop());
  const searches = has('projection') ? searchRole(c, { world, ...searchIndexesOf(control) }) : undefined;
  await searches?.start();
  if (searches !== undefined) undo.push(() => searches.stop());
  const credentials = await control.start();

  const gateway = kvGateway(c, world, kv?.host);
  const keeping = backupRole(c, { world, gateway, control: control.client, view: control.view });
  undo.push(() => keeping.stop());
  const removal = new PartitionRemoval({ gateway, timers: c.resolve(tokens.TIMERS), log });
  undo.push(() => removal.stop());
  for (const duty of [...controlDuties(c, control, keeping.backups, removal), sweepsOf(c, world, control, keeping)]) {
    duty.start();
    undo.push(() => duty.stop());
  }

  const addresses: string[] = [];
  if (has('edge')) {
    addresses.push(
      ...(await startFaces(c, undo, {
        world,
        control,
        deliveries,
        gateway,
        backups: keeping.backups,
        removal,
        queueHost: queue?.host,
        intake,
        http,
        models: {
          readModels: readModels?.readModels ?? remoteReadModels(c),
          statistics: readModels?.statistics ?? remoteStatistics(c),
          search: searches?.search ?? remoteSearch(c),
          care: careOf(readModels, searches),
        },
      })),
    );
  }
  const usage = new DiskUsage({
    dataDir: config.storage.dataDir,
    streamSizes: () => streamSizes(world.connections, world.names, world.layout),
    total: journalTotal,
    metrics,
    timers: c.resolve(tokens.TIMERS),
    log,
  });
  undo.push(() => usage.stop());
  void usage.start();
  const hosts = [kv?.host, queue?.host].filter((host) => host !== undefined);
  const checks = healthChecks(world, { clocks: c.resolve(tokens.CLOCK_WATCH), hosts, control, readModels, searches });
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
  const timers = c.resolve(tokens.TIMERS);
  const ready = untilReady(checks, { timers, clock: c.resolve(tokens.CLOCK), log }).then(() => {
    log.info('process.ready', { session: session.id, nats: world.serverVersion, roles: config.process.roles });
  });
  return { addresses, ready, credentials, failed, stop };
}

/** What INFO says. The face listens long after the first database was loaded: it is looked for at each question. */
function factsOf(c: DependencyContainer, runId: string): ProcessFacts {
  const { scriptMs, scriptHoldMs } = c.resolve(tokens.CONFIG).bounds;
  const face = () => (c.isRegistered(tokens.NATIVE_FACE) ? c.resolve(tokens.NATIVE_FACE) : undefined);
  const scripts = { totalMs: scriptMs, holdMs: scriptHoldMs };
  const ports = { clock: c.resolve(tokens.CLOCK), readings: new NodeReadings(), face };
  return new ProcessFacts(ports, { runId, version: VERSION, scripts });
}

/** Of an embedded server's disk; a cluster's servers have disks of their own, which their operators watch. */
function storageOf(c: DependencyContainer, world: NatsWorld, undo: Undo[]): StorageGauge {
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

/** What the owner of the control shard does beside answering, with the data of databases. */
function controlDuties(c: DependencyContainer, control: ControlRole, backups: Backups, removal: DataRemoval) {
  const shared = {
    state: () => control.view.state,
    isOwner: () => control.isOwner(),
    clock: c.resolve(tokens.CLOCK),
    timers: c.resolve(tokens.TIMERS),
  };
  return [
    new DailyBackups({ ...shared, control: control.client, backups, log: c.resolve(tokens.LOG) }),
    new DeletedData({ ...shared, removal }),
  ];
}

/** Objects of an hour ago are written or given up. */
const OBJECTS_EVERY_MS = 3_600_000;
const SESSIONS_EVERY_MS = 60_000;

/** What was left behind by those who ended in the middle. */
function sweepsOf(
  c: DependencyContainer,
  { connections, names }: NatsWorld,
  control: ControlRole,
  keeping: BackupRole,
): Sweeps {
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

function searchIndexesOf({
  search,
}: Pick<ControlRole, 'search'>): Pick<SearchRoleOptions, 'indexes' | 'onIndexesChanged'> {
  return {
    *indexes() {
      for (const { id } of search.searchIndexes()) yield id;
    },
    onIndexesChanged: (changed) => search.whenSearchIndexesChange(changed),
  };
}

function careOf(models: ProjectionRole | undefined, searches: SearchRole | undefined): ReadModelCare | undefined {
  if (models === undefined || searches === undefined) return undefined;
  return { rebuild: (model) => (model === 'search' ? searches.rebuild() : models.rebuild(model)) };
}
