/**
 * A whole process: its roles started in order, one `ready` line when every port accepts, and all of it
 * taken down in reverse when a signal says so.
 */
import { readFile } from 'node:fs/promises';
import type { DependencyContainer } from 'tsyringe';
import { KvHub, KvShardGateway } from '../actors/kv-shard/index.js';
import { ShardCaller } from '../actors/runtime/index.js';
import { UndiciHttpOut } from '../adapters/http-delivery/index.js';
import { startHealthServer } from '../adapters/http-health/index.js';
import { JetStreamIntakeLog } from '../adapters/nats/index.js';
import { DiskWatch, WorkerCompactor } from '../adapters/node/index.js';
import { decodeKvDelivery, encodeKvDelivery } from '../codec/remote/index.js';
import type { Config } from '../config/index.js';
import { AclCommands, createKvServer, type createQueueServer, createRespServer } from '../edge/index.js';
import { DEFAULT_COMPACTION_LIMITS } from '../journal/index.js';
import { describeError, MillraceError, type SessionId } from '../kernel/index.js';
import type { KvDelivery } from '../messages/index.js';
import { ROOMY, type StorageGauge } from '../ports/index.js';
import type { CompactorWorld } from './compactor-worker.js';
import { controlRole } from './control-role.js';
import { healthChecks } from './health-checks.js';
import { kvRole } from './kv-role.js';
import { type NatsWorld, openNatsWorld } from './nats-world.js';
import { basicParts, natsParts } from './process-parts.js';
import { projectionRole, remoteReadModels } from './projection-role.js';
import { queueFace } from './queue-edge.js';
import { queueRole } from './queue-role.js';
import { callLimitsOf } from './runtime-parts.js';
import { ProcessFacts, REDIS_VERSION } from './server-facts.js';
import * as tokens from './tokens.js';

/** Between two looks for an owner, while a request is held. */
const ROUTE_RETRY_MS = 50;

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
  const kv = has('kv') ? kvRole(c, { isExclusive: world.isExclusive, compactor, storage, facts, deliver }) : undefined;
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
  const credentials = await control.start();

  const addresses: string[] = [];
  if (has('edge')) {
    const gateway = gatewayOf(c, world, kv?.host);
    const events = new KvHub(gateway, c.resolve(tokens.TIMERS), log, session.processId);
    hubs.push(events);
    const ear = bus.subscribe({ kind: 'edge', session: events.edge }, (payload) =>
      events.receive(decodeKvDelivery(payload)),
    );
    undo.push(() => ear.stop());
    const clock = c.resolve(tokens.CLOCK);
    const users = new AclCommands({ admin: control.users, clock, random: c.resolve(tokens.RANDOM) });
    const { access, quota, meter } = control;
    const shared = { gateway, events, access, quota, meter, clock, timers: c.resolve(tokens.TIMERS), log };
    const secured = await tlsOf(config);
    const server = createKvServer({ ...shared, users, ...faceOptionsOf(config), ...secured });
    const { host, kvPort, queuePort, respPort } = config.faces;
    const address = await listening(server.listen(kvPort, host), 'MILLRACE_KV_PORT', kvPort);
    undo.push(() => server.close(AbortSignal.timeout(config.process.shutdownMs / 2)));
    addresses.push(`kv=${config.faces.tlsCert === undefined ? 'http' : 'https'}://${at(host, address.port)}`);
    const messages = queueFace(c, {
      world,
      host: queue?.host,
      accounts,
      intake,
      http,
      readModels: readModels?.readModels ?? remoteReadModels(c),
      face: { ...queueFaceOptionsOf(config), ...secured },
    });
    const bound = await listening(messages.listen(queuePort, host), 'MILLRACE_QUEUE_PORT', queuePort);
    undo.push(() => messages.close(AbortSignal.timeout(config.process.shutdownMs / 2)));
    addresses.push(`queue=${config.faces.tlsCert === undefined ? 'http' : 'https'}://${at(host, bound.port)}`);
    if (respPort > 0) {
      const resp = createRespServer({
        ...shared,
        acl: users,
        redisVersion: REDIS_VERSION,
        ...respOptionsOf(config),
        ...secured,
      });
      const bound = await listening(resp.listen(respPort, host), 'MILLRACE_RESP_PORT', respPort);
      undo.push(() => resp.close(AbortSignal.timeout(config.process.shutdownMs / 2)));
      facts.face = {
        host,
        port: bound.port,
        maxClients: config.http.httpMaxConnections,
        connections: () => resp.connections,
        accepted: () => resp.accepted,
      };
      addresses.push(`resp=${config.faces.tlsCert === undefined ? 'redis' : 'rediss'}://${at(host, bound.port)}`);
    }
  }
  const hosts = [kv?.host, queue?.host].filter((host) => host !== undefined);
  const health = await startHealthServer({
    host: config.faces.host,
    port: config.faces.metricsPort,
    checks: healthChecks(world, { hosts, control, readModels }),
    metrics: () => metrics.page(),
    timers: c.resolve(tokens.TIMERS),
    log,
  });
  undo.push(() => health.close());
  addresses.push(`metrics=http://${at(health.host, health.port)}`);
  log.info('process.ready', { session: session.id, nats: world.serverVersion, roles: config.process.roles });
  return { addresses, credentials, failed, stop };
}

function gatewayOf(
  c: DependencyContainer,
  world: NatsWorld,
  host: ReturnType<typeof kvRole>['host'] | undefined,
): KvShardGateway {
  const config = c.resolve(tokens.CONFIG);
  const clock = c.resolve(tokens.CLOCK);
  const timers = c.resolve(tokens.TIMERS);
  const random = c.resolve(tokens.RANDOM);
  const caller = world.isExclusive
    ? undefined
    : new ShardCaller(c.resolve(tokens.BUS), clock, timers, random, callLimitsOf(config));
  const limits = { holdMs: config.ownership.requestHoldMs, retryEveryMs: ROUTE_RETRY_MS };
  return new KvShardGateway({ clock, timers, caller, host }, limits, world.layout.kvShards);
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

function faceOptionsOf({ http, faces }: Config): Pick<Parameters<typeof createKvServer>[0], 'limits' | 'aliases'> {
  return {
    limits: {
      headersTimeoutMs: http.httpHeadersTimeoutMs,
      requestTimeoutMs: http.httpRequestTimeoutMs,
      connectionsCheckingIntervalMs: http.httpConnectionsCheckMs,
      keepAliveTimeoutMs: http.httpKeepAliveMs,
      maxConnections: http.httpMaxConnections,
      maxConnectionsPerAddress: http.httpMaxConnectionsPerAddress,
      maxBodyBytes: http.httpMaxBodyBytes,
    },
    aliases: faces.wireAlias === undefined ? [] : [faces.wireAlias],
  };
}

/** A message is bounded by its account's plan, and the face by its own defaults. */
function queueFaceOptionsOf(config: Config): Pick<Parameters<typeof createQueueServer>[0], 'limits' | 'aliases'> {
  const { limits = {}, aliases = [] } = faceOptionsOf(config);
  const { maxBodyBytes: _, ...shared } = limits;
  return { limits: shared, aliases };
}

function httpOutOf({ destinations, delivery }: Config): UndiciHttpOut {
  return new UndiciHttpOut({
    allowPrivate: destinations.allowPrivateDestinations,
    allow: destinations.destinationAllow,
    socketsPerOrigin: delivery.deliveryPerOrigin,
    connectTimeoutMs: delivery.deliveryConnectTimeoutMs,
  });
}

function respOptionsOf({ http }: Config): Pick<Parameters<typeof createRespServer>[0], 'limits'> {
  const { httpMaxConnections: maxConnections, httpMaxConnectionsPerAddress: maxConnectionsPerAddress } = http;
  return { limits: { maxConnections, maxConnectionsPerAddress } };
}

async function tlsOf({ faces }: Config): Promise<{ tls?: { cert: Buffer; key: Buffer } }> {
  if (faces.tlsCert === undefined || faces.tlsKey === undefined) return {};
  const [cert, key] = await Promise.all([
    fileOf(faces.tlsCert, 'MILLRACE_TLS_CERT'),
    fileOf(faces.tlsKey, 'MILLRACE_TLS_KEY'),
  ]);
  return { tls: { cert, key } };
}

async function fileOf(path: string, variable: string): Promise<Buffer> {
  try {
    return await readFile(path);
  } catch (cause) {
    throw new MillraceError('BAD_CONFIG', `${variable}: cannot read ${path}`, {}, cause);
  }
}

async function listening<T>(listen: Promise<T>, variable: string, port: number): Promise<T> {
  try {
    return await listen;
  } catch (cause) {
    throw new MillraceError(
      'BAD_CONFIG',
      `${variable}: cannot listen on port ${port}: ${describeError(cause)}`,
      {},
      cause,
    );
  }
}

function at(host: string, port: number): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}
