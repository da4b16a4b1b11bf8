/** Statistics of search indexes. Source: docs/guide/management.md, "Statistics". */
import { IsArray, IsInt, IsNumber, IsString } from 'class-validator';
import { dayName, lastFiveDays, monthCents, type SeriesTimes, searchCents } from '../../../domain/statistics/index.js';
import type { SearchDay, SearchSeries, SearchTotals } from '../../../ports/index.js';
import { ListOf, Point } from '../../http/shapes.js';
import type { Charges } from './database-statistics.js';
import { dollars, perDay, perSecond, perStep, recentDays, sumOf } from './points.js';

export class SearchTotalsAnswer {
  @IsInt() readonly record_count!: number;
  @IsInt() readonly request!: number;
  @IsInt() readonly bandwidth!: number;
  @IsInt() readonly storage!: number;
  @IsNumber() readonly billing!: number;
  @IsInt() readonly rerank_count!: number;
}

export class SearchStatisticsAnswer {
  /** Stored documents that queries do not find yet. */
  @IsInt() readonly pending_index_count!: number;
  @IsInt() readonly current_vector_count!: number;
  @IsInt() readonly daily_query_count!: number;
  @IsInt() readonly daily_update_count!: number;
  @IsInt() readonly daily_rerank_count!: number;
  @IsInt() readonly monthly_query_count!: number;
  @IsInt() readonly monthly_update_count!: number;
  @IsInt() readonly monthly_rerank_count!: number;
  @IsInt() readonly monthly_bandwidth_usage!: number;
  @IsInt() readonly storage_usage!: number;
  @IsNumber() readonly monthly_cost!: number;
  /** The last five days, today last. */
  @IsString({ each: true }) @IsArray() readonly days!: readonly string[];
  @ListOf(Point) readonly daily_update_requests!: readonly Point[];
  @ListOf(Point) readonly daily_query_requests!: readonly Point[];
  @ListOf(Point) readonly daily_rerank_requests!: readonly Point[];
  @ListOf(Point) readonly daily_bandwidths!: readonly Point[];
  /** Per second, like the next one. */
  @ListOf(Point) readonly query_throughput!: readonly Point[];
  @ListOf(Point) readonly update_throughput!: readonly Point[];
  @ListOf(Point) readonly query_latency_mean!: readonly Point[];
  @ListOf(Point) readonly query_latency_99!: readonly Point[];
  @ListOf(Point) readonly update_latency_mean!: readonly Point[];
  @ListOf(Point) readonly update_latency_99!: readonly Point[];
  @ListOf(Point) readonly embeds_latency_mean!: readonly Point[];
  @ListOf(Point) readonly embeds_latency_99!: readonly Point[];
  @ListOf(Point) readonly rerank_latency_mean!: readonly Point[];
  @ListOf(Point) readonly rerank_latency_99!: readonly Point[];
  @ListOf(Point) readonly vector_count!: readonly Point[];
  @ListOf(Point) readonly data_size!: readonly Point[];
}

/** @param charged the totals of the indexes with costs */
export function searchTotalsAnswer(
  totals: SearchTotals,
  charged: SearchTotals,
  nowMs: number,
  { prices }: Charges,
): SearchTotalsAnswer {
  const today = lastFiveDays(nowMs).at(-1) as number;
  return {
    record_count: totals.documents,
    request: totals.queries + totals.updates,
    bandwidth: totals.bandwidthBytes,
    storage: totals.storageBytes,
    billing: dollars(monthCents(charged.days, searchCents(charged.days, prices), today)),
    rerank_count: totals.reranks,
  };
}

export function searchStatisticsAnswer(
  series: SearchSeries,
  pending: number,
  nowMs: number,
  { prices }: Charges,
): SearchStatisticsAnswer {
  const { times, days } = series;
  const { lastFive, today, known, month } = recentDays(days, nowMs);
  const dailyPoints = (numberOf: (day: SearchDay) => number) =>
    perDay(lastFive, nowMs, (day) => numberOf(known.get(day) ?? nothingOn(day)));
  const { queries, updates, reranks } = known.get(today) ?? nothingOn(today);
  return {
    pending_index_count: pending,
    current_vector_count: series.current.documents,
    daily_query_count: queries,
    daily_update_count: updates,
    daily_rerank_count: reranks,
    monthly_query_count: sumOf(month, (day) => day.queries),
    monthly_update_count: sumOf(month, (day) => day.updates),
    monthly_rerank_count: sumOf(month, (day) => day.reranks),
    monthly_bandwidth_usage: sumOf(month, (day) => day.bandwidthBytes),
    storage_usage: series.current.storageBytes,
    monthly_cost: dollars(monthCents(days, searchCents(days, prices), today)),
    days: lastFive.map(dayName),
    daily_update_requests: dailyPoints((day) => day.updates),
    daily_query_requests: dailyPoints((day) => day.queries),
    daily_rerank_requests: dailyPoints((day) => day.reranks),
    daily_bandwidths: dailyPoints((day) => day.bandwidthBytes),
    query_throughput: perSecond(times, series.queries),
    update_throughput: perSecond(times, series.updates),
    ...latenciesOf(times, series),
    vector_count: perStep(times, series.documents),
    data_size: perStep(times, series.storageBytes),
  };
}

/** Queries and updates per second. */
export function throughputOf({ times, queries, updates }: SearchSeries): Point[] {
  return perSecond(
    times,
    queries.map((count, at) => count + (updates[at] ?? 0)),
  );
}

function latenciesOf(times: SeriesTimes, series: SearchSeries) {
  const { queryLatency, updateLatency, embeddingLatency, rerankLatency } = series;
  return {
    query_latency_mean: perStep(times, queryLatency.mean),
    query_latency_99: perStep(times, queryLatency.p99),
    update_latency_mean: perStep(times, updateLatency.mean),
    update_latency_99: perStep(times, updateLatency.p99),
    embeds_latency_mean: perStep(times, embeddingLatency.mean),
    embeds_latency_99: perStep(times, embeddingLatency.p99),
    rerank_latency_mean: perStep(times, rerankLatency.mean),
    rerank_latency_99: perStep(times, rerankLatency.p99),
  };
}

function nothingOn(day: number): SearchDay {
  return { day, queries: 0, updates: 0, reranks: 0, bandwidthBytes: 0, storageBytes: 0 };
}
