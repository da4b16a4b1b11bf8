/** Enforces plans in one process: throttled commands, bounded data, automatic upgrades. */

import type { ControlState } from '../../domain/control/index.js';
import type { Prices } from '../../domain/statistics/index.js';
import type { DatabaseId, PartitionName } from '../../kernel/index.js';
import type { DataLimit, DataLimits, Quota } from '../../ports/index.js';
import { parseKvPartition } from '../../protocol/index.js';
import { AutoUpgrade, type AutoUpgradePorts } from './auto-upgrade.js';
import { CommandThrottle, type CommandThrottlePorts } from './command-throttle.js';

/**
 * The data limit of each partition: an equal share of the limit of its database's plan. Keys are spread by hash, so
 * with several partitions the fullest one reaches its share slightly before the database reaches the whole. In return a
 * write needs no question to other partitions.
 */
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

export interface PlanLimits {
  /** The daily limit, after the plan's rate. */
  readonly quota: Quota;
  readonly dataLimits: DataLimits;
  /** Ends all waiting for a turn. */
  stop(): void;
}

export type PlanLimitsPorts = Omit<CommandThrottlePorts, 'onBandwidthUsedUp'> & AutoUpgradePorts;

export function planLimits(ports: PlanLimitsPorts, prices: Prices): PlanLimits {
  const upgrade = new AutoUpgrade(ports);
  const onBandwidthUsedUp = (database: DatabaseId) => void upgrade.reached(database, 'bandwidth');
  const throttle = new CommandThrottle({ ...ports, onBandwidthUsedUp }, prices);
  const dataLimits = new PlanDataLimits(ports.view, (database) => void upgrade.reached(database, 'data'));
  return { quota: throttle, dataLimits, stop: () => throttle.stop() };
}
