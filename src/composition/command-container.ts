/** What a command of the operator stands on, once it is connected. */
import type { DependencyContainer } from 'tsyringe';
import { ShardCaller } from '../actors/runtime/index.js';
import { NatsBus, type NatsConnections } from '../adapters/nats/index.js';
import { JsonLog, SystemClock, streamLines } from '../adapters/node/index.js';
import type { Config } from '../config/index.js';
import type { Bus, Log } from '../ports/index.js';
import { callLimitsOf } from './runtime-options.js';
import { registerMachine, registerStorage } from './storage-module.js';
import * as tokens from './tokens.js';

export interface CommandParts extends tokens.StoragePorts {
  readonly bus: Bus;
  /** To the owners of shards, all of them in other processes. */
  readonly caller: ShardCaller;
}

/** A person reads it: troubles, and all of it where that was asked for. */
export function commandLog(config: Config): Log {
  const level = config.process.logLevel === 'debug' ? 'debug' : 'warn';
  return new JsonLog({ level, clock: new SystemClock(), write: streamLines(process.stderr) });
}

/** @param connections of the installation that it reached */
export function storageOfCommand(config: Config, connections: NatsConnections, log: Log): tokens.StoragePorts {
  return tokens.storagePortsOf(commandContainer(config, connections, log));
}

/** For a command that asks the owners of shards. */
export function commandParts(config: Config, connections: NatsConnections, log: Log): CommandParts {
  const c = commandContainer(config, connections, log);
  const ports = tokens.storagePortsOf(c);
  const bus = new NatsBus(connections, c.resolve(tokens.NAMES), { log });
  return { ...ports, bus, caller: new ShardCaller(bus, ports.clock, ports.timers, ports.random, callLimitsOf(config)) };
}

function commandContainer(config: Config, connections: NatsConnections, log: Log): DependencyContainer {
  const { natsPrefix, natsAppendTimeoutMs: appendTimeoutMs } = config.nats;
  const c = tokens.newContainer();
  registerMachine(c);
  c.registerInstance(tokens.LOG, log);
  registerStorage(c, connections, natsPrefix, { appendTimeoutMs });
  return c;
}
