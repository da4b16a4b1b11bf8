/** The dependencies of an operator's command after it has connected. */
import type { DependencyContainer } from 'tsyringe';
import { callLimits, ShardCaller } from '../actors/runtime/index.js';
import { NatsBus, type NatsConnections } from '../adapters/nats/index.js';
import type { Config } from '../config/index.js';
import type { Log, StoragePorts } from '../ports/index.js';
import { registerMachine, registerStorage } from './storage-module.js';
import * as tokens from './tokens.js';

/** @param connections to the installation */
export function storageOfCommand(config: Config, connections: NatsConnections, log: Log): StoragePorts {
  return tokens.storagePortsOf(commandContainer(config, connections, log));
}

/** For a command that asks the owners of shards, which are in other processes. */
export function commandParts(config: Config, connections: NatsConnections, log: Log) {
  const c = commandContainer(config, connections, log);
  const ports = tokens.storagePortsOf(c);
  const bus = new NatsBus(connections, c.resolve(tokens.NAMES), { log });
  const limits = callLimits(config.ownership.requestHoldMs);
  return { ...ports, bus, caller: new ShardCaller(bus, ports.clock, ports.timers, ports.random, limits) };
}

function commandContainer(config: Config, connections: NatsConnections, log: Log): DependencyContainer {
  const { natsPrefix, natsAppendTimeoutMs: appendTimeoutMs } = config.nats;
  const c = tokens.newContainer();
  registerMachine(c);
  c.registerInstance(tokens.LOG, log);
  registerStorage(c, connections, natsPrefix, { appendTimeoutMs });
  return c;
}
