/** What the native protocol's face is made of: ports from outside, and the few things its connections share. */
import type { Clock, KvEvents, KvGateway, KvMeter, Log, Quota, RespAccess, Timers } from '../../ports/index.js';
import type { AclCommands } from '../acl/index.js';
import { Incidents } from '../incidents.js';
import { PartitionRouter } from '../kv/partition-routing.js';
import { ClientRegistry } from './client-registry.js';
import { FullDatabases } from './full-databases.js';
import type { RespFaceLimits } from './resp-limits.js';
import { TrackingTables } from './tracking-tables.js';

export interface RespFaceParts {
  readonly gateway: KvGateway;
  readonly access: RespAccess;
  readonly events: KvEvents;
  readonly quota: Quota;
  readonly meter: KvMeter;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly log: Log;
  readonly limits: RespFaceLimits;
  /** Answers about users; left out: partitions are asked. */
  readonly acl?: AclCommands | undefined;
  /** As HELLO tells it; clients decide features by it. */
  readonly redisVersion: string;
}

export class RespFace {
  readonly router: PartitionRouter;
  readonly clients: ClientRegistry;
  readonly tracking: TrackingTables;
  readonly fullDatabases: FullDatabases;
  /** Set while draining: nothing new begins. */
  isDraining = false;
  readonly incidents: Incidents;

  constructor(readonly parts: RespFaceParts) {
    this.router = new PartitionRouter(parts.gateway);
    this.incidents = new Incidents('resp', parts, 'r');
    this.fullDatabases = new FullDatabases(parts.clock);
    this.clients = new ClientRegistry(parts.clock, parts.timers, (database, change) =>
      parts.meter.connected(database, change),
    );
    this.tracking = new TrackingTables(parts.events, this.clients, parts.timers, parts.limits.maxTrackedKeys);
  }
}
