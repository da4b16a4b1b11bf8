/** What each plan of a database gives, and what it costs a month. Nothing is charged here: prices are shown and counted. */
import type { DatabasePlan } from './management.js';
import type { DatabaseLimits } from './records.js';

const MIB = 1024 ** 2;
const GIB = 1024 ** 3;
const TIB = 1024 ** 4;

/**
 * The limits know no month of commands: a thirty-first of the 500,000 that are free in a month, a day. Whoever uses all
 * of it every day has had no more than the month allows.
 */
const FREE_COMMANDS_A_DAY = Math.floor(500_000 / 31);

export interface DatabasePlanTerms {
  /** It is for people to read. */
  readonly label: string;
  /** The kind of plan that a database shows. */
  readonly type: 'free' | 'payg' | 'paid';
  readonly limits: Required<{ readonly [Name in keyof DatabaseLimits]: number }>;
  /** A key with its value may take so much. */
  readonly maxRecordBytes: number;
  /** A size for people; orders plans, and reserves nothing. */
  readonly resourceSize: 'S' | 'M' | 'L' | 'XL' | 'XXL' | '3XL';
  /** Dollars a month, whatever is used; 0: free, or by use. */
  readonly priceDollars: number;
  /** Where a database goes that upgrades itself; undefined: nowhere. */
  readonly next: DatabasePlan | undefined;
}

/** Bytes are powers of 1024. A limit of 0 is none. */
export const DATABASE_PLAN_TERMS: { readonly [Plan in DatabasePlan]: DatabasePlanTerms } = {
  free: {
    label: 'Free',
    type: 'free',
    limits: limits(256 * MIB, 10 * GIB, 10_000, 10 * MIB, {
      maxRequestsPerDay: FREE_COMMANDS_A_DAY,
      maxConnections: 1000,
    }),
    maxRecordBytes: 100 * MIB,
    resourceSize: 'S',
    priceDollars: 0,
    next: 'payg',
  },
  payg: {
    label: 'Pay as You Go',
    type: 'payg',
    // Beyond 200 GB its bandwidth is charged, not stopped.
    limits: limits(100 * GIB, 0, 10_000, 10 * MIB),
    maxRecordBytes: 100 * MIB,
    resourceSize: 'M',
    priceDollars: 0,
    next: undefined,
  },
  fixed_250mb: fixed('Fixed 250MB', limits(250 * MIB, 50 * GIB, 10_000, 10 * MIB), 100 * MIB, 'S', 10, 'fixed_1gb'),
  fixed_1gb: fixed('Fixed 1GB', limits(GIB, 100 * GIB, 10_000, 10 * MIB), 200 * MIB, 'S', 20, 'fixed_5gb'),
  fixed_5gb: fixed('Fixed 5GB', limits(5 * GIB, 500 * GIB, 10_000, 20 * MIB), 300 * MIB, 'M', 100, 'fixed_10gb'),
  fixed_10gb: fixed('Fixed 10GB', limits(10 * GIB, TIB, 10_000, 30 * MIB), 400 * MIB, 'L', 200, 'fixed_50gb'),
  fixed_50gb: fixed('Fixed 50GB', limits(50 * GIB, 5 * TIB, 10_000, 50 * MIB), 500 * MIB, 'XL', 400, 'fixed_100gb'),
  fixed_100gb: fixed('Fixed 100GB', limits(100 * GIB, 10 * TIB, 16_000, 75 * MIB), GIB, 'XXL', 800, 'fixed_500gb'),
  fixed_500gb: fixed('Fixed 500GB', limits(500 * GIB, 20 * TIB, 16_000, 100 * MIB), 5 * GIB, '3XL', 1500, undefined),
};

/** Older clients name a kind of plan; the smallest of its kind is meant. */
const OLDER_NAMES: Readonly<Record<string, DatabasePlan>> = { paid: 'fixed_250mb', pro: 'fixed_10gb' };

/** Undefined for what is not the name of a plan. */
export function databasePlanNamed(name: string): DatabasePlan | undefined {
  if (Object.hasOwn(DATABASE_PLAN_TERMS, name)) return name as DatabasePlan;
  return Object.hasOwn(OLDER_NAMES, name) ? OLDER_NAMES[name] : undefined;
}

export function databasePlanLimits(plan: DatabasePlan): DatabaseLimits {
  return DATABASE_PLAN_TERMS[plan].limits;
}

function limits(
  maxDataBytes: number,
  maxBytesPerMonth: number,
  maxCommandsPerSecond: number,
  maxCommandBytes: number,
  { maxRequestsPerDay = 0, maxConnections = 10_000 } = {},
): DatabasePlanTerms['limits'] {
  return { maxCommandBytes, maxRequestsPerDay, maxDataBytes, maxCommandsPerSecond, maxBytesPerMonth, maxConnections };
}

function fixed(
  label: string,
  planLimits: DatabasePlanTerms['limits'],
  maxRecordBytes: number,
  resourceSize: DatabasePlanTerms['resourceSize'],
  priceDollars: number,
  next: DatabasePlan | undefined,
): DatabasePlanTerms {
  return { label, type: 'paid', limits: planLimits, maxRecordBytes, resourceSize, priceDollars, next };
}
