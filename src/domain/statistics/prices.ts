/**
 * The cost of use by the operator's price table. All amounts are fractions of cents and are rounded when they are
 * shown.
 *
 *  PR1 a day costs the month up to its end less the month up to the previous day, so that free amounts of a month are
 *      used up in order and the days of a month always add up to the month
 */
import { daysInMonthOf, firstDayOfMonth } from './instants.js';

export interface Prices {
  readonly kv: {
    readonly centsPer100kCommands: number;
    readonly centsPerGbMonth: number;
    readonly freeStorageBytes: number;
    readonly centsPerGb: number;
    readonly freeBandwidthBytesPerMonth: number;
  };
  readonly queue: {
    readonly centsPer100kMessages: number;
    readonly centsPerGb: number;
    readonly freeBandwidthBytesPerMonth: number;
  };
  /** Queries, updated documents and units of reranking are requests. */
  readonly search: {
    readonly centsPer100kRequests: number;
    readonly centsPerGbMonth: number;
    readonly freeStorageBytes: number;
    readonly centsPerGb: number;
    readonly freeBandwidthBytesPerMonth: number;
  };
}

/** Days in order, starting with the first of a month, because monthly free amounts count from there. */
interface UsedDay {
  readonly day: number;
  readonly bandwidthBytes: number;
}

export const BYTES_PER_GB = 1024 ** 3;

/** The prices of an account or database on a plan without charges. */
export const NO_PRICES: Prices = {
  kv: {
    centsPer100kCommands: 0,
    centsPerGbMonth: 0,
    freeStorageBytes: 0,
    centsPerGb: 0,
    freeBandwidthBytesPerMonth: 0,
  },
  queue: { centsPer100kMessages: 0, centsPerGb: 0, freeBandwidthBytesPerMonth: 0 },
  search: {
    centsPer100kRequests: 0,
    centsPerGbMonth: 0,
    freeStorageBytes: 0,
    centsPerGb: 0,
    freeBandwidthBytesPerMonth: 0,
  },
};

/** @returns cents of each day, in order */
export function kvCents(
  days: readonly (UsedDay & { readonly commands: number; readonly storageBytes: number })[],
  { kv }: Prices,
): number[] {
  const bandwidth = bandwidthCents(days, kv);
  return days.map(
    (day, at) => (day.commands * kv.centsPer100kCommands) / 100_000 + storageCents(day, kv) + (bandwidth[at] as number),
  );
}

/** @returns cents of each day, in order */
export function queueCents(
  days: readonly (UsedDay & { readonly requests: number })[],
  { queue }: Pick<Prices, 'queue'>,
): number[] {
  const bandwidth = bandwidthCents(days, queue);
  return days.map((day, at) => (day.requests * queue.centsPer100kMessages) / 100_000 + (bandwidth[at] as number));
}

/** @returns cents of each day, in order */
export function searchCents(
  days: readonly (UsedDay & {
    readonly queries: number;
    readonly updates: number;
    readonly reranks: number;
    readonly storageBytes: number;
  })[],
  { search }: Pick<Prices, 'search'>,
): number[] {
  const bandwidth = bandwidthCents(days, search);
  return days.map(
    (day, at) =>
      ((day.queries + day.updates + day.reranks) * search.centsPer100kRequests) / 100_000 +
      storageCents(day, search) +
      (bandwidth[at] as number),
  );
}

/**
 * The cost of the month of `today`, up to that day.
 * @param cents of the days, as the functions above return them
 */
export function monthCents(days: readonly { readonly day: number }[], cents: readonly number[], today: number): number {
  const first = firstDayOfMonth(today);
  return days.reduce((sum, { day }, at) => (day >= first && day <= today ? sum + (cents[at] as number) : sum), 0);
}

function storageCents(
  { day, storageBytes }: { readonly day: number; readonly storageBytes: number },
  prices: { readonly centsPerGbMonth: number; readonly freeStorageBytes: number },
): number {
  const charged = Math.max(0, storageBytes - prices.freeStorageBytes) / BYTES_PER_GB;
  return (charged * prices.centsPerGbMonth) / daysInMonthOf(day);
}

/** PR1 (a day costs the month up to its end less the month up to the previous day). */
function bandwidthCents(
  days: readonly UsedDay[],
  prices: { readonly centsPerGb: number; readonly freeBandwidthBytesPerMonth: number },
): number[] {
  let month: number | undefined;
  let used = 0;
  const charged = () => Math.max(0, used - prices.freeBandwidthBytesPerMonth);
  return days.map(({ day, bandwidthBytes }) => {
    const first = firstDayOfMonth(day);
    if (first !== month) used = 0;
    month = first;
    const before = charged();
    used += bandwidthBytes;
    return ((charged() - before) / BYTES_PER_GB) * prices.centsPerGb;
  });
}
