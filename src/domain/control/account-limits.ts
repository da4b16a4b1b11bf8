/** The bounds of an account's queue: what each may be, and what it is where nobody said. */
import type { AccountLimits } from '../queue/index.js';

const MIB = 1024 * 1024;
const DAY_MS = 86_400_000;
const YEAR_SECONDS = 365 * 24 * 3600;

interface LimitRange {
  readonly low: number;
  readonly high: number;
  readonly fallback: number;
  /** Why the fallback is what it is. */
  readonly reason: string;
}

export const ACCOUNT_LIMITS: { readonly [Name in keyof AccountLimits]: LimitRange } = {
  maxMessageBytes: range(1, 64 * MIB, MIB, 'What destinations commonly take, and what an entry holds in two pieces.'),
  maxMessagesPerDay: range(0, 1e12, 0, 'Nobody is told unless somebody wants to be. 0 is no limit.'),
  maxMessagesPerDayHard: range(0, 1e12, 0, 'Nobody is refused unless an operator says so. 0 is no limit.'),
  maxRequestsPerSecond: range(0, 1e6, 1000, 'Routes other than publishing: far more than a console or a script asks.'),
  maxEndpointsPerGroup: range(1, 2000, 100, 'A publish makes a message for each, all in one entry.'),
  maxDlqEntries: range(1, 10_000_000, 100_000, 'Some 100 MB of memory when full; the oldest leave then.'),
  maxRetries: range(0, 10_000, 100, 'At the longest delay that is more than three months.'),
  maxGroups: range(0, 100_000, 1000, 'Far beyond what is kept in order by hand.'),
  maxSchedules: range(0, 100_000, 1000, 'As many may fall on the same minute and make one entry each.'),
  maxEvents: range(0, 100_000_000, 1_000_000, 'About a gigabyte of the read model.'),
  dlqRetentionMs: range(1000, 3660 * DAY_MS, 7 * DAY_MS, 'A week to notice and to send again.'),
  maxDelaySeconds: range(0, 10 * YEAR_SECONDS, YEAR_SECONDS, 'A year; bodies are kept beside snapshots meanwhile.'),
  maxParallelism: range(1, 100_000, 100, 'Of one queue; more is what publishing without a queue is for.'),
  maxGlobalParallelism: range(1, 100_000, 500, 'Half of what one process delivers at once.'),
  maxQueues: range(0, 100_000, 1000, 'Far beyond what is kept in order by hand.'),
  timeoutSeconds: range(1, 7200, 900, 'A quarter of an hour holds a place for the slowest useful answer.'),
  budgetCents: range(0, 1e12, 0, 'Nothing is charged unless a price is set. 0 is no limit.'),
};

export const ACCOUNT_LIMIT_NAMES = Object.keys(ACCOUNT_LIMITS) as readonly (keyof AccountLimits)[];

export const DEFAULT_ACCOUNT_LIMITS: AccountLimits = Object.fromEntries(
  ACCOUNT_LIMIT_NAMES.map((name) => [name, ACCOUNT_LIMITS[name].fallback]),
) as { [Name in keyof AccountLimits]: number };

/** Why the limits cannot be, or undefined when they can. */
export function refusedLimit(limits: AccountLimits): string | undefined {
  for (const name of ACCOUNT_LIMIT_NAMES) {
    const { low, high } = ACCOUNT_LIMITS[name];
    const value = limits[name];
    if (!Number.isSafeInteger(value) || value < low || value > high) {
      return `${name} is a whole number from ${low} to ${high}`;
    }
  }
  return undefined;
}

function range(low: number, high: number, fallback: number, reason: string): LimitRange {
  return { low, high, fallback, reason };
}
