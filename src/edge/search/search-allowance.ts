/**
 * The limits of a search index. They are taken from the grant of each request, so a change applies from the next
 * request. The number of documents is checked elsewhere, in one step with writing them.
 *
 *  SL1 a request refused here changes no data and counts only against the limit per second
 *  SL2 the limit per day is taken last, and is not returned if the write is refused for its size
 *  SL3 the limit per second applies to each process, the limit per day to all together; the limit per month lags by
 *      the usage not yet written by the meter, some seconds
 */
import { searchQueries, searchUpdates } from '../../domain/control/index.js';
import type { DatabaseId } from '../../kernel/index.js';
import type { Clock, KvGrant, Quota, SearchGrant } from '../../ports/index.js';
import { searchLimitReached } from '../error-map.js';
import { BurstLimiter } from '../http/burst-limiter.js';
import { RefusedRequest } from '../http/refused.js';
import { MAX_UPSERTED_DOCUMENTS, RERANK_UNIT_DOCUMENTS } from './endpoint-limits.js';

/** Usage of an index in this month (UTC), as far as this process knows. */
export interface SearchMonth {
  rerankUnits(index: DatabaseId): number;
  /** Bytes of bodies in both directions. */
  bytes(index: DatabaseId): number;
}

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
      searchLimitReached('request', 'max_writes_per_request', `at most ${most} documents in one request`),
    );
  }

  /** @throws Refused 400 */
  mayReadAtOnce({ limits }: SearchGrant, documents: number): void {
    const most = limits.maxReadsPerRequest;
    if (documents <= most) return;
    throw new RefusedRequest(
      searchLimitReached('request', 'max_reads_per_request', `at most ${most} documents in one request`),
    );
  }

  /** Called for every request with documents. @throws Refused 429 */
  mayTransfer({ index, limits }: SearchGrant): void {
    const most = limits.maxMonthlyBandwidth;
    if (most < 0 || this.parts.usage.bytes(index) < most) return;
    throw new RefusedRequest(
      searchLimitReached('time', 'max_monthly_bandwidth', `the limit of ${most} bytes per month is used up`),
    );
  }

  /** @throws Refused 429; errors of the quota */
  async takeWrites(grant: SearchGrant, documents: number): Promise<void> {
    const { index, limits } = grant;
    if (!taken(this.#writes, index, limits.maxWritesPerSecond, documents))
      throw perSecond('max_writes_per_second', limits.maxWritesPerSecond, 'documents');
    await this.#takeOfDay(searchUpdates(index), limits.maxDailyUpdates, documents, 'max_daily_updates');
  }

  /** @throws Refused 429; errors of the quota */
  async takeQuery(grant: SearchGrant, rerankUnits: number): Promise<void> {
    const { index, limits } = grant;
    if (!taken(this.#queries, index, limits.maxQueryPerSecond, 1))
      throw perSecond('max_query_per_second', limits.maxQueryPerSecond, 'queries');
    const most = limits.maxMonthlyReranks;
    if (rerankUnits > 0 && most >= 0 && this.parts.usage.rerankUnits(index) + rerankUnits > most)
      throw new RefusedRequest(
        searchLimitReached('time', 'max_monthly_reranks', `the limit of ${most} per month is used up`),
      );
    await this.#takeOfDay(searchQueries(index), limits.maxDailyQueries, 1, 'max_daily_queries');
  }

  async #takeOfDay(subject: DatabaseId, perDay: number, count: number, limit: string): Promise<void> {
    if (perDay < 0) return;
    // The quota takes 0 for no limit.
    if (perDay > 0 && (await this.parts.quota.take(asLeased(subject, perDay), count))) return;
    const tomorrowInMs = DAY_MS - (this.parts.clock.nowMs() % DAY_MS);
    const text = `the limit of ${perDay} per UTC day is used up`;
    throw new RefusedRequest(searchLimitReached('time', limit, text, Math.ceil(tomorrowInMs / 1000)));
  }
}

/** The charged units of a query with reranking. */
export function rerankUnitsOf(topK: number): number {
  return Math.ceil(topK / RERANK_UNIT_DOCUMENTS);
}

function taken(bursts: BurstLimiter, index: DatabaseId, most: number, count: number): boolean {
  // The limiter takes 0 for no limit.
  return most < 0 || (most > 0 && bursts.take(index, most, count));
}

function perSecond(limit: string, most: number, unit: string): RefusedRequest {
  return new RefusedRequest(searchLimitReached('time', limit, `at most ${most} ${unit} per second`, 1));
}

/** The quota leases days by the database and its limit, and ignores the rest of a grant. */
function asLeased(subject: DatabaseId, maxRequestsPerDay: number): KvGrant {
  const limits = { maxCommandBytes: 0, maxRequestsPerDay };
  return { database: subject, partitions: [], role: 'standard', user: '', limits };
}
