/**
 * The plans of an account: limits of its queue, number of databases, and monthly price. This program charges no
 * money: prices are only shown and counted.
 */
import type { AccountLimits } from '../queue/index.js';
import { ACCOUNT_LIMIT_NAMES, ACCOUNT_LIMITS, DEFAULT_ACCOUNT_LIMITS } from './account-limits.js';
import type { AccountPlan, ReservedPlan } from './management.js';

export const ACCOUNT_PLAN_NAMES = ['free', 'paid', 'msgq_fixed_1m', 'msgq_fixed_10m', 'msgq_fixed_100m'] as const;
export type AccountPlanName = (typeof ACCOUNT_PLAN_NAMES)[number];
/** Plans that the management API can set; it never moves an account back to the free plan. */
export const SETTABLE_ACCOUNT_PLANS = ACCOUNT_PLAN_NAMES.filter((name) => name !== 'free');

export interface AccountPlanTerms {
  readonly type: AccountPlan['type'];
  readonly reserved: AccountPlan['reserved'];
  /** Fixed dollars per month; 0: free, or charged by use. */
  readonly reservedPrice: number;
  /** Without the budget, which is set per account. */
  readonly limits: Omit<AccountLimits, 'budgetCents'>;
  /** Existing databases that the management API creates or moves into the account; an operator may exceed it. */
  readonly maxDatabases: number;
}

const DAY_MS = 86_400_000;
const MIB = 1024 * 1024;

/**
 * Bytes per second that each plan shows. It is not enforced: a queue is bounded by the number and size of its
 * messages.
 */
export const SHOWN_BANDWIDTH_BYTES_PER_SECOND = MIB;

/**
 * Sized for a person's databases (free) up to one database for each tenant of a program; no plan allows more than
 * half of MAX_DATABASES.
 */
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
  // Charged by use; the plan of an account without a set plan.
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

/** The range of a queue's budget in dollars per month that the management API accepts; 0: no limit. */
export const ACCOUNT_BUDGET_DOLLARS = { low: 20, high: 10_000 } as const;

export function accountPlanName({ type, reserved: tier }: Pick<AccountPlan, 'type' | 'reserved'>): AccountPlanName {
  return tier === '' ? type : tier;
}

/** More than ten times the tier's messages are refused, because that is a mistake and not a busy day. */
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

/** Limits a plan to the range of ACCOUNT_LIMITS. */
function within(wanted: Omit<AccountLimits, 'budgetCents'>): Omit<AccountLimits, 'budgetCents'> {
  const names = ACCOUNT_LIMIT_NAMES.filter((name) => name !== 'budgetCents');
  const entries = names.map((name) => [name, Math.min(wanted[name], ACCOUNT_LIMITS[name].high)]);
  return Object.fromEntries(entries) as Omit<AccountLimits, 'budgetCents'>;
}
