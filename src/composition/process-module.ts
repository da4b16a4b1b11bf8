/** The parts that every role of a process needs. */
import type { DependencyContainer } from 'tsyringe';
import { callLimits, GuardedClock, Membership, Session, ShardCaller, watchedClocks } from '../actors/runtime/index.js';
import { Names, NatsBus, type NatsConnections } from '../adapters/nats/index.js';
import type { OpenedNats } from '../adapters/nats/installation/index.js';
import {
  LimitedLog,
  NodeRandom,
  NodeTimers,
  ProcBootTime,
  PromMetrics,
  processMemory,
  SystemClock,
} from '../adapters/node/index.js';
import type { Config } from '../config/index.js';
import type { Log } from '../ports/index.js';
import { clockWatchOptionsOf, sessionTimesOf } from './runtime-options.js';
import { registerStorage } from './storage-module.js';
import * as tokens from './tokens.js';

/** Clock, randomness, log and metrics, which are needed before NATS is connected. */
/** @param labels of the metrics of this process */
export function registerBasics(
  c: DependencyContainer,
  config: Config,
  log: Log,
  labels: Readonly<Record<string, string>> = {},
): void {
  const machine = new SystemClock();
  c.registerInstance(tokens.CONFIG, config);
  c.registerInstance(tokens.BOOT_TIME, new ProcBootTime());
  tokens.once(c, tokens.GUARDED_CLOCK, () => {
    const { clockJumpMs: jumpMs, clockSkewMs: maxSkewMs } = config.ownership;
    return new GuardedClock(machine, c.resolve(tokens.BOOT_TIME), { jumpMs, maxSkewMs });
  });
  c.register(tokens.CLOCK, { useToken: tokens.GUARDED_CLOCK });
  c.registerInstance(tokens.TIMERS, new NodeTimers());
  c.registerInstance(tokens.RANDOM, new NodeRandom());
  c.registerInstance(tokens.LOG, log);
  tokens.once(c, tokens.ENDPOINT_LOG, () => new LimitedLog(c.resolve(tokens.LOG), c.resolve(tokens.TIMERS)));
  c.registerInstance(tokens.METRICS, new PromMetrics({ withProcess: true, labels }));
  c.registerInstance(tokens.MEMORY, processMemory(config.process.memoryBytes));
}

/** The other processes, which are known before any stored data is read. */
export function registerMembership(c: DependencyContainer, connections: NatsConnections, isAlone: boolean): void {
  const config = c.resolve(tokens.CONFIG);
  tokens.once(c, tokens.BUS, () => {
    const machine = c.resolve(tokens.BOOT_TIME).bootId;
    const near = isAlone || machine === undefined ? undefined : { machine, dataDir: config.storage.dataDir };
    const options = { maxBytes: config.bounds.busMessageBytes, log: c.resolve(tokens.LOG), near };
    const bus = new NatsBus(connections, new Names(config.nats.natsPrefix), options);
    c.resolve(tokens.LIFETIME).closeAtEnd(bus);
    return bus;
  });
  tokens.once(c, tokens.MEMBERSHIP, () => new Membership(c.resolve(tokens.BUS), c.resolve(tokens.CLOCK), isAlone));
}

/** The ports that NATS provides, and this process's session. */
export function registerNats(c: DependencyContainer, nats: OpenedNats): void {
  const config = c.resolve(tokens.CONFIG);
  const { connections, isExclusive } = nats;
  c.registerInstance(tokens.NATS, nats);
  registerStorage(c, connections, config.nats.natsPrefix, { appendTimeoutMs: config.nats.natsAppendTimeoutMs });
  tokens.once(c, tokens.CLOCK_WATCH, () => {
    const clock = c.resolve(tokens.GUARDED_CLOCK);
    const ports = { ...tokens.portsOf(c), clock, boot: c.resolve(tokens.BOOT_TIME) };
    return watchedClocks(ports, clockWatchOptionsOf(config, isExclusive), c.resolve(tokens.MEMBERSHIP));
  });
  tokens.once(c, tokens.SESSION, () => {
    const ports = { ...tokens.storagePortsOf(c), clocks: c.resolve(tokens.CLOCK_WATCH) };
    const place = tokens.ifRegistered(c, tokens.WORKER)?.start.place;
    const planes = config.process.roles.filter((role) => role === 'kv' || role === 'queue');
    return new Session(ports, sessionTimesOf(config), c.resolve(tokens.MEMBERSHIP), planes, place);
  });
  tokens.once(c, tokens.CALLER, () => {
    const { bus, clock, timers, random } = tokens.portsOf(c);
    return new ShardCaller(bus, clock, timers, random, callLimits(config.ownership.requestHoldMs));
  });
}
