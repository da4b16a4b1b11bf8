/** Names by which parts ask for each other. Resolved in this folder and nowhere else. */
import type { InjectionToken } from 'tsyringe';
import type { ClockWatch, GuardedClock, Membership, Session } from '../actors/runtime/index.js';
import type { ClusterLayout, NatsConnections } from '../adapters/nats/index.js';
import type { Config } from '../config/index.js';
import type {
  BootTime,
  Bus,
  Clock,
  Journal,
  LeaseStore,
  Log,
  Metrics,
  NativeFace,
  ObjectStore,
  Random,
  Sealing,
  Timers,
} from '../ports/index.js';
import type { ProcessMemory } from './process-memory.js';

function token<T>(name: string): InjectionToken<T> {
  return Symbol(name) as InjectionToken<T>;
}

export const CONFIG = token<Config>('Config');
export const CLOCK = token<Clock>('Clock');
export const GUARDED_CLOCK = token<GuardedClock>('GuardedClock');
export const BOOT_TIME = token<BootTime>('BootTime');
export const TIMERS = token<Timers>('Timers');
export const RANDOM = token<Random>('Random');
export const LOG = token<Log>('Log');
/** For whatever a stranger can cause. */
export const FACE_LOG = token<Log>('FaceLog');
export const METRICS = token<Metrics>('Metrics');
/** Of the key file. */
export const SEALING = token<Sealing>('Sealing');
export const MEMORY = token<ProcessMemory>('ProcessMemory');
export const JOURNAL = token<Journal>('Journal');
export const LEASES = token<LeaseStore>('LeaseStore');
export const OBJECTS = token<ObjectStore>('ObjectStore');
export const BUS = token<Bus>('Bus');
export const LAYOUT = token<ClusterLayout>('ClusterLayout');
export const CONNECTIONS = token<NatsConnections>('NatsConnections');
export const CLOCK_WATCH = token<ClockWatch>('ClockWatch');
/** Registered once it listens. */
export const NATIVE_FACE = token<NativeFace>('NativeFace');
export const SESSION = token<Session>('Session');
export const MEMBERSHIP = token<Membership>('Membership');
