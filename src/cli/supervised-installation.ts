/** The supervisor's side of NATS, and the answers to probes and scrapers for all workers. */
import { markAllGone } from '../actors/runtime/index.js';
import { EDGE_CHECKS, startHealthServer } from '../adapters/http-health/index.js';
import { JetStreamLeaseStore, Names, NatsBus } from '../adapters/nats/index.js';
import { AwaitedStart, type NatsOpening, type OpenedNats, sealingOf } from '../adapters/nats/installation/index.js';
import { type Lifetime, NodeRandom, NodeTimers } from '../adapters/node/index.js';
import type { WorkerPool } from '../adapters/workers/index.js';
import type { Config } from '../config/index.js';
import { hostAndPort } from '../edge/http/index.js';
import type { Log } from '../ports/index.js';

export { announceGone } from '../actors/runtime/index.js';

export interface SupervisorStart {
  readonly config: Config;
  readonly log: Log;
  readonly nats: NatsOpening;
}

/** An embedded server belongs to this process; an external one may start later. */
export function openServer({ config, log, nats }: SupervisorStart, stopping: AbortSignal): Promise<OpenedNats> {
  if (config.isEmbedded) return nats.take();
  return new AwaitedStart({ log, timers: new NodeTimers() }).begin(() => nats.take(), stopping);
}

/** Makes the seal key before several workers could, and frees the leases of an earlier run (SUP1). */
export async function prepareForWorkers(config: Config, server: OpenedNats) {
  const { connections, options } = server;
  const names = new Names(config.nats.natsPrefix);
  const leases = new JetStreamLeaseStore(connections, names);
  const bus = new NatsBus(connections, names, { maxBytes: config.bounds.busMessageBytes });
  await sealingOf(config, server, new NodeRandom());
  // The sessions on an external server may be those of other machines.
  if (config.isEmbedded) await markAllGone(leases);
  return { shared: config.isEmbedded ? options : undefined, leases, bus };
}

/** @returns its address */
export async function startHealth(
  { config, log }: Omit<SupervisorStart, 'nats'>,
  pool: WorkerPool,
  life: Lifetime,
): Promise<string> {
  const { endpoints, signIn, process } = config;
  const health = await startHealthServer({
    host: endpoints.host,
    port: endpoints.metricsPort,
    checks: () => pool.checks(),
    edgeChecks: process.roles.includes('edge') ? EDGE_CHECKS : [],
    metrics: async () => ({ contentType: 'text/plain; version=0.0.4; charset=utf-8', text: await pool.metrics() }),
    metricsToken: signIn.metricsToken?.reveal(),
    timers: new NodeTimers(),
    log,
  });
  life.atEnd(() => health.close());
  return `metrics=http://${hostAndPort(health.host, health.port)}`;
}
