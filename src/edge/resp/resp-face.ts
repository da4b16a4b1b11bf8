/** What the native protocol's face is made of: ports from outside, and the few things its connections share. */

import { ByteBudget } from '../../kernel/index.js';
import {
  type Broadcasts,
  type Clock,
  type Counter,
  type Freshness,
  type Histogram,
  type KvEvents,
  type KvGateway,
  type KvMeter,
  type Log,
  type Metrics,
  type Quota,
  type RespAccess,
  type Timers,
  type Tracing,
  UNWATCHED,
} from '../../ports/index.js';
import type { AclCommands } from '../acl/index.js';
import { BroadcastQueue } from '../broadcast-queue.js';
import { PartitionRouter } from '../commands/partition-routing.js';
import { refusalOf } from '../error-map.js';
import { Incidents } from '../http/incidents.js';
import { type SignIns, UNGUARDED } from '../sign-in-guard.js';
import { ClientRegistry } from './client-registry.js';
import { CutLog } from './cut-log.js';
import { FullDatabases } from './full-databases.js';
import { MemoryWaiters } from './memory-waiters.js';
import { Pauses } from './pauses.js';
import type { RespFaceLimits } from './resp-limits.js';
import { SlowReaders } from './slow-readers.js';
import { TrackingTables } from './tracking-tables.js';

export interface RespFaceParts {
  readonly gateway: KvGateway;
  readonly access: RespAccess;
  /** Left out: who may do what is always known. */
  readonly freshness?: Pick<Freshness, 'isFresh'> | undefined;
  readonly events: KvEvents;
  readonly quota: Quota;
  readonly meter: KvMeter;
  readonly clock: Clock;
  readonly timers: Timers;
  /** Shared with other faces of the process; left out: one of its own. */
  readonly broadcasts?: Broadcasts | undefined;
  readonly log: Log;
  /** Left out: nobody watches. */
  readonly metrics?: Metrics | undefined;
  /** Left out: nothing is traced. */
  readonly tracing?: Tracing | undefined;
  /** Left out: guessing is neither slowed nor counted. */
  readonly signIns?: SignIns | undefined;
  readonly limits: RespFaceLimits;
  /** Left out: what connections hold has no bound but those of each. */
  readonly budget?: ByteBudget | undefined;
  /** Answers about users; left out: partitions are asked. */
  readonly acl?: AclCommands | undefined;
  /** HELLO tells it, and clients decide by it which features there are. */
  readonly redisVersion: string;
}

export class RespFace {
  readonly router: PartitionRouter;
  readonly clients: ClientRegistry;
  readonly pauses: Pauses;
  readonly tracking: TrackingTables;
  readonly fullDatabases: FullDatabases;
  readonly budget: ByteBudget;
  readonly broadcasts: Broadcasts;
  readonly room: MemoryWaiters;
  readonly slowReaders = new SlowReaders();
  readonly cuts: CutLog;
  /** Set while draining: nothing new begins. */
  isDraining = false;
  readonly incidents: Incidents;
  readonly signIns: SignIns;
  /** Commands that partitions answered, those that were refused before, and how long answers took. */
  readonly answered: Counter;
  readonly refused: Counter;
  readonly batchSeconds: Histogram;
  readonly #failed: Counter;

  constructor(readonly parts: RespFaceParts) {
    const { metrics = UNWATCHED } = parts;
    this.answered = metrics.counter('millrace_resp_commands_total', 'answered');
    this.refused = metrics.counter('millrace_resp_commands_total', 'refused');
    this.#failed = metrics.counter('millrace_resp_commands_total', 'failed');
    this.batchSeconds = metrics.histogram('millrace_resp_batch_seconds');
    this.router = new PartitionRouter(parts.gateway);
    this.signIns = parts.signIns ?? UNGUARDED;
    this.incidents = new Incidents('resp', parts, 'r');
    this.budget = parts.budget ?? new ByteBudget(Number.POSITIVE_INFINITY);
    this.broadcasts = parts.broadcasts ?? new BroadcastQueue(parts.clock, parts.timers);
    this.room = new MemoryWaiters(parts.clock, parts.timers, parts.limits.maxRoomWaitMs, this.slowReaders);
    this.cuts = new CutLog(parts);
    this.fullDatabases = new FullDatabases(parts.clock);
    this.clients = new ClientRegistry((database, change) => parts.meter.connected(database, change));
    this.pauses = new Pauses(parts.clock, parts.timers, parts.events);
    const { maxTrackedKeys } = parts.limits;
    this.tracking = new TrackingTables(parts.events, this.clients, parts.timers, maxTrackedKeys, this.budget);
  }

  /** What a client hears of a failure, which the log has; defects get an id that can be searched for. */
  failureText(failure: unknown): string {
    this.#failed.add();
    return this.incidents.told(refusalOf(failure), failure).text;
  }
}
