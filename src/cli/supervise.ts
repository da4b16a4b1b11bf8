/**
 * The supervisor of the workers of this machine. It owns the data directory and the nats-server, holds no data and
 * serves no client; it answers probes and scrapers for all workers.
 *
 *  SUP1 no worker of an earlier run can own a shard: the lock on the data directory is taken, and the nats-server that
 *       it used has ended
 */
import { announceGone, markAllGone } from '../actors/runtime/index.js';
import { EDGE_CHECKS, startHealthServer } from '../adapters/http-health/index.js';
import { JetStreamLeaseStore, Names, NatsBus } from '../adapters/nats/index.js';
import { AwaitedStart, type NatsOpening, type OpenedNats, sealingOf } from '../adapters/nats/installation/index.js';
import { Lifetime, NodeRandom, NodeTimers } from '../adapters/node/index.js';
import { type WorkerEnvironment, WorkerPool, WorkerRecord } from '../adapters/workers/index.js';
import type { RunningProcess } from '../composition/index.js';
import type { Config } from '../config/index.js';
import { hostAndPort } from '../edge/http/index.js';
import type { Log } from '../ports/index.js';

/** Workers, which can be replaced while they serve. */
export interface Supervised extends RunningProcess {
  /** @param environment variables that change. @throws MillraceError if the new workers do not serve; the old ones stay */
  reload(environment: WorkerEnvironment): Promise<void>;
}

interface Beginning {
  readonly config: Config;
  readonly log: Log;
  readonly nats: NatsOpening;
}

/** @throws MillraceError with one line; all workers have ended again */
export function superviseWorkers({ config, log, nats }: Beginning, stopping: AbortSignal): Promise<Supervised> {
  return Lifetime.begin(async (life) => {
    life.atEnd(() => nats.giveUp());
    const opened = openServer({ config, log, nats }, stopping);
    life.atEnd(async () => (await opened.catch(() => undefined))?.close());
    const installation = opened.then((server) => prepareForWorkers(config, server));
    const start = installation.then(({ shared }) => ({ nats: shared }));
    // The installation is awaited below, unless an earlier step of the start has failed.
    start.catch(() => undefined);
    const record = config.isEmbedded ? new WorkerRecord(config.storage.dataDir, opened) : undefined;
    const pool = new WorkerPool(
      {
        workers: config.sharedBy,
        args: process.argv.slice(2),
        environment: workerEnvironment(config),
        placePrefix: placePrefixOf(config),
        keepsModels: config.process.roles.includes('projection'),
        shutdownMs: config.process.shutdownMs,
        announceEnd: async (session) => announceGone(await installation, session),
        record,
        log,
      },
      start,
    );
    life.atEnd(() => pool.stop());
    stopping.addEventListener('abort', () => void pool.stop());
    const metrics = await startHealth({ config, log }, pool, life);
    const [, { addresses, credentials }] = await Promise.all([installation, pool.begin()]);
    log.info('process.ready', { workers: config.sharedBy });
    return {
      addresses: [...addresses, metrics],
      credentials,
      ready: Promise.resolve(),
      failed: nats.failed,
      reload: (environment) => pool.reload(environment),
      stop: () => life.end(),
    };
  });
}

/** An embedded server belongs to this process; an external one may start later. */
function openServer({ config, log, nats }: Beginning, stopping: AbortSignal): Promise<OpenedNats> {
  if (config.isEmbedded) return nats.take();
  return new AwaitedStart({ log, timers: new NodeTimers() }).begin(() => nats.take(), stopping);
}

/** Makes the seal key before several workers could, and frees the leases of an earlier run (SUP1). */
async function prepareForWorkers(config: Config, server: OpenedNats) {
  const { connections, options } = server;
  const names = new Names(config.nats.natsPrefix);
  const leases = new JetStreamLeaseStore(connections, names);
  const bus = new NatsBus(connections, names, { maxBytes: config.bounds.busMessageBytes });
  await sealingOf(config, server, new NodeRandom());
  // The sessions on an external server may be those of other machines.
  if (config.isEmbedded) await markAllGone(leases);
  return { shared: config.isEmbedded ? options : undefined, leases, bus };
}

/** Workers of an external server may be those of several machines. */
function placePrefixOf({ isEmbedded }: Config): string {
  const machine = isEmbedded ? '' : `${Buffer.from(new NodeRandom().bytes(8)).toString('hex')}-`;
  return `${machine}worker-`;
}

/** @returns its address */
async function startHealth(
  { config, log }: Omit<Beginning, 'nats'>,
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

/** The variables of the environment that are decided here. */
function workerEnvironment({ sharedBy }: Config): WorkerEnvironment {
  return { MILLRACE_WORKERS: `${sharedBy}` };
}
