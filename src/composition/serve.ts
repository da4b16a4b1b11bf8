import type { DependencyContainer } from 'tsyringe';
import { DailyBackups, DeletedData } from '../actors/control/index.js';
import { type KvHub, PartitionRemoval } from '../actors/kv-shard/index.js';
import { UndiciHttpOut } from '../adapters/http-delivery/index.js';
import { startHealthServer } from '../adapters/http-health/index.js';
import { JetStreamIntakeLog } from '../adapters/nats/index.js';
import { DiskWatch, WorkerCompactor } from '../adapters/node/index.js';
import { encodeKvDelivery } from '../codec/remote/index.js';
import type { Config } from '../config/index.js';
import { DEFAULT_COMPACTION_LIMITS } from '../journal/index.js';
import type { SessionId } from '../kernel/index.js';
import type { KvDelivery } from '../messages/index.js';
import { type Backups, type DataRemoval, type ReadModelCare, ROOMY, type StorageGauge } from '../ports/index.js';
import { backupRole } from './backup-role.js';
import type { CompactorWorld } from './compactor-worker.js';
import { type ControlRole, controlRole } from './control-role.js';
import { at, startFaces } from './faces.js';
import { healthChecks } from './health-checks.js';
import { kvGateway } from './kv-gateway.js';
import { kvRole } from './kv-role.js';
import { type NatsWorld, openNatsWorld } from './nats-world.js';
import { basicParts, natsParts } from './process-parts.js';
import { type ProjectionRole, projectionRole, remoteReadModels, remoteStatistics } from './projection-role.js';
import { queueRole } from './queue-role.js';
import { remoteSearch, type SearchRole, type SearchRoleOptions, searchRole } from './search-role.js';
import { ProcessFacts } from './server-facts.js';
import * as tokens from './tokens.js';

export interface RunningProcess {
  /** `name=url`, in the order they are listed on the ready line. */
  readonly addresses: readonly string[];
  /** What the first start made, a line each; shown once. */
  readonly credentials: string | undefined;
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

  const compactor = new WorkerCompactor<CompactorWorld>({
    entry: new URL('./compactor-worker.js', import.meta.url),
    world: { nats: world.options, prefix: config.nats.natsPrefix, limits: compactionLimitsOf(config) },
    log,
  });
  undo.push(() => compactor.close());
  const facts = new ProcessFacts(c.resolve(tokens.CLOCK), session.id);
  const control = controlRole(c, { world, compactor, ownsShard: canOwn });
  undo.push(() => control.stop());
  const storage = storageOf(c, world, undo);
  const hubs: KvHub[] = [];
  const bus = c.resolve(tokens.BUS);
  const deliver = (edge: SessionId, delivery: KvDelivery) => {
    const hub = hubs.find((candidate) => candidate.edge === edge);
    if (hub !== undefined) hub.receive(delivery);
    else bus.publish({ kind: 'edge', session: edge }, encodeKvDelivery(delivery));
  };
  const kv = has('kv')
    ? kvRole(c, {
        isExclusive: world.isExclusive,
        compactor,
        storage,
        facts,
        meter: control.meter,
        dataLimits: control.dataLimits,
        deliver,
      })
    : undefined;
  kv?.start();
  if (kv !== undefined) undo.push(() => kv.stop());
  const intake = new JetStreamIntakeLog(world.connections, world.names, c.resolve(tokens.JOURNAL));
  const http = httpOutOf(config);
  undo.push(() => http.close());
  const { accounts } = control;
  const { isExclusive } = world;
  const queue = has('queue') ? queueRole(c, { isExclusive, compactor, storage, intake, http, accounts }) : undefined;
  queue?.start();
  if (queue !== undefined) undo.push(() => queue.stop());
  const readModels = has('projection') ? projectionRole(c, { world, accounts }) : undefined;
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
  for (const duty of controlDuties(c, control, keeping.backups, removal)) {
    duty.start();
    undo.push(() => duty.stop());
  }

  const addresses: string[] = [];
  if (has('edge')) {
    addresses.push(
      ...(await startFaces(c, undo, {
        world,
        control,
        facts,
        hubs,
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
  const hosts = [kv?.host, queue?.host].filter((host) => host !== undefined);
  const health = await startHealthServer({
    host: config.faces.host,
    port: config.faces.metricsPort,
    checks: healthChecks(world, { hosts, control, readModels, searches }),
    metrics: () => metrics.page(),
    timers: c.resolve(tokens.TIMERS),
    log,
  });
  undo.push(() => health.close());
  addresses.push(`metrics=http://${at(health.host, health.port)}`);
  log.info('process.ready', { session: session.id, nats: world.serverVersion, roles: config.process.roles });
  return { addresses, credentials, failed, stop };
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

function compactionLimitsOf(config: Config): CompactorWorld['limits'] {
  const { ageMs, bytes } = config.storage.auditRetention;
  const retention = { maxAgeMs: ageMs ?? Number.POSITIVE_INFINITY, maxBytes: bytes ?? Number.POSITIVE_INFINITY };
  return { ...DEFAULT_COMPACTION_LIMITS, retention };
}

function httpOutOf({ destinations, delivery }: Config): UndiciHttpOut {
  return new UndiciHttpOut({
    allowPrivate: destinations.allowPrivateDestinations,
    allow: destinations.destinationAllow,
    socketsPerOrigin: delivery.deliveryPerOrigin,
    connectTimeoutMs: delivery.deliveryConnectTimeoutMs,
  });
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
