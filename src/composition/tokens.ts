/**
 * Tokens by which parts are registered and resolved. They are resolved only in this folder: classes of other folders
 * get their dependencies as constructor arguments, which the compiler checks (docs/decisions/dependencies.md).
 */
import 'reflect-metadata';
import { container, type DependencyContainer, type InjectionToken, instanceCachingFactory } from 'tsyringe';
import type { AlertNotices } from '../actors/alerts/index.js';
import type { AuditExporter, AuditFileWriter } from '../actors/audit/index.js';
import type { ClusterLook } from '../actors/cluster/index.js';
import type { DatabaseKeeper, InstallationCopy, ProcessControl } from '../actors/control/index.js';
import type { KvDeliveries, KvOwner, KvShardGateway } from '../actors/kv-shard/index.js';
import type { ProcessTrials, QueueOwner, QueueShardGateway } from '../actors/queue/index.js';
import type { ClockWatch, GuardedClock, Membership, Session, ShardCaller } from '../actors/runtime/index.js';
import type { UsageReports } from '../actors/usage/index.js';
import type { SocketHttpOut, StandardWebhooks } from '../adapters/http-delivery/index.js';
import type { JetStreamObjectStore, Names, NatsConnections } from '../adapters/nats/index.js';
import type { AwaitedStart, JournalTotal, NatsOpening, OpenedNats } from '../adapters/nats/installation/index.js';
import type {
  AnsweringThread,
  DataKey,
  JobProcesses,
  Lifetime,
  ProcessCompactor,
  ProcessMemory,
  PromMetrics,
} from '../adapters/node/index.js';
import type { SmtpMailSender } from '../adapters/smtp/index.js';
import type { SupervisorLink, WorkerStart } from '../adapters/workers/index.js';
import type { Config } from '../config/index.js';
import type { KeepRequest, KeptState } from '../journal/backup/index.js';
import type { BranchRequest, ReferredState } from '../journal/index.js';
import type { ByteBudget } from '../kernel/index.js';
import type {
  BootTime,
  Bus,
  Clock,
  DataRemoval,
  IdentityProviders,
  IntakeLog,
  Journal,
  LeaseStore,
  Log,
  MessageLog,
  NativeEndpoint,
  ProcessPorts,
  Random,
  ReadModelCare,
  RunLog,
  Sealing,
  SearchQueries,
  Statistics,
  StorageGauge,
  Timers,
  VectorQueries,
} from '../ports/index.js';
import type {
  EventLimits,
  ReadModelsInstruction,
  ReadModelWorkerStatus,
  SearchStatus,
  SearchWord,
} from '../projections/index.js';
import type { CompactorTask, ReadModelsTask, SearchTask, ThreadTask } from './thread-tasks.js';

/** The place of this process among the workers of its machine. */
export interface WorkerPlace {
  readonly link: SupervisorLink;
  readonly start: WorkerStart;
}

function token<T>(name: string): InjectionToken<T> {
  return Symbol(name) as InjectionToken<T>;
}

/** One for each process, thread and command. The container's reflection library is loaded with this file. */
export function newContainer(): DependencyContainer {
  return container.createChildContainer();
}

/** Registers a singleton that is created when it is first resolved. */
export function once<T>(c: DependencyContainer, name: InjectionToken<T>, make: (c: DependencyContainer) => T): void {
  c.register(name, { useFactory: instanceCachingFactory(make) });
}

/** Undefined in a process without the role that registers it. */
export function ifRegistered<T>(c: DependencyContainer, name: InjectionToken<T>): T | undefined {
  return c.isRegistered(name, true) ? c.resolve(name) : undefined;
}

// For processes, threads and commands.
export const CLOCK = token<Clock>('Clock');
export const TIMERS = token<Timers>('Timers');
export const RANDOM = token<Random>('Random');
export const LOG = token<Log>('Log');
export const CONNECTIONS = token<NatsConnections>('NatsConnections');
export const NAMES = token<Names>('Names');
export const JOURNAL = token<Journal>('Journal');
export const LEASES = token<LeaseStore>('LeaseStore');
export const OBJECTS = token<JetStreamObjectStore>('ObjectStore');

// For processes.
export const CONFIG = token<Config>('Config');
export const LIFETIME = token<Lifetime>('Lifetime');
export const GUARDED_CLOCK = token<GuardedClock>('GuardedClock');
export const BOOT_TIME = token<BootTime>('BootTime');
/** A log with a limit for events that any client can cause. */
export const ENDPOINT_LOG = token<Log>('EndpointLog');
export const METRICS = token<PromMetrics>('Metrics');
/** Empty without tracing. */
export const TRACING = token<Pick<ProcessPorts, 'tracing'>>('Tracing');
export const MEMORY = token<ProcessMemory>('ProcessMemory');
export const AWAITED_START = token<AwaitedStart>('AwaitedStart');
export const NATS_OPENING = token<NatsOpening>('NatsOpening');
export const NATS = token<OpenedNats>('OpenedNats');
export const BUS = token<Bus>('Bus');
export const MEMBERSHIP = token<Membership>('Membership');
export const CLOCK_WATCH = token<ClockWatch>('ClockWatch');
export const SESSION = token<Session>('Session');
/** Calls the owners of shards in other processes. */
export const CALLER = token<ShardCaller>('ShardCaller');
/** Of encryption at rest; undefined without it. */
export const DATA_KEY = token<{ readonly key: DataKey | undefined }>('DataKey');
/** Seals with the key file. */
export const SEALING = token<Sealing>('Sealing');
export const WEBHOOKS = token<StandardWebhooks>('StandardWebhooks');
export const JOURNAL_TOTAL = token<JournalTotal>('JournalTotal');
export const COMPACTOR = token<ProcessCompactor<CompactorTask>>('Compactor');
export const STORAGE = token<StorageGauge>('StorageGauge');
export const DELIVERIES = token<KvDeliveries>('KvDeliveries');
export const INTAKE = token<IntakeLog>('IntakeLog');
export const HTTP_OUT = token<SocketHttpOut>('HttpOut');
export const MAIL_SENDER = token<SmtpMailSender | undefined>('MailSender');
export const CONTROL = token<ProcessControl>('ProcessControl');
export const CLUSTER_LOOK = token<ClusterLook>('ClusterLook');
export const GATEWAY = token<KvShardGateway>('KvGateway');
export const QUEUE_GATEWAY = token<QueueShardGateway>('QueueGateway');
export const TRIALS = token<ProcessTrials>('TrialRuns');
/** Registered if providers are configured. */
export const IDENTITY_PROVIDERS = token<IdentityProviders>('IdentityProviders');
export const ALERT_NOTICES = token<AlertNotices>('AlertNotices');
export const AUDIT_EXPORTER = token<AuditExporter>('AuditExporter');
export const USAGE_REPORTS = token<UsageReports>('UsageReports');
/** The management endpoint's own address, once it listens. */
export const MANAGEMENT_ADDRESS = token<{ url: string | undefined }>('ManagementAddress');
export const BACKUP_JOBS = token<JobProcesses<ThreadTask, KeepRequest, KeptState>>('BackupJobs');
export const BRANCH_JOBS = token<JobProcesses<ThreadTask, BranchRequest, ReferredState>>('BranchJobs');
/** Registered if a place of backups is configured. */
export const INSTALLATION_COPY = token<InstallationCopy>('InstallationCopy');
/** Registered if a directory of audit files is configured. */
export const AUDIT_FILES = token<AuditFileWriter>('AuditFiles');
export const BACKUPS = token<DatabaseKeeper>('Backups');
export const REMOVAL = token<DataRemoval & { stop(): void }>('DataRemoval');
/** In this process or in another, like the next two. */
export const READ_MODELS = token<MessageLog & RunLog>('ReadModels');
export const STATISTICS = token<Statistics>('Statistics');
export const SEARCH = token<SearchQueries & VectorQueries>('SearchQueries');

// In a process with the role.
export const KV_OWNER = token<KvOwner>('KvOwner');
/** Memory for the copies of databases that triggers need. */
export const TRIGGER_COPIES = token<ByteBudget>('TriggerCopies');
export const QUEUE_OWNER = token<QueueOwner>('QueueOwner');
export const READ_MODELS_THREAD =
  token<AnsweringThread<ReadModelsTask, ReadModelsInstruction, ReadModelWorkerStatus>>('ReadModelsThread');
export const EVENT_LIMITS = token<EventLimits>('EventLimits');
export const SEARCH_THREAD = token<AnsweringThread<SearchTask, SearchWord, SearchStatus>>('SearchThread');
export const READ_MODEL_CARE = token<ReadModelCare>('ReadModelCare');
/** In a worker, which has a supervisor. */
export const WORKER = token<WorkerPlace>('WorkerPlace');
/** Over when every check of the process has succeeded once. */
export const START = token<{ isOver: boolean }>('Start');
/** Registered after it listens. */
export const NATIVE_ENDPOINT = token<NativeEndpoint>('NativeEndpoint');

/** The ports that need only this machine and NATS. */
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

/** The ports of a process's parts. */
export function portsOf(c: DependencyContainer) {
  return { ...storagePortsOf(c), metrics: c.resolve(METRICS), bus: c.resolve(BUS), ...c.resolve(TRACING) };
}
