/** Between what plans, and this process, let partitions hold and the engines that keep to it. */
import type { KvEngine } from '../../domain/kv/index.js';
import { type DataLimits, NO_DATA_LIMITS } from '../../ports/index.js';
import type { HeldData } from './held-data.js';
import type { OwnedPartition } from './owned-partition.js';

export class PlanBounds {
  constructor(
    private readonly limits: DataLimits = NO_DATA_LIMITS,
    private readonly held?: Pick<HeldData, 'maxBytesOf'>,
  ) {}

  /** The engine knows what the plan allows, and the process has room for, just now. To be called before each request. */
  tell(owned: OwnedPartition, engine: KvEngine): void {
    if (this.held !== undefined) engine.bounds.processMaxBytes = this.held.maxBytesOf(owned.database, engine);
    const { version } = this.limits;
    if (owned.limitsVersion === version) return;
    owned.limitsVersion = version;
    engine.bounds.plan = this.limits.limitOf(owned.name);
    engine.maxCommandBytes = this.limits.maxCommandBytesOf(owned.name) ?? Number.POSITIVE_INFINITY;
  }

  /** A command was refused for want of room: a larger plan may help. */
  noteFull(owned: OwnedPartition, engine: KvEngine): void {
    if (engine.bounds.isPlanReached) this.limits.reached(owned.name);
  }
}
