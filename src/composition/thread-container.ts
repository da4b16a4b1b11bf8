/** The dependencies of a thread or job process, with its own NATS connections so that it never delays a command. */
import type { DependencyContainer } from 'tsyringe';
import { connect } from '../adapters/nats/index.js';
import type { Log } from '../ports/index.js';
import { registerMachine, registerStorage } from './storage-module.js';
import type { ThreadTask } from './thread-tasks.js';
import * as tokens from './tokens.js';

/** Start data of such a thread or process. */
export function threadTaskOf(c: DependencyContainer): ThreadTask {
  return { nats: c.resolve(tokens.NATS).options, prefix: c.resolve(tokens.CONFIG).nats.natsPrefix };
}

/** @param name of the connections, as the server lists them. @throws JOURNAL_UNAVAILABLE */
export async function openThread({ nats, prefix }: ThreadTask, name: string, log: Log) {
  const c = tokens.newContainer();
  const connections = await connect({ ...nats, name, isThread: true });
  registerMachine(c);
  c.registerInstance(tokens.LOG, log);
  registerStorage(c, connections, prefix);
  return { ...tokens.storagePortsOf(c), connections, close: () => connections.close() };
}
