/**
 * How much each partition may hold: its share of what its database's plan allows. A plan is shared out evenly, and
 * keys are spread by hash, so with several partitions the fullest one reaches its share a little before the database
 * would have reached the whole; nobody has to be asked before a write that way.
 */
import type { ControlState } from '../../domain/control/index.js';
import type { DatabaseId, PartitionName } from '../../kernel/index.js';
import { parseKvPartition } from '../../messages/index.js';
import type { DataLimit, DataLimits } from '../../ports/index.js';

export class PlanDataLimits implements DataLimits {
  constructor(
    private readonly view: { readonly state: ControlState; readonly version: number },
    private readonly onReached: (database: DatabaseId) => void = () => {},
  ) {}

  get version(): number {
    return this.view.version;
  }

  limitOf(partition: PartitionName): DataLimit | undefined {
    const database = this.view.state.live(parseKvPartition(partition).database);
    const { maxDataBytes = 0 } = database?.limits ?? {};
    if (database === undefined || maxDataBytes === 0) return undefined;
    const maxBytes = Math.floor(maxDataBytes / database.partitions);
    return { maxBytes, isEvicting: database.settings?.isEvicting === true };
  }

  maxCommandBytesOf(partition: PartitionName): number | undefined {
    return this.view.state.live(parseKvPartition(partition).database)?.limits.maxCommandBytes;
  }

  reached(partition: PartitionName): void {
    this.onReached(parseKvPartition(partition).database);
  }
}
