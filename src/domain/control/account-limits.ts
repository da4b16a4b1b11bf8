/** The limits of an account's queue: the allowed range and the default of each. */
import type { AccountLimits } from '../queue/index.js';

const MIB = 1024 * 1024;
const DAY_MS = 86_400_000;
const YEAR_SECONDS = 365 * 24 * 3600;

interface LimitRange {
  readonly low: number;
  readonly high: number;
  readonly fallback: number;
  /** The reason for the default. */
  readonly reason: string;
}

export const ACCOUNT_LIMITS: { readonly [Name in keyof AccountLimits]: LimitRange } = {
  maxMessageBytes: range(
    1,
    64 * MIB,
    MIB,
    'Most destinations accept this size, and it fits into two pieces of an entry.',
  ),
  maxMessagesPerDay: range(0, 1e12, 0, 'No warning by default. 0: no limit.'),
  maxMessagesPerDayHard: range(0, 1e12, 0, 'No limit by default. 0: no limit.'),
  maxRequestsPerSecond: range(0, 1e6, 1000, 'Routes other than publishing: far more than a console or a script needs.'),
  maxEndpointsPerGroup: range(1, 2000, 100, 'A publish creates one message for each, all in one entry.'),
  maxDlqEntries: range(1, 10_000_000, 100_000, 'About 100 MB of memory when full; then the oldest are removed.'),
  maxRetries: range(0, 10_000, 100, 'At the longest delay that is more than three months.'),
  maxGroups: range(0, 100_000, 1000, 'Far more than can be managed by hand.'),
  maxSchedules: range(0, 100_000, 1000, 'As many may fall on the same minute and make one entry each.'),
  maxEvents: range(0, 100_000_000, 1_000_000, 'About a gigabyte of the read model.'),
  dlqRetentionMs: range(1000, 3660 * DAY_MS, 7 * DAY_MS, 'A week to notice and to send again.'),
  maxDelaySeconds: range(0, 10 * YEAR_SECONDS, YEAR_SECONDS, 'One year; the bodies are stored next to snapshots.'),
  maxParallelism: range(1, 100_000, 100, 'For one queue; publish without a queue for more.'),
  maxGlobalParallelism: range(1, 100_000, 500, 'Half of the parallel deliveries of one process.'),
  maxQueues: range(0, 100_000, 1000, 'Far more than can be managed by hand.'),
  timeoutSeconds: range(1, 7200, 900, 'A quarter of an hour is enough for the slowest useful response.'),
  budgetCents: range(0, 1e12, 0, 'Has no effect unless a price is set. 0: no limit.'),
};

export const ACCOUNT_LIMIT_NAMES = Object.keys(ACCOUNT_LIMITS) as readonly (keyof AccountLimits)[];

export const DEFAULT_ACCOUNT_LIMITS: AccountLimits = Object.fromEntries(
  ACCOUNT_LIMIT_NAMES.map((name) => [name, ACCOUNT_LIMITS[name].fallback]),
) as { [Name in keyof AccountLimits]: number };

/** The reason why the limits are refused; undefined: they are valid. */
export function refusedLimit(limits: AccountLimits): string | undefined {
  for (const name of ACCOUNT_LIMIT_NAMES) {
    const { low, high } = ACCOUNT_LIMITS[name];
    const value = limits[name];
    if (!Number.isSafeInteger(value) || value < low || value > high) {
      return `${name} must be a whole number from ${low} to ${high}`;
    }
  }
  return undefined;
}

function range(low: number, high: number, fallback: number, reason: string): LimitRange {
  return { low, high, fallback, reason };
}
