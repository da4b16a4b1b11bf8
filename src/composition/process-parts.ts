/** What every role of a process stands on, registered under its tokens. */
import { container, type DependencyContainer } from 'tsyringe';
import { ClockWatch, GuardedClock, Membership, Session } from '../actors/runtime/index.js';
import { JetStreamJournal, JetStreamLeaseStore, JetStreamObjectStore, NatsBus } from '../adapters/nats/index.js';
import {
  JsonLog,
  LimitedLog,
  NodeRandom,
  NodeTimers,
  ProcBootTime,
  ProcessWatch,
  PromMetrics,
  processMemory,
  SystemClock,
  streamLines,
} from '../adapters/node/index.js';
import type { Config } from '../config/index.js';
import type { Log } from '../ports/index.js';
import type { NatsWorld } from './nats-world.js';
import { clockWatchOptionsOf, guardedClockLimitsOf, sessionTimesOf, watchClocks } from './runtime-parts.js';
import * as tokens from './tokens.js';

/** Clock, dice, log and metrics: needed before there is a NATS. */
export interface Basics {
  readonly container: DependencyContainer;
  readonly log: Log;
  readonly metrics: PromMetrics;
  readonly watch: ProcessWatch;
}

export function basicParts(config: Config): Basics {
  const parts = container.createChildContainer();
  // Lines of the log bear the machine's own time, so that they can be laid beside those of others.
  const machine = new SystemClock();
  const boot = new ProcBootTime();
  const clock = new GuardedClock(machine, boot, guardedClockLimitsOf(config));
  const log = new JsonLog({ level: config.process.logLevel, clock: machine, write: streamLines(process.stderr) });
  const metrics = new PromMetrics({ withProcess: true });
  parts.registerInstance(tokens.CONFIG, config);
  parts.registerInstance(tokens.CLOCK, clock);
  parts.registerInstance(tokens.GUARDED_CLOCK, clock);
  parts.registerInstance(tokens.BOOT_TIME, boot);
  const timers = new NodeTimers();
  parts.registerInstance(tokens.TIMERS, timers);
  parts.registerInstance(tokens.RANDOM, new NodeRandom());
  parts.registerInstance(tokens.LOG, log);
  parts.registerInstance(tokens.FACE_LOG, new LimitedLog(log, timers));
  parts.registerInstance(tokens.METRICS, metrics);
  parts.registerInstance(tokens.MEMORY, processMemory(config.process.memoryBytes));
  return { container: parts, log, metrics, watch: new ProcessWatch(metrics.registry) };
}

/** The ports that NATS provides, and this process's place among the others. */
export function natsParts(c: DependencyContainer, world: NatsWorld, canOwn: boolean): void {
  const config = c.resolve(tokens.CONFIG);
  const clock = c.resolve(tokens.CLOCK);
  const timers = c.resolve(tokens.TIMERS);
  const random = c.resolve(tokens.RANDOM);
  const log = c.resolve(tokens.LOG);
  const { connections, names, layout } = world;
  const journal = new JetStreamJournal(connections, names, { appendTimeoutMs: config.nats.natsAppendTimeoutMs });
  const leases = new JetStreamLeaseStore(connections, names);
  const bus = new NatsBus(connections, names, { maxBytes: config.bounds.busMessageBytes, log });
  const membership = new Membership(bus, clock);
  const metrics = c.resolve(tokens.METRICS);
  const clocks = new ClockWatch(
    {
      clock: c.resolve(tokens.GUARDED_CLOCK),
      boot: c.resolve(tokens.BOOT_TIME),
      leases,
      log,
      jumps: metrics.counter('millrace_clock_jumps_total'),
    },
    clockWatchOptionsOf(config, world.isExclusive),
    membership,
  );
  watchClocks(metrics, clocks);
  const ports = { leases, clock, clocks, timers, random, log };
  const session = new Session(ports, sessionTimesOf(config), membership, canOwn);
  c.registerInstance(tokens.WORLD, world);
  c.registerInstance(tokens.LAYOUT, layout);
  c.registerInstance(tokens.JOURNAL, journal);
  c.registerInstance(tokens.LEASES, leases);
  c.registerInstance(tokens.OBJECTS, new JetStreamObjectStore(connections, names));
  c.registerInstance(tokens.BUS, bus);
  c.registerInstance(tokens.MEMBERSHIP, membership);
  c.registerInstance(tokens.CLOCK_WATCH, clocks);
  c.registerInstance(tokens.SESSION, session);
}
