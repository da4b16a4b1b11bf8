/** The endpoints of this process: opens every port for clients, one after the other. */
import type { DependencyContainer } from 'tsyringe';
import { REDIS_VERSION, SubscriptionRegistry } from '../actors/kv-shard/index.js';
import { AuditThreads, readTlsFiles, type TlsFiles } from '../adapters/node/index.js';
import { httpEndpointOptionsOf, kvBoundsOf, nativeBoundsOf } from '../config/index.js';
import { hostAndPort, type Listener, listenOn } from '../edge/http/index.js';
import {
  AclCommands,
  BroadcastQueue,
  createKvServer,
  createRespServer,
  RefusedSignIns,
  SignInGuard,
} from '../edge/index.js';
import { ByteBudget } from '../kernel/index.js';
import type { Acceptor } from '../ports/index.js';
import { METER_SHARD } from '../protocol/index.js';
import type { AuditedInstallation } from './audit-worker.js';
import { respNodesOf } from './kv-module.js';
import { managementEndpoint } from './management-endpoint.js';
import { queueEndpoint } from './queue-module.js';
import { threadTaskOf } from './thread-container.js';
import * as tokens from './tokens.js';
import { sharedPortsOf } from './worker-module.js';

interface Endpoint extends Listener {
  leave?(): void;
  close(deadline?: AbortSignal): Promise<void>;
}

/**
 * @returns `name=url` of each, for the ready line
 * @throws BAD_CONFIG if it cannot listen on a port
 */
export async function startEndpoints(c: DependencyContainer): Promise<string[]> {
  const config = c.resolve(tokens.CONFIG);
  const { endpoints } = config;
  const tls = await readTlsFiles(endpoints);
  const secured = { ...(tls && { tls }), acceptor: sharedPortsOf(c) };
  const shared = sharedParts(c);
  const { budget, events, freshness, guard } = shared;
  const options = { ...httpEndpointOptionsOf(config), ...secured };
  const [http, redis] = tls === undefined ? ['http', 'redis'] : ['https', 'rediss'];
  const at = (port: number) => hostAndPort(endpoints.host, port);

  const { trustedProxies } = endpoints;
  const kvLimits = { ...options.limits, ...kvBoundsOf(config, budget.maxTenantBytes) };
  const kv = createKvServer({ ...shared, ...options, limits: kvLimits, signIns: guard.of('rest'), trustedProxies });
  const kvPort = await open(c, kv, endpoints.kvPort, 'MILLRACE_KV_PORT');
  const endpoint = { ...options, budget, freshness };
  const queue = queueEndpoint(c, { ...endpoint, signIns: guard.of('queue') });
  const queuePort = await open(c, queue, endpoints.queuePort, 'MILLRACE_QUEUE_PORT');
  const respPort = await openNativeEndpoint(c, { ...shared, ...secured });

  const audit = auditThreads(c);
  c.resolve(tokens.LIFETIME).atEnd(() => audit.stop());
  // A getter, because the actual port is known only after listening.
  let { mgmtPort } = endpoints;
  const publicUrls = {
    kv: endpoints.publicUrlKv ?? at(kvPort),
    queue: endpoints.publicUrlQueue ?? at(queuePort),
    get search() {
      return endpoints.publicUrlMgmt ?? at(mgmtPort);
    },
  };
  const planes = { kv: kv.passed, queue: queue.passed };
  const management = managementEndpoint(c, {
    audit,
    events,
    publicUrls,
    respPort: respPort ?? 0,
    guard,
    endpoint,
    planes,
  });
  mgmtPort = await open(c, management, mgmtPort, 'MILLRACE_MGMT_PORT');
  c.resolve(tokens.MANAGEMENT_ADDRESS).url = `${http}://${at(mgmtPort)}`;
  return [
    `kv=${http}://${at(kvPort)}`,
    `queue=${http}://${at(queuePort)}`,
    `mgmt=${http}://${at(mgmtPort)}`,
    ...(respPort === undefined ? [] : [`resp=${redis}://${at(respPort)}`]),
  ];
}

type NativeParts = ReturnType<typeof sharedParts> & {
  readonly tls?: TlsFiles;
  readonly acceptor: Acceptor | undefined;
};

/** @returns its port; undefined if disabled */
async function openNativeEndpoint(c: DependencyContainer, { users: acl, guard, ...parts }: NativeParts) {
  const config = c.resolve(tokens.CONFIG);
  const { host, respPort } = config.endpoints;
  if (respPort === 0) return undefined;
  const limits = nativeBoundsOf(config);
  const { nodes, workerPort } = respNodesOf(c);
  const own = { acl, limits, nodes, signIns: guard.of('resp'), redisVersion: REDIS_VERSION };
  const resp = createRespServer({ ...parts, ...own });
  const port = await open(c, resp, respPort, 'MILLRACE_RESP_PORT');
  if (workerPort !== undefined) await listenOn(resp, host, workerPort, 'MILLRACE_RESP_WORKER_PORT');
  c.registerInstance(tokens.NATIVE_ENDPOINT, { ...resp, host, port, maxClients: limits.maxConnections });
  return port;
}

/** @returns the actual port. @throws BAD_CONFIG */
async function open(c: DependencyContainer, endpoint: Endpoint, port: number, variable: string): Promise<number> {
  const { endpoints, process } = c.resolve(tokens.CONFIG);
  const bound = await listenOn(endpoint, endpoints.host, port, variable);
  c.resolve(tokens.LIFETIME).closeAtEnd(endpoint, process.shutdownMs / 3);
  return bound;
}

/** Parts that the key-value endpoints share, some of them with all endpoints. */
function sharedParts(c: DependencyContainer) {
  const { clock, timers, random, metrics, log, tracing } = tokens.portsOf(c);
  const gateway = c.resolve(tokens.GATEWAY);
  const { signIn, sharedBy } = c.resolve(tokens.CONFIG);
  const { view: access, freshness, quota, meter, users: admin } = c.resolve(tokens.CONTROL);
  const broadcasts = new BroadcastQueue(clock, timers);
  const events = new SubscriptionRegistry(gateway, timers, log, c.resolve(tokens.SESSION).processId, broadcasts);
  events.layoutOf = (database) => access.listenedLayoutOf(database);
  access.whenAccessChanged(() => events.layoutsChanged());
  const ear = c.resolve(tokens.DELIVERIES).hear(events);
  c.resolve(tokens.LIFETIME).atEnd(() => ear.stop());
  const users = new AclCommands({ admin, clock, random, gateway, minSecretCharacters: signIn.secretMinCharacters });
  const budget = new ByteBudget(c.resolve(tokens.MEMORY).requestBytes);
  metrics.gauge('millrace_request_bytes', () => budget.usedBytes);
  metrics.gauge('millrace_request_limit_bytes', () => budget.limitBytes);
  // It logs once a minute, one event per endpoint.
  const { client: control, management } = c.resolve(tokens.CONTROL);
  const refused = new RefusedSignIns({ control, timers, log, firstAccount: () => management.firstAccount() });
  const guard = new SignInGuard({ clock, timers, log, metrics, refused }, Math.ceil(signIn.signInFailures / sharedBy));
  const endpoint = {
    gateway,
    events,
    broadcasts,
    users,
    access,
    freshness,
    quota,
    meter,
    clock,
    timers,
    metrics,
    tracing,
  };
  const start = c.resolve(tokens.START);
  return { ...endpoint, budget, guard, log: c.resolve(tokens.ENDPOINT_LOG), isStarting: () => !start.isOver };
}

function auditThreads(c: DependencyContainer): AuditThreads<AuditedInstallation> {
  const { kvShards, queueShards } = c.resolve(tokens.NATS).layout;
  const { shards } = c.resolve(tokens.JOURNAL_TOTAL);
  return new AuditThreads<AuditedInstallation>({
    entry: new URL('./audit-worker.js', import.meta.url),
    installation: { ...threadTaskOf(c), kvShards, queueShards, shards, logs: [METER_SHARD] },
    log: c.resolve(tokens.LOG),
  });
}
