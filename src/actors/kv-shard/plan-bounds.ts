/** Gives the engines the bounds of the plans and of this process. */
import type { KvEngine } from '../../domain/kv/index.js';
import { type DataLimits, NO_DATA_LIMITS } from '../../ports/index.js';
import type { HeldData } from './held-data.js';
import type { OwnedPartition } from './owned-partition.js';

export class PlanBounds {
  constructor(
    private readonly limits: DataLimits = NO_DATA_LIMITS,
    private readonly held?: Pick<HeldData, 'maxBytesOf'>,
  ) {}

  /** Tells the engine the present bounds of plan and process; called before each request. */
  tell(owned: OwnedPartition, engine: KvEngine): void {
    if (this.held !== undefined) engine.bounds.processMaxBytes = this.held.maxBytesOf(owned.database, engine);
    const { version } = this.limits;
    if (owned.limitsVersion === version) return;
    owned.limitsVersion = version;
    engine.bounds.plan = this.limits.limitOf(owned.name);
    engine.maxCommandBytes = this.limits.maxCommandBytesOf(owned.name) ?? Number.POSITIVE_INFINITY;
  }

  /** A command was refused because the database is full: a larger plan may help. */
  noteFull(owned: OwnedPartition, engine: KvEngine): void {
    if (engine.bounds.isPlanReached) this.limits.reached(owned.name);
  }
}
