/** What makes plans act in one process: commands that wait for their turn, data that is bounded, plans that move up. */
import type { Prices } from '../../domain/statistics/index.js';
import type { DatabaseId } from '../../kernel/index.js';
import type { DataLimits, Quota } from '../../ports/index.js';
import { AutoUpgrade, type AutoUpgradePorts } from './auto-upgrade.js';
import { CommandThrottle, type CommandThrottlePorts } from './command-throttle.js';
import { PlanDataLimits } from './plan-data-limits.js';

export interface PlanLimits {
  /** The daily limit, behind the plan's rate. */
  readonly quota: Quota;
  readonly dataLimits: DataLimits;
  /** Nobody waits for a turn any longer. */
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
