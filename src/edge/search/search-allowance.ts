/**
 * The limits of a search index. They are read from the grant of each request, so that a change counts from the next one
 * on. How many documents an index may hold is not judged here: that is one step with writing them.
 *
 *  SL1 what is refused here has changed nothing and counts for no other limit, but for the second's
 *  SL2 the day's share is taken last: it is not given back when the write is refused for its size
 *  SL3 the second's limit holds for each process, the day's for all together; the month's lags behind by what the
 *      meter has not written yet, some seconds
 */
import { searchQueries, searchUpdates } from '../../domain/control/index.js';
import type { DatabaseId } from '../../kernel/index.js';
import type { Clock, KvGrant, Quota, SearchGrant } from '../../ports/index.js';
import { searchLimitReached } from '../error-map.js';
import { BurstLimiter } from '../http/burst-limiter.js';
import { RefusedRequest } from '../http/refused.js';
import { MAX_UPSERTED_DOCUMENTS, RERANK_UNIT_DOCUMENTS } from './face-limits.js';
import type { SearchMonth } from './search-face.js';

const DAY_MS = 86_400_000;

interface SearchAllowanceParts {
  readonly clock: Clock;
  readonly quota: Quota;
  readonly usage: SearchMonth;
}

export class SearchAllowance {
  readonly #writes: BurstLimiter;
  readonly #queries: BurstLimiter;

  constructor(private readonly parts: SearchAllowanceParts) {
    this.#writes = new BurstLimiter(parts.clock);
    this.#queries = new BurstLimiter(parts.clock);
  }

  /** @throws Refused 400 */
  mayWriteAtOnce({ limits }: SearchGrant, documents: number): void {
    const most = Math.min(limits.maxWritesPerRequest, MAX_UPSERTED_DOCUMENTS);
    if (documents <= most) return;
    throw new RefusedRequest(
      searchLimitReached('request', 'max_writes_per_request', `at most ${most} documents at once`),
    );
  }

  /** @throws Refused 400 */
  mayReadAtOnce({ limits }: SearchGrant, documents: number): void {
    const most = limits.maxReadsPerRequest;
    if (documents <= most) return;
    throw new RefusedRequest(
      searchLimitReached('request', 'max_reads_per_request', `at most ${most} documents at once`),
    );
  }

  /** This is asked for everything that carries documents. @throws Refused 429 */
  mayTransfer({ index, limits }: SearchGrant): void {
    const most = limits.maxMonthlyBandwidth;
    if (most < 0 || this.parts.usage.bytes(index) < most) return;
    throw new RefusedRequest(
      searchLimitReached('time', 'max_monthly_bandwidth', `all ${most} bytes of this month are used`),
    );
  }

  /** @throws Refused 429; what the quota throws */
  async takeWrites(grant: SearchGrant, documents: number): Promise<void> {
    const { index, limits } = grant;
    if (!taken(this.#writes, index, limits.maxWritesPerSecond, documents))
      throw perSecond('max_writes_per_second', limits.maxWritesPerSecond, 'documents');
    await this.#takeOfDay(searchUpdates(index), limits.maxDailyUpdates, documents, 'max_daily_updates');
  }

  /** @throws Refused 429; what the quota throws */
  async takeQuery(grant: SearchGrant, rerankUnits: number): Promise<void> {
    const { index, limits } = grant;
    if (!taken(this.#queries, index, limits.maxQueryPerSecond, 1))
      throw perSecond('max_query_per_second', limits.maxQueryPerSecond, 'queries');
    const most = limits.maxMonthlyReranks;
    if (rerankUnits > 0 && most >= 0 && this.parts.usage.rerankUnits(index) + rerankUnits > most)
      throw new RefusedRequest(searchLimitReached('time', 'max_monthly_reranks', `all ${most} of this month are used`));
    await this.#takeOfDay(searchQueries(index), limits.maxDailyQueries, 1, 'max_daily_queries');
  }

  async #takeOfDay(subject: DatabaseId, perDay: number, count: number, limit: string): Promise<void> {
    if (perDay < 0) return;
    // The quota takes 0 for no limit.
    if (perDay > 0 && (await this.parts.quota.take(asLeased(subject, perDay), count))) return;
    const tomorrowInMs = DAY_MS - (this.parts.clock.nowMs() % DAY_MS);
    const text = `all ${perDay} of this day (UTC) are used`;
    throw new RefusedRequest(searchLimitReached('time', limit, text, Math.ceil(tomorrowInMs / 1000)));
  }
}

/** What a query that asks for reranking is charged. */
export function rerankUnitsOf(topK: number): number {
  return Math.ceil(topK / RERANK_UNIT_DOCUMENTS);
}

function taken(bursts: BurstLimiter, index: DatabaseId, most: number, count: number): boolean {
  // The limiter takes 0 for no limit.
  return most < 0 || (most > 0 && bursts.take(index, most, count));
}

function perSecond(limit: string, most: number, what: string): RefusedRequest {
  return new RefusedRequest(searchLimitReached('time', limit, `at most ${most} ${what} in a second`, 1));
}

/** The quota leases days by the database and its limit, and looks at nothing else of a grant. */
function asLeased(subject: DatabaseId, maxRequestsPerDay: number): KvGrant {
  const limits = { maxCommandBytes: 0, maxRequestsPerDay };
  return { database: subject, partitions: [], role: 'standard', user: '', limits };
}
