/**
 * Names by which parts ask for each other, and how one is registered. Resolved in this folder and nowhere else: classes
 * of other folders take what they need as arguments, which the compiler checks (docs/adr/0009-libraries.md).
 */
import 'reflect-metadata';
import { container, type DependencyContainer, type InjectionToken, instanceCachingFactory } from 'tsyringe';
import type { ClusterLook } from '../actors/cluster/index.js';
import type { DatabaseKeeper, ProcessControl } from '../actors/control/index.js';
import type { KvDeliveries, KvOwner, KvShardGateway } from '../actors/kv-shard/index.js';
import type { QueueOwner } from '../actors/queue/index.js';
import type { ClockWatch, GuardedClock, Membership, Session, ShardCaller } from '../actors/runtime/index.js';
import type { SocketHttpOut } from '../adapters/http-delivery/index.js';
import type { JetStreamObjectStore, Names, NatsConnections } from '../adapters/nats/index.js';
import type { JournalTotal, NatsOpening, OpenedNats } from '../adapters/nats/installation/index.js';
import type {
  AnsweringThread,
  JobProcesses,
  Lifetime,
  ProcessCompactor,
  ProcessMemory,
  PromMetrics,
} from '../adapters/node/index.js';
import type { Config } from '../config/index.js';
import type { KeepRequest, KeptState } from '../journal/backup/index.js';
import type {
  BootTime,
  Bus,
  Clock,
  DataRemoval,
  IntakeLog,
  Journal,
  LeaseStore,
  Log,
  MessageLog,
  NativeFace,
  ProcessPorts,
  Random,
  ReadModelCare,
  RunLog,
  Sealing,
  SearchQueries,
  Statistics,
  StorageGauge,
  Timers,
} from '../ports/index.js';
import type {
  EventLimits,
  KeptReadModelsStatus,
  ReadModelsWord,
  SearchStatus,
  SearchWord,
} from '../projections/index.js';
import type { CompactorTask } from './compactor-worker.js';
import type { ReadModelsTask } from './read-models-worker.js';
import type { SearchTask } from './search-worker.js';
import type { ThreadTask } from './thread-container.js';

function token<T>(name: string): InjectionToken<T> {
  return Symbol(name) as InjectionToken<T>;
}

/** A process, a thread and a command have one each. The reflection that the container needs is loaded with this file. */
export function newContainer(): DependencyContainer {
  return container.createChildContainer();
}

/** Made when it is first asked for, and the same one from then on. */
export function once<T>(c: DependencyContainer, name: InjectionToken<T>, make: (c: DependencyContainer) => T): void {
  c.register(name, { useFactory: instanceCachingFactory(make) });
}

/** What is not registered in a process without the role that has it. */
export function ifRegistered<T>(c: DependencyContainer, name: InjectionToken<T>): T | undefined {
  return c.isRegistered(name) ? c.resolve(name) : undefined;
}

// These belong to a process, a thread and a command alike.
export const CLOCK = token<Clock>('Clock');
export const TIMERS = token<Timers>('Timers');
export const RANDOM = token<Random>('Random');
export const LOG = token<Log>('Log');
export const CONNECTIONS = token<NatsConnections>('NatsConnections');
export const NAMES = token<Names>('Names');
export const JOURNAL = token<Journal>('Journal');
export const LEASES = token<LeaseStore>('LeaseStore');
export const OBJECTS = token<JetStreamObjectStore>('ObjectStore');

// These belong to a process.
export const CONFIG = token<Config>('Config');
export const LIFETIME = token<Lifetime>('Lifetime');
export const GUARDED_CLOCK = token<GuardedClock>('GuardedClock');
export const BOOT_TIME = token<BootTime>('BootTime');
/** It takes whatever a stranger can cause. */
export const FACE_LOG = token<Log>('FaceLog');
export const METRICS = token<PromMetrics>('Metrics');
/** Empty where nothing is traced. */
export const TRACING = token<Pick<ProcessPorts, 'tracing'>>('Tracing');
export const MEMORY = token<ProcessMemory>('ProcessMemory');
export const NATS_OPENING = token<NatsOpening>('NatsOpening');
export const NATS = token<OpenedNats>('OpenedNats');
export const BUS = token<Bus>('Bus');
export const MEMBERSHIP = token<Membership>('Membership');
export const CLOCK_WATCH = token<ClockWatch>('ClockWatch');
export const SESSION = token<Session>('Session');
/** It leads to the owners of shards in other processes. */
export const CALLER = token<ShardCaller>('ShardCaller');
/** It seals with the key file. */
export const SEALING = token<Sealing>('Sealing');
export const JOURNAL_TOTAL = token<JournalTotal>('JournalTotal');
export const COMPACTOR = token<ProcessCompactor<CompactorTask>>('Compactor');
export const STORAGE = token<StorageGauge>('StorageGauge');
export const DELIVERIES = token<KvDeliveries>('KvDeliveries');
export const INTAKE = token<IntakeLog>('IntakeLog');
export const HTTP_OUT = token<SocketHttpOut>('HttpOut');
export const CONTROL = token<ProcessControl>('ProcessControl');
export const CLUSTER_LOOK = token<ClusterLook>('ClusterLook');
export const GATEWAY = token<KvShardGateway>('KvGateway');
export const BACKUP_JOBS = token<JobProcesses<ThreadTask, KeepRequest, KeptState>>('BackupJobs');
export const BACKUPS = token<DatabaseKeeper>('Backups');
export const REMOVAL = token<DataRemoval & { stop(): void }>('DataRemoval');
/** They are this process's or another's, like the next two. */
export const READ_MODELS = token<MessageLog & RunLog>('ReadModels');
export const STATISTICS = token<Statistics>('Statistics');
export const SEARCH = token<SearchQueries>('SearchQueries');

// What a process with the role has.
export const KV_OWNER = token<KvOwner>('KvOwner');
export const QUEUE_OWNER = token<QueueOwner>('QueueOwner');
export const READ_MODELS_THREAD =
  token<AnsweringThread<ReadModelsTask, ReadModelsWord, KeptReadModelsStatus>>('ReadModelsThread');
export const EVENT_LIMITS = token<EventLimits>('EventLimits');
export const SEARCH_THREAD = token<AnsweringThread<SearchTask, SearchWord, SearchStatus>>('SearchThread');
export const READ_MODEL_CARE = token<ReadModelCare>('ReadModelCare');
/** Registered once it listens. */
export const NATIVE_FACE = token<NativeFace>('NativeFace');

/** What stands on this machine and on NATS alone. */
export function storagePortsOf(c: DependencyContainer) {
  return {
    clock: c.resolve(CLOCK),
    timers: c.resolve(TIMERS),
    random: c.resolve(RANDOM),
    log: c.resolve(LOG),
    journal: c.resolve(JOURNAL),
    leases: c.resolve(LEASES),
    objects: c.resolve(OBJECTS),
  };
}

/** What the parts of a process reach the outside by. */
export function portsOf(c: DependencyContainer) {
  return { ...storagePortsOf(c), metrics: c.resolve(METRICS), bus: c.resolve(BUS), ...c.resolve(TRACING) };
}
