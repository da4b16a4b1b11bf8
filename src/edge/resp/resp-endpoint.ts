/** The parts of the RESP endpoint: ports from outside, and objects that its connections share. */
import { ByteBudget, type DatabaseId } from '../../kernel/index.js';
import {
  type Broadcasts,
  type Clock,
  type Counter,
  type Freshness,
  type Histogram,
  type KvEvents,
  type KvGateway,
  type KvGrant,
  type KvMeter,
  type Log,
  type Metrics,
  type Quota,
  type RespAccess,
  type RespNodes,
  type Timers,
  type Tracing,
  UNWATCHED,
} from '../../ports/index.js';
import type { AclCommands } from '../acl/index.js';
import { BroadcastQueue } from '../broadcast-queue.js';
import { PartitionRouter } from '../commands/partition-routing.js';
import { nativeRefusalOf } from '../error-map.js';
import { Incidents } from '../http/incidents.js';
import { type SignIns, UNGUARDED } from '../sign-in-guard.js';
import { ClientRegistry } from './client-registry.js';
import { ClusterMode } from './cluster-mode.js';
import { CutLog } from './cut-log.js';
import { MemoryWaiters } from './memory-waiters.js';
import { Pauses } from './pauses.js';
import type { RespEndpointLimits } from './resp-limits.js';
import { SlowNotes } from './slow-notes.js';
import { SlowReaders } from './slow-readers.js';
import { TrackingTables } from './tracking-tables.js';

/** An older answer is ignored: space may have been freed. */
const REMEMBERED_MS = 1_000;

/**
 * Databases whose owners recently answered that they are full. Commands that would grow them are refused when they
 * are queued, as in Redis. This is an estimate that needs no request to the owner; EXEC asks the owner.
 */
class FullDatabases {
  readonly #untilMs = new Map<DatabaseId, number>();

  constructor(private readonly clock: Clock) {}

  note(database: DatabaseId, isFull: boolean): void {
    if (isFull) this.#untilMs.set(database, this.clock.monotonicMs() + REMEMBERED_MS);
    else if (this.#untilMs.size > 0) this.#untilMs.delete(database);
  }

  has(database: DatabaseId): boolean {
    if (this.#untilMs.size === 0) return false;
    const untilMs = this.#untilMs.get(database);
    return untilMs !== undefined && untilMs > this.clock.monotonicMs();
  }
}

export interface RespEndpointParts {
  readonly gateway: KvGateway;
  readonly access: RespAccess;
  /** Default: grants are always current. */
  readonly freshness?: Pick<Freshness, 'isFresh'> | undefined;
  /** The process has not been ready yet. Default: it has. */
  readonly isStarting?: (() => boolean) | undefined;
  readonly events: KvEvents;
  readonly quota: Quota;
  readonly meter: KvMeter;
  readonly clock: Clock;
  readonly timers: Timers;
  /** Shared with other endpoints of the process. Default: its own queue. */
  readonly broadcasts?: Broadcasts | undefined;
  readonly log: Log;
  /** Default: no metrics. */
  readonly metrics?: Metrics | undefined;
  /** Default: no traces. */
  readonly tracing?: Tracing | undefined;
  /** Default: failed sign-ins are neither slowed nor counted. */
  readonly signIns?: SignIns | undefined;
  readonly limits: RespEndpointLimits;
  /** Default: only the limits of each connection. */
  readonly budget?: ByteBudget | undefined;
  /** Answers ACL commands. Default: partitions are asked. */
  readonly acl?: AclCommands | undefined;
  /** The processes that clients of databases in cluster mode are sent to. Default: every database is one node. */
  readonly nodes?: RespNodes | undefined;
  /** Reported by HELLO; clients choose features by it. */
  readonly redisVersion: string;
}

export class RespEndpoint {
  readonly router: PartitionRouter;
  readonly cluster: ClusterMode | undefined;
  readonly clients: ClientRegistry;
  readonly pauses: Pauses;
  readonly tracking: TrackingTables;
  readonly fullDatabases: FullDatabases;
  readonly slowNotes: SlowNotes;
  readonly budget: ByteBudget;
  readonly broadcasts: Broadcasts;
  readonly room: MemoryWaiters;
  readonly slowReaders = new SlowReaders();
  readonly cuts: CutLog;
  /** Set while draining: no new command starts. */
  isDraining = false;
  readonly incidents: Incidents;
  readonly signIns: SignIns;
  /** Answered commands, refused commands, and durations of batches. */
  readonly answered: Counter;
  readonly refused: Counter;
  readonly batchSeconds: Histogram;
  readonly #failed: Counter;

  constructor(readonly parts: RespEndpointParts) {
    const { metrics = UNWATCHED } = parts;
    this.answered = metrics.counter('millrace_resp_commands_total', 'answered');
    this.refused = metrics.counter('millrace_resp_commands_total', 'refused');
    this.#failed = metrics.counter('millrace_resp_commands_total', 'failed');
    this.batchSeconds = metrics.histogram('millrace_resp_batch_seconds');
    const cluster = parts.nodes === undefined ? undefined : new ClusterMode(parts.nodes);
    this.cluster = cluster;
    this.router = new PartitionRouter(parts.gateway, parts, cluster && ((partition) => cluster.answersFor(partition)));
    this.signIns = parts.signIns ?? UNGUARDED;
    this.incidents = new Incidents('resp', parts, 'r');
    this.budget = parts.budget ?? new ByteBudget(Number.POSITIVE_INFINITY);
    this.broadcasts = parts.broadcasts ?? new BroadcastQueue(parts.clock, parts.timers);
    this.room = new MemoryWaiters(parts.clock, parts.timers, parts.limits.maxRoomWaitMs, this.slowReaders);
    this.cuts = new CutLog(parts);
    this.slowNotes = new SlowNotes(parts.gateway, parts.clock, parts.timers);
    this.fullDatabases = new FullDatabases(parts.clock);
    this.clients = new ClientRegistry((database, change) => parts.meter.connected(database, change));
    this.pauses = new Pauses(parts.clock, parts.timers, parts.events);
    const { maxTrackedKeys } = parts.limits;
    this.tracking = new TrackingTables(parts.events, this.clients, parts.timers, maxTrackedKeys, this.budget);
  }

  get isStarting(): boolean {
    return this.parts.isStarting?.() === true;
  }

  /** Is the database loading in a process that has not been ready yet? In a ready process, commands wait for a move. */
  isLoading({ partitions }: KvGrant): boolean {
    const { gateway } = this.parts;
    return this.isStarting && partitions.some((partition) => gateway.isLoading?.(partition) === true);
  }

  /** The client's error for a failure, which is logged; defects get an id for the log. */
  failureText(failure: unknown): string {
    this.#failed.add();
    return this.incidents.told(nativeRefusalOf(failure, this.isStarting), failure).text;
  }
}
