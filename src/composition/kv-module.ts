/** Databases: the shards in a process with the role `kv`, and access to their owners from every process. */
import { join } from 'node:path';
import type { DependencyContainer } from 'tsyringe';
import { KvOwner, KvShardGateway, ProcessInfo } from '../actors/kv-shard/index.js';
import { callerSilenceMs, HeardNodes, ROUTE_RETRY_MS } from '../actors/runtime/index.js';
import { shardNames } from '../adapters/nats/index.js';
import { NodeIndexFiles, NodeReadings, reachableAddress, VERSION } from '../adapters/node/index.js';
import { ownedShards } from './shards-module.js';
import * as tokens from './tokens.js';

export function registerKvOwner(c: DependencyContainer): void {
  tokens.once(c, tokens.KV_OWNER, () => {
    const config = c.resolve(tokens.CONFIG);
    const { maxAnswerBytes, maxCommandBytes, expiryKeys } = config.bounds;
    const { meter, dataLimits, accounts, view } = c.resolve(tokens.CONTROL);
    return new KvOwner(
      {
        ...tokens.portsOf(c),
        storage: c.resolve(tokens.STORAGE),
        deliveries: c.resolve(tokens.DELIVERIES),
        meter,
        dataLimits,
        processInfo: processInfoOf(c),
        indexFiles: new NodeIndexFiles(
          join(config.storage.dataDir, 'indexes'),
          c.resolve(tokens.DATA_KEY).key?.keyFor('indexes'),
        ),
        queue: c.resolve(tokens.QUEUE_GATEWAY),
        accounts,
        branchOf: (database) => view.knownDatabase(database),
        destinations: c.resolve(tokens.HTTP_OUT),
        own: (plane) => ownedShards(c, plane),
      },
      {
        shards: shardNames(c.resolve(tokens.NATS).layout).kv,
        dataBytes: c.resolve(tokens.MEMORY).dataBytes,
        silenceMs: callerSilenceMs(config.ownership.requestHoldMs),
        maxAnswerBytes: Math.max(maxAnswerBytes, maxCommandBytes),
        expiryKeysPerTick: expiryKeys,
      },
    );
  });
}

export function registerKvGateway(c: DependencyContainer): void {
  tokens.once(c, tokens.GATEWAY, () => {
    const { layout, isExclusive } = c.resolve(tokens.NATS);
    const caller = isExclusive ? undefined : c.resolve(tokens.CALLER);
    const host = tokens.ifRegistered(c, tokens.KV_OWNER)?.host;
    const limits = { holdMs: c.resolve(tokens.CONFIG).ownership.requestHoldMs, retryEveryMs: ROUTE_RETRY_MS };
    return new KvShardGateway({ ...tokens.portsOf(c), caller, host }, limits, layout.kvShards);
  });
}

/** The RESP addresses of the processes; this one announces its own from the first call on. The worker's own port. */
export function respNodesOf(c: DependencyContainer) {
  const { endpoints, ownership } = c.resolve(tokens.CONFIG);
  const { host, respPort, respWorkerPort, respAnnounceHost = reachableAddress(host) } = endpoints;
  const offset = respWorkerPort === undefined ? 0 : (tokens.ifRegistered(c, tokens.WORKER)?.start.number ?? 1) - 1;
  const port = (endpoints.respAnnouncePort ?? respWorkerPort ?? respPort) + offset;
  const nodes = new HeardNodes(c.resolve(tokens.MEMBERSHIP), c.resolve(tokens.SESSION), {
    address: { host: respAnnounceHost, port },
    kvShards: c.resolve(tokens.NATS).layout.kvShards,
    heartbeatMs: ownership.sessionHeartbeatMs,
    owned: () => tokens.ifRegistered(c, tokens.KV_OWNER)?.host.ownedShards() ?? [],
  });
  return { nodes, workerPort: respWorkerPort && respWorkerPort + offset };
}

/** Data for INFO. The RESP endpoint starts after the first databases are loaded, so it is looked up at each call. */
function processInfoOf(c: DependencyContainer): ProcessInfo {
  const { commandMs, scriptMs, scriptHoldMs } = c.resolve(tokens.CONFIG).bounds;
  const endpoint = () => tokens.ifRegistered(c, tokens.NATIVE_ENDPOINT);
  const formatLevel = () => c.resolve(tokens.CONTROL).view.formatLevel;
  const ports = { clock: c.resolve(tokens.CLOCK), readings: new NodeReadings(), endpoint, formatLevel };
  const scripts = { totalMs: scriptMs, holdMs: scriptHoldMs };
  return new ProcessInfo(ports, { runId: c.resolve(tokens.SESSION).id, version: VERSION, scripts, commandMs });
}
