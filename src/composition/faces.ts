/** The faces of this process: every port on which clients are served, opened one after the other. */
import { readFile } from 'node:fs/promises';
import type { DependencyContainer } from 'tsyringe';
import { KvHub, REDIS_VERSION } from '../actors/kv-shard/index.js';
import { shardNames } from '../adapters/nats/index.js';
import { AuditThreads } from '../adapters/node/index.js';
import type { Config } from '../config/index.js';
import {
  AclCommands,
  BroadcastQueue,
  createKvServer,
  type createQueueServer,
  createRespServer,
  SignInGuard,
} from '../edge/index.js';
import { ByteBudget, describeError, MillraceError } from '../kernel/index.js';
import { CONTROL_SHARD, METER_SHARD } from '../messages/index.js';
import type { AuditedWorld } from './audit-worker.js';
import { managementFace } from './management-edge.js';
import { queueFace } from './queue-edge.js';
import * as tokens from './tokens.js';

/** What ends the parts of a process, the last one first. */
export type Undo = (() => Promise<void> | void)[];

/** Where each face can be reached: `host:port`. */
interface Addresses {
  kv: string;
  queue: string;
  search: string;
}

/**
 * @param undo takes what ends each face
 * @returns `name=url` of each, for the ready line
 * @throws BAD_CONFIG when a port cannot be listened on
 */
export async function startFaces(c: DependencyContainer, undo: Undo): Promise<string[]> {
  const config = c.resolve(tokens.CONFIG);
  const { host, kvPort, queuePort, mgmtPort } = config.faces;
  const secured = await tlsOf(config);
  const [httpScheme, respScheme] = secured.tls === undefined ? ['http', 'redis'] : ['https', 'rediss'];
  const deadline = () => AbortSignal.timeout(config.process.shutdownMs / 2);
  const open = async (face: Face, variable: string, port: number) => {
    const bound = await listening(face.listen(port, host), variable, port);
    undo.push(() => face.close(deadline()));
    return at(host, bound.port);
  };
  const shared = sharedParts(c, undo);
  const { budget, freshness, guard } = shared;
  // What can never fit is said to be too large, not to come too early.
  const options = faceOptionsOf(config, budget.maxTenantBytes);

  const kv = createKvServer({
    ...shared,
    signIns: guard.of('rest'),
    trustedProxies: config.faces.trustedProxies,
    ...options,
    ...secured,
  });
  const kvAt = await open(kv, 'MILLRACE_KV_PORT', kvPort);
  const face = { ...withoutBodyLimit(options), ...secured, budget, freshness };
  const queue = queueFace(c, { ...face, signIns: guard.of('queue') });
  const queueAt = await open(queue, 'MILLRACE_QUEUE_PORT', queuePort);
  const native = await nativeFace(c, undo, { ...shared, ...secured }, deadline);

  const audit = auditThreads(c);
  undo.push(() => audit.stop());
  const addresses: Addresses = { kv: kvAt, queue: queueAt, search: at(host, mgmtPort) };
  const management = managementFace(c, { audit, addresses, respPort: native?.port ?? 0, guard, face });
  addresses.search = await open(management, 'MILLRACE_MGMT_PORT', mgmtPort);
  const ofHttp = [
    `kv=${httpScheme}://${kvAt}`,
    `queue=${httpScheme}://${queueAt}`,
    `mgmt=${httpScheme}://${addresses.search}`,
  ];
  return native === undefined ? ofHttp : [...ofHttp, `resp=${respScheme}://${at(host, native.port)}`];
}

interface Face {
  listen(port: number, host: string): Promise<{ readonly port: number }>;
  close(deadline: AbortSignal): Promise<void>;
}

/** What the faces of databases have in common, and some of it the others too. */
function sharedParts(c: DependencyContainer, undo: Undo) {
  const { clock, timers, random, metrics } = tokens.portsOf(c);
  const gateway = c.resolve(tokens.GATEWAY);
  const { signIn } = c.resolve(tokens.CONFIG);
  const { access, freshness, quota, meter, users: admin } = c.resolve(tokens.CONTROL);
  const broadcasts = new BroadcastQueue(clock, timers);
  const events = new KvHub(gateway, timers, c.resolve(tokens.LOG), c.resolve(tokens.SESSION).processId, broadcasts);
  const ear = c.resolve(tokens.DELIVERIES).hear(events);
  undo.push(() => ear.stop());
  const users = new AclCommands({ admin, clock, random, gateway, minSecretCharacters: signIn.secretMinCharacters });
  const budget = new ByteBudget(c.resolve(tokens.MEMORY).requestBytes);
  metrics.gauge('millrace_request_bytes', () => budget.usedBytes);
  metrics.gauge('millrace_request_limit_bytes', () => budget.limitBytes);
  // It tells once a minute by itself, a line for each face.
  const guard = new SignInGuard({ clock, timers, log: c.resolve(tokens.LOG), metrics }, signIn.signInFailures);
  const log = c.resolve(tokens.FACE_LOG);
  return { budget, gateway, events, broadcasts, users, access, freshness, quota, meter, clock, timers, log, guard };
}

type NativeParts = ReturnType<typeof sharedParts> & Awaited<ReturnType<typeof tlsOf>>;

/** @returns undefined where it is off */
async function nativeFace(
  c: DependencyContainer,
  undo: Undo,
  { users: acl, guard, ...shared }: NativeParts,
  deadline: () => AbortSignal,
): Promise<{ readonly port: number } | undefined> {
  const config = c.resolve(tokens.CONFIG);
  const { host, respPort } = config.faces;
  if (respPort === 0) return undefined;
  const resp = createRespServer({
    ...shared,
    acl,
    signIns: guard.of('resp'),
    redisVersion: REDIS_VERSION,
    ...respOptionsOf(config),
  });
  const { port } = await listening(resp.listen(respPort, host), 'MILLRACE_RESP_PORT', respPort);
  undo.push(() => resp.close(deadline()));
  const maxClients = config.http.httpMaxConnections;
  c.registerInstance(tokens.NATIVE_FACE, { host, port, maxClients, counts: () => resp.counts() });
  return { port };
}

function auditThreads(c: DependencyContainer): AuditThreads<AuditedWorld> {
  const { options: nats, layout } = c.resolve(tokens.WORLD);
  const { kv, queue } = shardNames(layout);
  return new AuditThreads<AuditedWorld>({
    entry: new URL('./audit-worker.js', import.meta.url),
    world: {
      nats,
      prefix: c.resolve(tokens.CONFIG).nats.natsPrefix,
      kvShards: kv.length,
      queueShards: queue.length,
      shards: [CONTROL_SHARD, ...kv, ...queue],
      logs: [METER_SHARD],
    },
    log: c.resolve(tokens.LOG),
  });
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
