/** Between what plans let partitions hold and the engines that keep to it. */
import type { KvEngine } from '../../domain/kv/index.js';
import { type DataLimits, NO_DATA_LIMITS } from '../../ports/index.js';
import type { PartitionSlot } from './partition-slot.js';

export class PlanBounds {
  constructor(private readonly limits: DataLimits = NO_DATA_LIMITS) {}

  /** The engine knows what the plan allows just now. To be called before each request. */
  tell(slot: PartitionSlot, engine: KvEngine): void {
    const { version } = this.limits;
    if (slot.limitsVersion === version) return;
    slot.limitsVersion = version;
    engine.bounds.plan = this.limits.limitOf(slot.name);
  }

  /** A command was refused for want of room: a larger plan may help. */
  noteFull(slot: PartitionSlot, engine: KvEngine): void {
    if (engine.bounds.isPlanReached) this.limits.reached(slot.name);
  }
}
