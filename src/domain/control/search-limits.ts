/** Default limits of a search index by type, and the allowed range of each. */
import type { SearchLimits, SearchType } from './management.js';

const GIB = 1024 ** 3;
const NONE = -1;

const PAY_AS_YOU_GO: SearchLimits = {
  maxVectorCount: 2_000_000,
  maxMonthlyReranks: NONE,
  maxDailyUpdates: NONE,
  maxDailyQueries: NONE,
  maxMonthlyBandwidth: NONE,
  maxWritesPerSecond: 1000,
  maxQueryPerSecond: 1000,
  maxReadsPerRequest: 100,
  maxWritesPerRequest: 100,
};

export const DEFAULT_SEARCH_LIMITS: { readonly [Type in SearchType]: SearchLimits } = {
  // Enough to try the service; a tenth of the paid rates per second.
  free: {
    ...PAY_AS_YOU_GO,
    maxVectorCount: 200_000,
    maxMonthlyReranks: 1000,
    maxDailyUpdates: 10_000,
    maxDailyQueries: 10_000,
    maxMonthlyBandwidth: 50 * GIB,
    maxWritesPerSecond: 100,
    maxQueryPerSecond: 100,
  },
  payg: PAY_AS_YOU_GO,
  fixed: PAY_AS_YOU_GO,
};

/** Vectors are written and read in batches of up to a thousand; they are never reranked. */
export const DEFAULT_VECTOR_LIMITS: { readonly [Type in SearchType]: SearchLimits } = {
  free: {
    ...DEFAULT_SEARCH_LIMITS.free,
    maxWritesPerSecond: 1000,
    maxReadsPerRequest: 1000,
    maxWritesPerRequest: 1000,
  },
  payg: { ...PAY_AS_YOU_GO, maxWritesPerSecond: 10_000, maxReadsPerRequest: 1000, maxWritesPerRequest: 1000 },
  fixed: { ...PAY_AS_YOU_GO, maxWritesPerSecond: 10_000, maxReadsPerRequest: 1000, maxWritesPerRequest: 1000 },
};

/** Limits that may be -1 for no limit; the others always have a value. */
const MAY_BE_NONE: ReadonlySet<keyof SearchLimits> = new Set([
  'maxMonthlyReranks',
  'maxDailyUpdates',
  'maxDailyQueries',
  'maxMonthlyBandwidth',
] as const);

/**
 * Limits per request bound one turn of a partition; the number of vectors bounds the memory of the searching process.
 */
const HIGHEST: Partial<SearchLimits> = {
  maxVectorCount: 100_000_000,
  maxWritesPerSecond: 1_000_000,
  maxQueryPerSecond: 1_000_000,
  maxReadsPerRequest: 1000,
  maxWritesPerRequest: 1000,
};

const SEARCH_LIMIT_NAMES = Object.keys(PAY_AS_YOU_GO) as readonly (keyof SearchLimits)[];

/** The reason why the limits are refused; undefined: they are valid. */
export function refusedSearchLimit(limits: SearchLimits): string | undefined {
  for (const name of SEARCH_LIMIT_NAMES) {
    const value = limits[name];
    if (value === NONE && MAY_BE_NONE.has(name)) continue;
    const high = HIGHEST[name] ?? Number.MAX_SAFE_INTEGER;
    if (!Number.isSafeInteger(value) || value < 1 || value > high) {
      return `${name} must be a whole number from 1 to ${high}${MAY_BE_NONE.has(name) ? ', or -1 for no limit' : ''}`;
    }
  }
  return undefined;
}
