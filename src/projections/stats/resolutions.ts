/**
 * Resolutions of stored time and their retention: each period is answered from one of them with at most 420 rows, and
 * the days of a year from the last one.
 */
import { DAY_MS, HOUR_MS, MINUTE_MS, type Period } from '../../domain/statistics/index.js';

export interface Resolution {
  /** The stored number. */
  readonly id: number;
  readonly stepMs: number;
  /** Buckets that ended earlier are removed and not created. */
  readonly keepMs: number;
}

const MINUTE: Resolution = { id: 1, stepMs: MINUTE_MS, keepMs: 4 * HOUR_MS };
const TWELVE_MINUTES: Resolution = { id: 2, stepMs: 12 * MINUTE_MS, keepMs: 14 * HOUR_MS };
const TWENTY_FOUR_MINUTES: Resolution = { id: 3, stepMs: 24 * MINUTE_MS, keepMs: 8 * DAY_MS };
const THREE_HOURS: Resolution = { id: 4, stepMs: 3 * HOUR_MS, keepMs: 32 * DAY_MS };
export const DAYS: Resolution = { id: 5, stepMs: DAY_MS, keepMs: 400 * DAY_MS };

export const RESOLUTIONS: readonly Resolution[] = [MINUTE, TWELVE_MINUTES, TWENTY_FOUR_MINUTES, THREE_HOURS, DAYS];

/** The coarsest resolution with steps that divide the period's steps. */
export const RESOLUTION_OF: Readonly<Record<Period, Resolution>> = {
  '1h': MINUTE,
  '3h': MINUTE,
  '12h': TWELVE_MINUTES,
  '1d': TWENTY_FOUR_MINUTES,
  '3d': TWENTY_FOUR_MINUTES,
  '7d': TWENTY_FOUR_MINUTES,
  '30d': THREE_HOURS,
};
