/** What each plan of an account gives its queue, how many databases it allows, and what it costs a month. Nothing is charged here: prices are shown and counted. */
import type { AccountLimits } from '../queue/index.js';
import { ACCOUNT_LIMIT_NAMES, ACCOUNT_LIMITS, DEFAULT_ACCOUNT_LIMITS } from './account-limits.js';
import type { AccountPlan, ReservedPlan } from './management.js';

export const ACCOUNT_PLAN_NAMES = ['free', 'paid', 'msgq_fixed_1m', 'msgq_fixed_10m', 'msgq_fixed_100m'] as const;
export type AccountPlanName = (typeof ACCOUNT_PLAN_NAMES)[number];
/** What the management API moves an account to; nobody goes back to the free plan by it. */
export const SETTABLE_ACCOUNT_PLANS = ACCOUNT_PLAN_NAMES.filter((name) => name !== 'free');

export interface AccountPlanTerms {
  readonly type: AccountPlan['type'];
  readonly reserved: AccountPlan['reserved'];
  /** Dollars a month, whatever is used; 0: free, or by use. */
  readonly reservedPrice: number;
  /** Without a budget: that is the account's own. */
  readonly limits: Omit<AccountLimits, 'budgetCents'>;
  /** Live databases that the management API makes or moves there; an operator goes beyond it. */
  readonly maxDatabases: number;
}

const DAY_MS = 86_400_000;
const MIB = 1024 * 1024;

/** Bytes a second that each plan is said to have; shown, not enforced: a queue is bounded by messages and their size. */
export const SHOWN_BANDWIDTH_BYTES_PER_SECOND = MIB;

/** A person's, made by hand; a program's, one for each of its tenants; no account takes more than half of all that there can be. */
const DATABASES = { free: 100, paid: 1000, msgq_fixed_1m: 2000, msgq_fixed_10m: 10_000, msgq_fixed_100m: 50_000 };

const FREE = within({
  maxMessageBytes: MIB,
  maxMessagesPerDay: 1000,
  maxMessagesPerDayHard: 1000,
  maxRequestsPerSecond: 100,
  maxEndpointsPerGroup: 100,
  maxDlqEntries: 1_000_000,
  maxRetries: 999,
  maxGroups: 1,
  maxSchedules: 10,
  maxEvents: 10_000,
  dlqRetentionMs: 3 * DAY_MS,
  maxDelaySeconds: 604_800,
  maxParallelism: 2,
  maxGlobalParallelism: 10,
  maxQueues: 10,
  timeoutSeconds: 900,
});

export const ACCOUNT_PLAN_TERMS: { readonly [Name in AccountPlanName]: AccountPlanTerms } = {
  free: { type: 'free', reserved: '', reservedPrice: 0, limits: FREE, maxDatabases: DATABASES.free },
  // This is charged by use: what an account has to which nobody gave a plan.
  paid: {
    type: 'paid',
    reserved: '',
    reservedPrice: 0,
    limits: within(DEFAULT_ACCOUNT_LIMITS),
    maxDatabases: DATABASES.paid,
  },
  msgq_fixed_1m: reserved('msgq_fixed_1m', 1_000_000, 180),
  msgq_fixed_10m: reserved('msgq_fixed_10m', 10_000_000, 420),
  msgq_fixed_100m: reserved('msgq_fixed_100m', 100_000_000, 1500),
};

/** The dollars a month that the management API takes for the budget of a queue, when it is not 0: no limit. */
export const ACCOUNT_BUDGET_DOLLARS = { low: 20, high: 10_000 } as const;

export function accountPlanName({ type, reserved: tier }: Pick<AccountPlan, 'type' | 'reserved'>): AccountPlanName {
  return tier === '' ? type : tier;
}

/** A tenfold of what the tier includes is refused: a mistake, not a busy day. */
function reserved(tier: ReservedPlan, messagesPerDay: number, reservedPrice: number): AccountPlanTerms {
  const limits = within({
    maxMessageBytes: 50 * MIB,
    maxMessagesPerDay: messagesPerDay,
    maxMessagesPerDayHard: 10 * messagesPerDay,
    maxRequestsPerSecond: 500,
    maxEndpointsPerGroup: 1000,
    maxDlqEntries: 2_147_483_647,
    maxRetries: 20,
    maxGroups: 1000,
    maxSchedules: 1_000_000,
    maxEvents: 100_000,
    dlqRetentionMs: 30 * DAY_MS,
    maxDelaySeconds: 2_147_483_647,
    maxParallelism: 10,
    maxGlobalParallelism: 200,
    maxQueues: 1000,
    timeoutSeconds: 21_600,
  });
  return { type: 'paid', reserved: tier, reservedPrice, limits, maxDatabases: DATABASES[tier] };
}

/** No plan gives more than a queue can hold (ACCOUNT_LIMITS). */
function within(wanted: Omit<AccountLimits, 'budgetCents'>): Omit<AccountLimits, 'budgetCents'> {
  const names = ACCOUNT_LIMIT_NAMES.filter((name) => name !== 'budgetCents');
  const entries = names.map((name) => [name, Math.min(wanted[name], ACCOUNT_LIMITS[name].high)]);
  return Object.fromEntries(entries) as Omit<AccountLimits, 'budgetCents'>;
}
