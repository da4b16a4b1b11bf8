/**
 * The use of databases, queues and search indexes over time. Neutral: the management API adds names and formats
 * (`domain/statistics`: `boundaryText`, `momentText`, `dayName`).
 *
 * Every series has `times.count` values, oldest first, 0 without use; the last value is of the unfinished step. Values
 * of a rate are counts of their step: divide by `times.stepMs / 1000` for an average per second. Days are UTC, in order
 * and without gaps. Money: `domain/statistics`, `kvCents`, `queueCents`, `searchCents`.
 *
 * Promises of every implementation:
 *
 *  STA1 use is counted once, also after a kill of any process
 *  STA2 an answer is about two seconds late and may lack the caller's last writes; one that is later than `FRESH_MS`
 *       says so
 *  STA3 an id without use has zeros everywhere
 */
import type { Period, SeriesTimes, UsageDocument } from '../domain/statistics/index.js';
import type { AccountId, DatabaseId } from '../kernel/index.js';
import type { MaybeBehind } from './behind.js';

export type { Period };

/** Counting is a second or two late, and more on a busy machine. */
export const FRESH_MS = 5000;

/** Latencies of a series: milliseconds, 0 for a step without any. */
export interface LatencySeries {
  readonly mean: readonly number[];
  /** The bound below which 99 of 100 stayed, with the resolution of the meter's latency classes. */
  readonly p99: readonly number[];
}

/** One UTC day of a database. */
export interface DatabaseDay {
  /** Since 1970-01-01. */
  readonly day: number;
  readonly commands: number;
  readonly writes: number;
  /** The part of the commands that called scripts and functions. */
  readonly scripts: number;
  /** Of requests and replies together. */
  readonly bandwidthBytes: number;
  /** The bytes of the data at the end of the day, or now. */
  readonly storageBytes: number;
}

export interface DatabaseSeries extends MaybeBehind {
  readonly times: SeriesTimes;
  /** Counts of the step; `commands` = `reads` + `writes`. */
  readonly commands: readonly number[];
  readonly reads: readonly number[];
  readonly writes: readonly number[];
  /** Reads that found their key, and that did not. */
  readonly hits: readonly number[];
  readonly misses: readonly number[];
  readonly bandwidthBytes: readonly number[];
  /** This and the next two: at the end of the step. */
  readonly connections: readonly number[];
  readonly keys: readonly number[];
  readonly storageBytes: readonly number[];
  /** Of requests; a request with a write counts as a write. */
  readonly latency: LatencySeries;
  readonly readLatency: LatencySeries;
  readonly writeLatency: LatencySeries;
  /** Sorted by name in upper case; names that were called within the period. */
  readonly commandCounts: readonly { readonly name: string; readonly counts: readonly number[] }[];
  /** From the first of the month that the day four days ago is in, up to today. */
  readonly days: readonly DatabaseDay[];
  /** Now. */
  readonly current: { readonly connections: number; readonly keys: number; readonly storageBytes: number };
}

/** The present, daily and monthly use of one of several databases. */
export interface DatabaseUse {
  readonly id: DatabaseId;
  readonly keys: number;
  readonly storageBytes: number;
  readonly connections: number;
  readonly commandsToday: number;
  readonly commandsThisMonth: number;
  readonly bandwidthBytesThisMonth: number;
}

/** Of several databases together: counts are sums, latencies those of all their requests. */
export interface DatabasesSeries
  extends MaybeBehind,
    Pick<DatabaseSeries, 'times' | 'commands' | 'reads' | 'writes' | 'hits' | 'misses' | 'bandwidthBytes' | 'latency'> {
  /** In the order of the question. */
  readonly each: readonly DatabaseUse[];
}

export const MESSAGE_METRICS = ['created', 'active', 'retry', 'error', 'delivered', 'failed', 'cancelled'] as const;
type MessageMetric = (typeof MESSAGE_METRICS)[number];
export const WORKFLOW_METRICS = ['started', 'success', 'failed', 'canceled'] as const;
type WorkflowMetric = (typeof WORKFLOW_METRICS)[number];

/** One UTC day of an account's queue. */
export interface AccountDay {
  readonly day: number;
  /** The charged requests: acceptances and retries. */
  readonly requests: number;
  /** The part of the requests that belongs to workflow runs. */
  readonly workflowRequests: number;
  /** Runs that began. */
  readonly workflowRuns: number;
  /** Messages that the queue has accepted. */
  readonly messages: number;
  readonly bandwidthBytes: number;
}

export interface AccountSeries extends MaybeBehind {
  readonly times: SeriesTimes;
  readonly requests: readonly number[];
  readonly workflowRequests: readonly number[];
  /** Bodies accepted, bodies sent with each attempt, kept answers, and the meter's additions. */
  readonly bandwidthBytes: readonly number[];
  readonly messages: Readonly<Record<MessageMetric, readonly number[]>>;
  readonly workflows: Readonly<Record<WorkflowMetric, readonly number[]>>;
  /** Every day of the current month; later days have zeros. */
  readonly days: readonly AccountDay[];
  /** Messages in the DLQ now. */
  readonly dlqMessages: number;
}

/** One UTC day of a search index. */
export interface SearchDay {
  readonly day: number;
  readonly queries: number;
  /** Documents upserted and deleted. */
  readonly updates: number;
  /** Units of 100 reranked documents, rounded up for each query. */
  readonly reranks: number;
  readonly bandwidthBytes: number;
  readonly storageBytes: number;
}

export interface SearchSeries extends MaybeBehind {
  readonly times: SeriesTimes;
  readonly queries: readonly number[];
  readonly updates: readonly number[];
  readonly queryLatency: LatencySeries;
  readonly updateLatency: LatencySeries;
  readonly embeddingLatency: LatencySeries;
  readonly rerankLatency: LatencySeries;
  /** At the end of the step. */
  readonly documents: readonly number[];
  readonly storageBytes: readonly number[];
  /** From the first of the month that the day four days ago is in, up to today. */
  readonly days: readonly SearchDay[];
  /** Now. */
  readonly current: { readonly documents: number; readonly storageBytes: number };
}

/** Of all indexes together, in the current month. */
export interface SearchTotals extends MaybeBehind {
  readonly documents: number;
  readonly storageBytes: number;
  readonly queries: number;
  readonly updates: number;
  readonly reranks: number;
  readonly bandwidthBytes: number;
  /** The days of the month, summed over all indexes, as `searchCents` takes them. */
  readonly days: readonly SearchDay[];
}

export interface Statistics {
  /** @throws SHARD_UNAVAILABLE, TIMED_OUT, MAILBOX_FULL, as all of these do, when the read model does not answer */
  database(id: DatabaseId, period: Period, nowMs: number): Promise<DatabaseSeries>;
  databases(ids: readonly DatabaseId[], period: Period, nowMs: number): Promise<DatabasesSeries>;
  account(id: AccountId, period: Period, nowMs: number): Promise<AccountSeries>;
  search(id: DatabaseId, period: Period, nowMs: number): Promise<SearchSeries>;
  searchTotals(ids: readonly DatabaseId[], nowMs: number): Promise<SearchTotals>;
}

/** The use of an account in a month, as documents and as webhooks. */
export interface UsageDocuments {
  /** @param month since 1970. @throws as `Statistics` does, when the read model does not answer */
  documentOf(account: AccountId, month: number): Promise<UsageDocument & MaybeBehind>;
  /** Why no webhook can go to the URL; undefined: it can. */
  refusalOf(url: string): string | undefined;
}
