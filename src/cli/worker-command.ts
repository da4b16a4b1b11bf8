/** A worker of `millrace serve`: it serves as a process does, and its supervisor decides when it ends. */
import { NatsOpening } from '../adapters/nats/installation/index.js';
import { flushCompileCache } from '../adapters/node/index.js';
import type { SupervisorLink } from '../adapters/workers/index.js';
import type { Environment } from '../config/index.js';
import { isMillraceError } from '../kernel/index.js';
import { loadedConfig } from './loaded-config.js';
import { exitSoon, logOf, within } from './serve-command.js';

/** @returns the exit code, after the worker has released all resources */
export async function workerCommand(link: SupervisorLink, env: Environment, isHuman: boolean): Promise<number> {
  // A terminal sends these to the whole group of processes, and the supervisor ends its workers in order.
  for (const signal of ['SIGINT', 'SIGHUP'] as const) process.on(signal, () => undefined);
  try {
    return await work(link, env, isHuman);
  } catch (error) {
    if (isMillraceError(error, 'SHUTTING_DOWN')) return 0;
    await link.failed(error);
    return 1;
  } finally {
    exitSoon();
  }
}

async function work(link: SupervisorLink, env: Environment, isHuman: boolean): Promise<number> {
  const { config } = loadedConfig(env);
  const stopping = new AbortController();
  const asked = Promise.race([
    link.stopped,
    new Promise<void>((resolve) => {
      process.once('SIGTERM', resolve);
    }),
  ]).then(() => {
    stopping.abort();
    return undefined;
  });
  // Most of the program is loaded while the supervisor opens the installation.
  const loading = import('../composition/index.js');
  const start = await link.begin();
  const { startProcess } = await loading;
  const log = logOf(config, isHuman).with({ worker: start.number });
  const nats = new NatsOpening(config, log, start.nats);
  const begun = startProcess({ config, log, nats, worker: { link, start } }, stopping.signal);
  // The supervisor kills a worker with a start that does not end.
  const running = await Promise.race([begun, asked]);
  if (running === undefined) return (await begun).stop().then(() => 0);
  const ended = Promise.race([asked, running.failed]);
  const isReady = await Promise.race([running.ready.then(() => true), ended.then(() => false)]);
  if (isReady) {
    link.ready({ addresses: running.addresses, credentials: running.credentials });
    flushCompileCache();
  }
  const reason = await ended;
  if (reason !== undefined) await link.failed(reason);
  const isStopped = await within(config.process.shutdownMs, running.stop());
  return isStopped && reason === undefined ? 0 : 1;
}
