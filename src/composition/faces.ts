/** The faces of this process: every port on which clients are served, opened one after the other. */
import { readFile } from 'node:fs/promises';
import type { DependencyContainer } from 'tsyringe';
import { type KvDeliveries, KvHub, REDIS_VERSION } from '../actors/kv-shard/index.js';
import type { QueueWork } from '../actors/queue/index.js';
import type { ShardHost } from '../actors/runtime/index.js';
import { shardNames } from '../adapters/nats/index.js';
import { AuditThreads } from '../adapters/node/index.js';
import type { Config } from '../config/index.js';
import { AclCommands, createKvServer, type createQueueServer, createRespServer, SignInGuard } from '../edge/index.js';
import { ByteBudget, describeError, MillraceError } from '../kernel/index.js';
import { CONTROL_SHARD, METER_SHARD } from '../messages/index.js';
import type {
  Backups,
  DataRemoval,
  HttpOut,
  IntakeLog,
  KvGateway,
  MessageLog,
  ReadModelCare,
  RunLog,
  SearchQueries,
  Statistics,
} from '../ports/index.js';
import type { AuditedWorld } from './audit-worker.js';
import type { ControlRole } from './control-role.js';
import { managementFace } from './management-edge.js';
import type { NatsWorld } from './nats-world.js';
import { queueFace } from './queue-edge.js';
import * as tokens from './tokens.js';

export interface FaceWorld {
  readonly world: NatsWorld;
  readonly control: ControlRole;
  readonly deliveries: KvDeliveries;
  readonly gateway: KvGateway;
  readonly backups: Backups;
  readonly removal: DataRemoval;
  /** Undefined in a process that owns none. */
  readonly queueHost: ShardHost<QueueWork> | undefined;
  readonly intake: IntakeLog;
  readonly http: HttpOut;
  /** Of this process, or another's. */
  readonly models: {
    readonly readModels: MessageLog & RunLog;
    readonly statistics: Statistics;
    readonly search: SearchQueries;
    /** Of this process; undefined where it keeps none. */
    readonly care: ReadModelCare | undefined;
  };
}

type Undo = () => Promise<void> | void;

/**
 * @param undo takes what ends each face
 * @returns `name=url` of each, for the ready line
 * @throws BAD_CONFIG when a port cannot be listened on
 */
export async function startFaces(c: DependencyContainer, undo: Undo[], parts: FaceWorld): Promise<string[]> {
  const { world, control, deliveries, gateway, backups, removal, queueHost, intake, http, models } = parts;
  const config = c.resolve(tokens.CONFIG);
  const clock = c.resolve(tokens.CLOCK);
  const timers = c.resolve(tokens.TIMERS);
  const log = c.resolve(tokens.LOG);
  const { host, kvPort, queuePort, mgmtPort, respPort } = config.faces;
  const secured = await tlsOf(config);
  const [httpScheme, respScheme] = secured.tls === undefined ? ['http', 'redis'] : ['https', 'rediss'];
  const deadline = () => AbortSignal.timeout(config.process.shutdownMs / 2);

  const events = new KvHub(gateway, timers, log, c.resolve(tokens.SESSION).processId);
  const ear = deliveries.hear(events);
  undo.push(() => ear.stop());
  const users = new AclCommands({
    admin: control.users,
    clock,
    random: c.resolve(tokens.RANDOM),
    gateway,
    minSecretCharacters: config.signIn.secretMinCharacters,
  });
  const { access, freshness, quota, meter, accounts } = control;
  const budget = new ByteBudget(c.resolve(tokens.MEMORY).requestBytes);
  const faceLog = c.resolve(tokens.FACE_LOG);
  const shared = { budget, gateway, events, access, freshness, quota, meter, clock, timers, log: faceLog };
  // What can never fit is said to be too large, not to come too early.
  const options = faceOptionsOf(config, budget.maxTenantBytes);
  const metrics = c.resolve(tokens.METRICS);
  metrics.gauge('millrace_request_bytes', () => budget.usedBytes);
  metrics.gauge('millrace_request_limit_bytes', () => budget.limitBytes);
  // It tells once a minute by itself, a line for each face.
  const guard = new SignInGuard({ clock, timers, log, metrics }, config.signIn.signInFailures);

  const kv = createKvServer({
    ...shared,
    users,
    signIns: guard.of('rest'),
    trustedProxies: config.faces.trustedProxies,
    ...options,
    ...secured,
  });
  const kvAt = at(host, (await listening(kv.listen(kvPort, host), 'MILLRACE_KV_PORT', kvPort)).port);
  undo.push(() => kv.close(deadline()));

  const queue = queueFace(c, {
    world,
    host: queueHost,
    accounts,
    intake,
    http,
    readModels: models.readModels,
    face: { ...withoutBodyLimit(options), ...secured, budget, freshness, signIns: guard.of('queue') },
  });
  const queueAt = at(host, (await listening(queue.listen(queuePort, host), 'MILLRACE_QUEUE_PORT', queuePort)).port);
  undo.push(() => queue.close(deadline()));

  const urls = [`kv=${httpScheme}://${kvAt}`, `queue=${httpScheme}://${queueAt}`];
  let shownRespPort = 0;
  let respAt: string | undefined;
  if (respPort > 0) {
    const resp = createRespServer({
      ...shared,
      acl: users,
      signIns: guard.of('resp'),
      redisVersion: REDIS_VERSION,
      ...respOptionsOf(config),
      ...secured,
    });
    const bound = await listening(resp.listen(respPort, host), 'MILLRACE_RESP_PORT', respPort);
    undo.push(() => resp.close(deadline()));
    c.registerInstance(tokens.NATIVE_FACE, {
      host,
      port: bound.port,
      maxClients: config.http.httpMaxConnections,
      counts: () => resp.counts(),
    });
    shownRespPort = bound.port;
    respAt = `resp=${respScheme}://${at(host, bound.port)}`;
  }

  const { kv: kvShards, queue: queueShards } = shardNames(world.layout);
  const audit = new AuditThreads<AuditedWorld>({
    entry: new URL('./audit-worker.js', import.meta.url),
    world: {
      nats: world.options,
      prefix: config.nats.natsPrefix,
      kvShards: kvShards.length,
      queueShards: queueShards.length,
      shards: [CONTROL_SHARD, ...kvShards, ...queueShards],
      logs: [METER_SHARD],
    },
    log,
  });
  undo.push(() => audit.stop());
  let mgmtAt = at(host, mgmtPort);
  const management = managementFace(c, {
    control,
    gateway,
    backups,
    removal,
    queries: models.search,
    statistics: models.statistics,
    messageLog: models.readModels,
    audit,
    care: models.care,
    addresses: {
      kv: kvAt,
      queue: queueAt,
      get search() {
        return mgmtAt;
      },
    },
    respPort: shownRespPort,
    guard,
    face: { ...withoutBodyLimit(options), ...secured, budget, freshness },
  });
  mgmtAt = at(host, (await listening(management.listen(mgmtPort, host), 'MILLRACE_MGMT_PORT', mgmtPort)).port);
  undo.push(() => management.close(deadline()));
  urls.push(`mgmt=${httpScheme}://${mgmtAt}`);
  if (respAt !== undefined) urls.push(respAt);
  return urls;
}

function faceOptionsOf(
  { http, faces, bounds, ownership }: Config,
  maxBodyBytes: number,
): Pick<Parameters<typeof createKvServer>[0], 'limits' | 'aliases'> {
  return {
    limits: {
      headersTimeoutMs: http.httpHeadersTimeoutMs,
      requestTimeoutMs: http.httpRequestTimeoutMs,
      connectionsCheckingIntervalMs: http.httpConnectionsCheckMs,
      keepAliveTimeoutMs: http.httpKeepAliveMs,
      maxConnections: http.httpMaxConnections,
      maxConnectionsPerAddress: http.httpMaxConnectionsPerAddress,
      maxBodyBytes: Math.min(http.httpMaxBodyBytes, maxBodyBytes),
      maxAnswerBytes: bounds.maxAnswerBytes,
      maxRoomWaitMs: ownership.requestHoldMs,
    },
    aliases: faces.wireAlias === undefined ? [] : [faces.wireAlias],
  };
}

/** A message is bounded by its account's plan, and the management API by its own defaults. */
function withoutBodyLimit({
  limits = {},
  aliases = [],
}: ReturnType<typeof faceOptionsOf>): Pick<Parameters<typeof createQueueServer>[0], 'limits' | 'aliases'> {
  const { maxBodyBytes: _, maxAnswerBytes: __, maxRoomWaitMs: ___, ...shared } = limits;
  return { limits: shared, aliases };
}

function respOptionsOf({ http, ownership }: Config): Pick<Parameters<typeof createRespServer>[0], 'limits'> {
  const { httpMaxConnections: maxConnections, httpMaxConnectionsPerAddress: maxConnectionsPerAddress } = http;
  const { requestHoldMs: holdMs } = ownership;
  return { limits: { maxConnections, maxConnectionsPerAddress, maxDoubtMs: holdMs, maxRoomWaitMs: holdMs } };
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

export function at(host: string, port: number): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}
