/** The prices for calculating costs: the account's price list and the plan. */
import {
  ACCOUNT_PLAN_TERMS,
  type Account,
  accountPlanName,
  DATABASE_PLAN_TERMS,
  type Database,
  DEFAULT_ACCOUNT_PLAN,
  DEFAULT_DATABASE_SETTINGS,
  type SearchIndex,
} from '../../domain/control/index.js';
import { NO_PRICES } from '../../domain/statistics/index.js';
import { MANAGEMENT_REFUSALS } from '../error-map.js';
import { RefusedRequest } from '../http/refused.js';
import type { Charges } from './answers/database-statistics.js';
import type { ManagementCall } from './management-call.js';

/** A plan with a fixed price costs only that; for other plans the budget is the maximum. */
export function chargesOfDatabase(call: ManagementCall, { account, settings }: Database): Charges {
  const { plan, budgetDollars } = settings ?? DEFAULT_DATABASE_SETTINGS;
  return {
    prices: plan === 'free' ? NO_PRICES : call.endpoint.parts.pricesOf(account),
    capDollars: DATABASE_PLAN_TERMS[plan].priceDollars || budgetDollars || undefined,
  };
}

export function chargesOfQueue(call: ManagementCall, { id, plan = DEFAULT_ACCOUNT_PLAN }: Account): Charges {
  return {
    prices: plan.type === 'free' ? NO_PRICES : call.endpoint.parts.pricesOf(id),
    capDollars: ACCOUNT_PLAN_TERMS[accountPlanName(plan)].reservedPrice || plan.budgetDollars || undefined,
  };
}

/** Prices of all search indexes of the account; free ones are not counted. */
export function chargesOfSearch(call: ManagementCall): Charges {
  return { prices: call.endpoint.parts.pricesOf(call.account), capDollars: undefined };
}

export function chargesOfIndex(call: ManagementCall, index: SearchIndex): Charges {
  return isCharged(index) ? chargesOfSearch(call) : { prices: NO_PRICES, capDollars: undefined };
}

export function isCharged({ type }: SearchIndex): boolean {
  return type !== 'free';
}

/** @throws Refused 503 if this server keeps no statistics */
export function statisticsOf({ endpoint }: ManagementCall) {
  const { statistics } = endpoint.parts;
  if (statistics === undefined) throw new RefusedRequest(MANAGEMENT_REFUSALS.noStatistics);
  return statistics;
}
