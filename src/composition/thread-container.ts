/**
 * What a thread of this process, or a process that it starts for a job, stands on: connections to NATS of its own, so that
 * it never stands before a command.
 */
import type { DependencyContainer } from 'tsyringe';
import { connect, type NatsOptions } from '../adapters/nats/index.js';
import type { Log } from '../ports/index.js';
import { registerMachine, registerStorage } from './storage-module.js';
import * as tokens from './tokens.js';

/** Plain data: it is cloned. */
export interface ThreadTask {
  readonly nats: NatsOptions;
  /** The installation's names on the server begin with it. */
  readonly prefix: string;
}

/** What such a thread or process is started with. */
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
  return { ...tokens.storagePortsOf(c), close: () => connections.close() };
}
