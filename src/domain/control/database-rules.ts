/** Rules for the limits and settings of a database, and for the number of databases of an account. */
import type { AccountId, DatabaseId } from '../../kernel/index.js';
import { ACCOUNT_PLAN_TERMS, accountPlanName } from './account-plans.js';
import { DATABASE_PLAN_TERMS } from './database-plans.js';
import { type Decision, rejected } from './decision.js';
import {
  MAX_ALLOWED_IPS,
  MAX_BUDGET_DOLLARS,
  MAX_COMMAND_BYTES,
  MAX_COMMANDS_PER_SECOND,
  MAX_CONNECTIONS,
  MAX_COUNTED_BYTES,
  MAX_FREE_DATABASES,
  MAX_GIVEN_NAME_CHARACTERS,
  MAX_READ_REGIONS,
  MAX_REQUESTS_PER_DAY,
  MIN_COMMAND_BYTES,
} from './limits.js';
import { type DatabaseSettings, DEFAULT_ACCOUNT_PLAN, DEFAULT_DATABASE_SETTINGS } from './management.js';
import { isIpv4Block } from './names.js';
import type { Database, DatabaseLimits } from './records.js';
import type { ControlState } from './state.js';

/** Limits that may be left out; a missing one or 0 is no limit. */
const OPTIONAL_LIMITS = {
  maxDataBytes: MAX_COUNTED_BYTES,
  maxCommandsPerSecond: MAX_COMMANDS_PER_SECOND,
  maxBytesPerMonth: MAX_COUNTED_BYTES,
  maxConnections: MAX_CONNECTIONS,
} as const;

export function settingsOf({ settings }: Database): DatabaseSettings {
  return settings ?? DEFAULT_DATABASE_SETTINGS;
}

export function refuseLimits(limits: DatabaseLimits): Decision | undefined {
  const { maxCommandBytes, maxRequestsPerDay } = limits;
  if (!isWithin(maxCommandBytes, MIN_COMMAND_BYTES, MAX_COMMAND_BYTES)) {
    return rejected(
      'BAD_LIMITS',
      `the bytes of a command must be a whole number from ${MIN_COMMAND_BYTES} to ${MAX_COMMAND_BYTES}`,
    );
  }
  if (!isWithin(maxRequestsPerDay, 0, MAX_REQUESTS_PER_DAY)) {
    return rejected('BAD_LIMITS', `requests per day must be a whole number up to ${MAX_REQUESTS_PER_DAY}; 0: no limit`);
  }
  for (const [name, high] of Object.entries(OPTIONAL_LIMITS) as [keyof typeof OPTIONAL_LIMITS, number][]) {
    if (!isWithin(limits[name] ?? 0, 0, high)) {
      return rejected('BAD_LIMITS', `${name} must be a whole number up to ${high}; 0: no limit`);
    }
  }
  return undefined;
}

export function refuseSettings(settings: DatabaseSettings): Decision | undefined {
  const reason = wrongIn(settings);
  return reason === undefined ? undefined : rejected('BAD_VALUE', reason);
}

function wrongIn(settings: DatabaseSettings): string | undefined {
  const { plan, budgetDollars, readRegions, primaryRegion, region, platform, allowedIps } = settings;
  if (!Object.hasOwn(DATABASE_PLAN_TERMS, plan)) return 'there is no such plan';
  if (!isWithin(budgetDollars, 0, MAX_BUDGET_DOLLARS)) {
    return `budget must be a whole number of dollars up to ${MAX_BUDGET_DOLLARS}; 0: no limit`;
  }
  if (readRegions.length > MAX_READ_REGIONS) return `read_regions must have at most ${MAX_READ_REGIONS} regions`;
  if (readRegions.includes(primaryRegion)) return 'read_regions must not contain the primary region';
  if (new Set(readRegions).size !== readRegions.length) return 'read_regions must not contain a region twice';
  const texts = [region, platform, primaryRegion, ...readRegions];
  if (texts.some((text) => text.length > MAX_GIVEN_NAME_CHARACTERS)) return 'the name of a region is too long';
  if (plan === 'free' && readRegions.length > 1) return 'the free plan has at most one read region';
  if (plan === 'free' && allowedIps.length > 0) return 'allowed_ips is not available on the free plan';
  if (allowedIps.length > MAX_ALLOWED_IPS) return `allowed_ips must have at most ${MAX_ALLOWED_IPS} addresses`;
  if (!allowedIps.every(isIpv4Block)) return 'allowed_ips must contain only IPv4 addresses and CIDR blocks';
  return undefined;
}

/** @param except the database that is changed, which does not count */
export function refuseOneMore(
  state: ControlState,
  account: AccountId,
  { plan }: DatabaseSettings,
  except?: DatabaseId,
): Decision | undefined {
  const others = state.databasesOf(account).filter(({ id, branch }) => id !== except && branch === undefined);
  const accountPlan = accountPlanName(state.accounts.get(account)?.plan ?? DEFAULT_ACCOUNT_PLAN);
  const { maxDatabases } = ACCOUNT_PLAN_TERMS[accountPlan];
  if (others.length >= maxDatabases) {
    return rejected('TOO_MANY', `an account on the plan ${accountPlan} has at most ${maxDatabases} databases`);
  }
  if (plan !== 'free') return undefined;
  const free = others.filter((other) => settingsOf(other).plan === 'free');
  if (free.length < MAX_FREE_DATABASES) return undefined;
  return rejected('TOO_MANY', `an account has at most ${MAX_FREE_DATABASES} database on the free plan`);
}

function isWithin(value: number, low: number, high: number): boolean {
  return Number.isSafeInteger(value) && value >= low && value <= high;
}

/** The answer to commands that wait until the number of partitions is fixed. */
export function layoutIsChanging({ layoutChange, partitions }: Database): Decision {
  const to = layoutChange?.phase === 'copying' ? layoutChange.partitions : partitions;
  return rejected('CONFLICTS', `the database is being changed to ${to} partitions: try again when that has ended`);
}
