/**
 * The present command rate of a database: the rate of its plan, or a lower one after the bandwidth or the budget of the
 * month is used up. A month begins at midnight UTC. The meter's counts are one or two seconds old. Storage is not part
 * of this bill, because the control state has no daily count of it.
 */
import { type ControlState, type Database, type UtcDay, utcDayOf } from '../../domain/control/index.js';
import { daysOfMonth, kvCents, type Prices } from '../../domain/statistics/index.js';
import type { DatabaseId } from '../../kernel/index.js';

/**
 * The rate of a database that has used up its bandwidth or budget: enough to administer it and to see that it works; a
 * thousandth of the plans' rates.
 */
export const SLOWED_COMMANDS_PER_SECOND = 10;

const CENTS_PER_DOLLAR = 100;

export interface MonthUse {
  readonly bytes: number;
  readonly cents: number;
}

export interface DatabasePace {
  /** Commands per second in total; 0: no limit. */
  readonly commandsPerSecond: number;
  readonly reason: 'plan' | 'bandwidth' | 'budget';
  /** True when the rate depends on the month's use, and so may change soon. */
  readonly isOfUse: boolean;
}

const UNLIMITED: DatabasePace = { commandsPerSecond: 0, reason: 'plan', isOfUse: false };

/** @param database  undefined for an unknown database or one without a plan */
export function paceOf(database: Database | undefined, use: () => MonthUse): DatabasePace {
  if (database === undefined) return UNLIMITED;
  const { maxCommandsPerSecond = 0, maxBytesPerMonth = 0 } = database.limits;
  const { budgetDollars = 0 } = database.settings ?? {};
  if (maxBytesPerMonth === 0 && budgetDollars === 0) {
    return { commandsPerSecond: maxCommandsPerSecond, reason: 'plan', isOfUse: false };
  }
  const { bytes, cents } = use();
  const slowed = (reason: DatabasePace['reason']): DatabasePace => ({
    commandsPerSecond: Math.min(maxCommandsPerSecond || SLOWED_COMMANDS_PER_SECOND, SLOWED_COMMANDS_PER_SECOND),
    reason,
    isOfUse: true,
  });
  if (maxBytesPerMonth > 0 && bytes >= maxBytesPerMonth) return slowed('bandwidth');
  if (budgetDollars > 0 && cents >= budgetDollars * CENTS_PER_DOLLAR) return slowed('budget');
  return { commandsPerSecond: maxCommandsPerSecond, reason: 'plan', isOfUse: true };
}

/** The use counted in the month of `nowMs`, and its cost. */
export function monthUseOf(state: ControlState, id: DatabaseId, nowMs: number, prices: Prices): MonthUse {
  const days = daysSoFar(nowMs).map((day) => {
    const { commands, bytesIn, bytesOut } = state.usageOf(id, day);
    return { day, commands, bandwidthBytes: bytesIn + bytesOut, storageBytes: 0 };
  });
  let bytes = 0;
  for (const { bandwidthBytes } of days) bytes += bandwidthBytes;
  let cents = 0;
  for (const ofDay of kvCents(days, prices)) cents += ofDay;
  return { bytes, cents };
}

function daysSoFar(nowMs: number): UtcDay[] {
  const today = utcDayOf(nowMs);
  return daysOfMonth(nowMs).filter((day) => day <= today);
}
