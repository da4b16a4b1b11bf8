/** The ports that most parts of a process take, as one record. */
import type { Bus } from './bus.js';
import type { Clock } from './clock.js';
import type { Journal } from './journal.js';
import type { LeaseStore } from './lease-store.js';
import type { Log } from './log.js';
import type { Metrics } from './metrics.js';
import type { ObjectStore } from './object-store.js';
import type { Random } from './random.js';
import type { Timers } from './timers.js';
import type { Tracing } from './tracing.js';

/** For a process, a thread and a command alike. */
export interface StoragePorts {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly random: Random;
  readonly log: Log;
  readonly journal: Journal;
  readonly leases: LeaseStore;
  readonly objects: ObjectStore;
}

export interface ProcessPorts extends StoragePorts {
  readonly metrics: Metrics;
  readonly bus: Bus;
  /** Undefined: no tracing. */
  readonly tracing?: Tracing | undefined;
}

/** Facts about the process and its machine. */
export interface ProcessReadings {
  readonly pid: number;
  /** `linux x64`. */
  readonly platform: string;
  /** The program's path. */
  readonly executable: string;
  readonly machineBytes: number;
  memory(): { readonly heapUsed: number; readonly rss: number };
  /** Microseconds of processor time since the process began. */
  processorTime(): { readonly user: number; readonly system: number };
}
