/** Names by which parts ask for each other. Resolved in this folder and nowhere else. */
import type { DependencyContainer, InjectionToken } from 'tsyringe';
import type { KvDeliveries, KvWork } from '../actors/kv-shard/index.js';
import type { QueueWork } from '../actors/queue/index.js';
import type { ClockWatch, GuardedClock, Membership, Session, ShardHost } from '../actors/runtime/index.js';
import type { ClusterLayout } from '../adapters/nats/index.js';
import type { ProcessMemory } from '../adapters/node/index.js';
import type { Config } from '../config/index.js';
import type {
  Backups,
  BootTime,
  Bus,
  Clock,
  Compactor,
  DataRemoval,
  HttpOut,
  IntakeLog,
  Journal,
  KvGateway,
  LeaseStore,
  Log,
  MessageLog,
  Metrics,
  NativeFace,
  ObjectStore,
  Random,
  RunLog,
  Sealing,
  SearchQueries,
  Statistics,
  StorageGauge,
  Timers,
} from '../ports/index.js';
import type { ControlRole } from './control-role.js';
import type { NatsWorld } from './nats-world.js';
import type { ProjectionRole } from './projection-role.js';
import type { SearchRole } from './search-role.js';

/** What is not registered in a process without the role that has it. */
export function ifRegistered<T>(c: DependencyContainer, name: InjectionToken<T>): T | undefined {
  return c.isRegistered(name) ? c.resolve(name) : undefined;
}

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
export const CLOCK_WATCH = token<ClockWatch>('ClockWatch');
/** Registered once it listens. */
export const NATIVE_FACE = token<NativeFace>('NativeFace');
export const SESSION = token<Session>('Session');
export const MEMBERSHIP = token<Membership>('Membership');

// What the roles of a process share.
export const WORLD = token<NatsWorld>('NatsWorld');
export const COMPACTOR = token<Compactor>('Compactor');
export const STORAGE = token<StorageGauge>('StorageGauge');
export const DELIVERIES = token<KvDeliveries>('KvDeliveries');
export const INTAKE = token<IntakeLog>('IntakeLog');
export const HTTP_OUT = token<HttpOut>('HttpOut');
export const CONTROL = token<ControlRole>('ControlRole');
export const GATEWAY = token<KvGateway>('KvGateway');
export const BACKUPS = token<Backups>('Backups');
export const REMOVAL = token<DataRemoval>('DataRemoval');
/** Of this process or another's, as the next two. */
export const READ_MODELS = token<MessageLog & RunLog>('ReadModels');
export const STATISTICS = token<Statistics>('Statistics');
export const SEARCH = token<SearchQueries>('SearchQueries');

// What a process with the role has.
export const KV_HOST = token<ShardHost<KvWork>>('KvHost');
export const QUEUE_HOST = token<ShardHost<QueueWork>>('QueueHost');
export const PROJECTION_ROLE = token<ProjectionRole>('ProjectionRole');
export const SEARCH_ROLE = token<SearchRole>('SearchRole');

/** The world as the parts of a process reach it. */
export function portsOf(c: DependencyContainer) {
  return {
    clock: c.resolve(CLOCK),
    timers: c.resolve(TIMERS),
    random: c.resolve(RANDOM),
    log: c.resolve(LOG),
    metrics: c.resolve(METRICS),
    journal: c.resolve(JOURNAL),
    leases: c.resolve(LEASES),
    objects: c.resolve(OBJECTS),
    bus: c.resolve(BUS),
  };
}
