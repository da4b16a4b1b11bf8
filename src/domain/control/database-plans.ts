/**
 * The plans of a database: limits and monthly price. This program charges no money: prices are only shown and
 * counted.
 */
import type { DatabasePlan } from './management.js';
import type { DatabaseLimits } from './records.js';

const MIB = 1024 ** 2;
const GIB = 1024 ** 3;
const TIB = 1024 ** 4;

/**
 * The free 500,000 commands per month as a daily limit: a thirty-first, because limits are per day. Using it fully
 * every day stays within the month.
 */
const FREE_COMMANDS_A_DAY = Math.floor(500_000 / 31);

export interface DatabasePlanTerms {
  /** For people to read. */
  readonly label: string;
  /** The plan type that a database shows. */
  readonly type: 'free' | 'payg' | 'paid';
  readonly limits: Required<{ readonly [Name in keyof DatabaseLimits]: number }>;
  /** Bytes of a key with its value. */
  readonly maxRecordBytes: number;
  /** A size for people; it orders plans and reserves no resources. */
  readonly resourceSize: 'S' | 'M' | 'L' | 'XL' | 'XXL' | '3XL';
  /** Fixed dollars per month; 0: free, or charged by use. */
  readonly priceDollars: number;
  /** The plan of the next automatic upgrade; undefined: none. */
  readonly next: DatabasePlan | undefined;
}

/** Units are powers of 1024. A limit of 0 is no limit. */
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
    // Bandwidth above 200 GB is charged, not refused.
    limits: limits(100 * GIB, 0, 10_000, 10 * MIB),
    maxRecordBytes: 100 * MIB,
    resourceSize: 'M',
    priceDollars: 0,
    next: undefined,
  },
  fixed_250mb: fixed({
    label: 'Fixed 250MB',
    limits: limits(250 * MIB, 50 * GIB, 10_000, 10 * MIB),
    maxRecordBytes: 100 * MIB,
    resourceSize: 'S',
    priceDollars: 10,
    next: 'fixed_1gb',
  }),
  fixed_1gb: fixed({
    label: 'Fixed 1GB',
    limits: limits(GIB, 100 * GIB, 10_000, 10 * MIB),
    maxRecordBytes: 200 * MIB,
    resourceSize: 'S',
    priceDollars: 20,
    next: 'fixed_5gb',
  }),
  fixed_5gb: fixed({
    label: 'Fixed 5GB',
    limits: limits(5 * GIB, 500 * GIB, 10_000, 20 * MIB),
    maxRecordBytes: 300 * MIB,
    resourceSize: 'M',
    priceDollars: 100,
    next: 'fixed_10gb',
  }),
  fixed_10gb: fixed({
    label: 'Fixed 10GB',
    limits: limits(10 * GIB, TIB, 10_000, 30 * MIB),
    maxRecordBytes: 400 * MIB,
    resourceSize: 'L',
    priceDollars: 200,
    next: 'fixed_50gb',
  }),
  fixed_50gb: fixed({
    label: 'Fixed 50GB',
    limits: limits(50 * GIB, 5 * TIB, 10_000, 50 * MIB),
    maxRecordBytes: 500 * MIB,
    resourceSize: 'XL',
    priceDollars: 400,
    next: 'fixed_100gb',
  }),
  fixed_100gb: fixed({
    label: 'Fixed 100GB',
    limits: limits(100 * GIB, 10 * TIB, 16_000, 75 * MIB),
    maxRecordBytes: GIB,
    resourceSize: 'XXL',
    priceDollars: 800,
    next: 'fixed_500gb',
  }),
  fixed_500gb: fixed({
    label: 'Fixed 500GB',
    limits: limits(500 * GIB, 20 * TIB, 16_000, 100 * MIB),
    maxRecordBytes: 5 * GIB,
    resourceSize: '3XL',
    priceDollars: 1500,
    next: undefined,
  }),
};

/** Plan names of older clients; each means the smallest plan of its kind. */
const OLDER_NAMES: Readonly<Record<string, DatabasePlan>> = { paid: 'fixed_250mb', pro: 'fixed_10gb' };

/** Undefined for an unknown name. */
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

function fixed(terms: Omit<DatabasePlanTerms, 'type'>): DatabasePlanTerms {
  return { ...terms, type: 'paid' };
}
