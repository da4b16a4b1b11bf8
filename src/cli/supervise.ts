/**
 * The supervisor of the workers of this machine. It owns the data directory and the nats-server, holds no data and
 * serves no client; it answers probes and scrapers for all workers.
 *
 *  SUP1 no worker of an earlier run can own a shard: the lock on the data directory is taken, and the nats-server that
 *       it used has ended
 *
 * The processes of the workers start before the supervisor loads the modules that it needs for NATS and probes: they
 * load their program in the meantime, and wait for `start`.
 */
import { Lifetime, NodeRandom } from '../adapters/node/index.js';
import { type WorkerEnvironment, WorkerPool, WorkerRecord } from '../adapters/workers/index.js';
import type { RunningProcess } from '../composition/index.js';
import type { Config } from '../config/index.js';
import type { SupervisorStart } from './supervised-installation.js';

/** Workers, which can be replaced while they serve. */
export interface Supervised extends RunningProcess {
  /** @param environment variables that change. @throws MillraceError if the new workers do not serve; the old ones stay */
  reload(environment: WorkerEnvironment): Promise<void>;
}

/** @throws MillraceError with one line; all workers have ended again */
export function superviseWorkers({ config, log, nats }: SupervisorStart, stopping: AbortSignal): Promise<Supervised> {
  return Lifetime.begin(async (life) => {
    life.atEnd(() => nats.giveUp());
    const loaded = import('./supervised-installation.js');
    const opened = loaded.then(({ openServer }) => openServer({ config, log, nats }, stopping));
    life.atEnd(async () => (await opened.catch(() => undefined))?.close());
    const installation = opened.then(async (server) => (await loaded).prepareForWorkers(config, server));
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
        silenceMs: config.process.workerSilenceMs,
        announceEnd: async (session) => (await loaded).announceGone(await installation, session),
        record,
        log,
      },
      start,
    );
    life.atEnd(() => pool.stop());
    stopping.addEventListener('abort', () => void pool.stop());
    const begun = pool.begin();
    begun.catch(() => undefined);
    const metrics = await (await loaded).startHealth({ config, log }, pool, life);
    const [, { addresses, credentials }] = await Promise.all([installation, begun]);
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

/** Workers of an external server may be those of several machines. */
function placePrefixOf({ isEmbedded }: Config): string {
  const machine = isEmbedded ? '' : `${Buffer.from(new NodeRandom().bytes(8)).toString('hex')}-`;
  return `${machine}worker-`;
}

/** The variables of the environment that are decided here. */
function workerEnvironment({ sharedBy }: Config): WorkerEnvironment {
  return { MILLRACE_WORKERS: `${sharedBy}` };
}
