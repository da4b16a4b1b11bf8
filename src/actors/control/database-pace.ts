/**
 * How fast a database may run commands just now: by its plan, and slower once it has used up the bandwidth or the budget
 * of the month. A month begins at midnight UTC of its first day. Judged by what the meter has counted, so a second or
 * two behind; storage is no part of the bill here, because nobody counts it day by day in the control state.
 */
import { type ControlState, type Database, type UtcDay, utcDayOf } from '../../domain/control/index.js';
import { daysOfMonth, kvCents, type Prices } from '../../domain/statistics/index.js';
import type { DatabaseId } from '../../kernel/index.js';

/**
 * A database that has used up its bandwidth or its budget has so many: enough to look after it and to see that it is
 * there, and a thousandth of what plans allow.
 */
export const SLOWED_COMMANDS_PER_SECOND = 10;

const CENTS_PER_DOLLAR = 100;

export interface MonthUse {
  readonly bytes: number;
  readonly cents: number;
}

export interface DatabasePace {
  /** Commands a second that all together may be let through; 0: no limit. */
  readonly commandsPerSecond: number;
  readonly reason: 'plan' | 'bandwidth' | 'budget';
  /** Depends on what is used, so that it may be another in a moment. */
  readonly isOfUse: boolean;
}

const UNLIMITED: DatabasePace = { commandsPerSecond: 0, reason: 'plan', isOfUse: false };

/** @param database undefined: one that is not known here, or that has no plan */
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

/** What was counted in the month that `nowMs` is in, and what it costs. */
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
