/** Answers queries from the statistics' file: at most a few hundred rows per query. */
import {
  DAY_MS,
  daysOfMonth,
  firstDayOfMonth,
  lastFiveDays,
  type Period,
  seriesTimes,
} from '../../domain/statistics/index.js';
import type { AccountId, DatabaseId } from '../../kernel/index.js';
import {
  type AccountDay,
  type AccountSeries,
  type DatabaseDay,
  type DatabaseSeries,
  type DatabasesSeries,
  type DatabaseUse,
  MESSAGE_METRICS,
  type SearchDay,
  type SearchSeries,
  type SearchTotals,
  WORKFLOW_METRICS,
} from '../../ports/index.js';
import { Bucket } from './bucket.js';
import { CONNECTIONS_LAST_MS } from './gauge-state.js';
import { GAUGE_PLACES, KV_PLACES, QUEUE_PLACES, SEARCH_PLACES, type SubjectKind } from './metrics.js';
import { DAYS, RESOLUTION_OF, RESOLUTIONS, type Resolution } from './resolutions.js';
import { SeriesSteps } from './series.js';
import type { StatsStore } from './stats-store.js';

const READS = [KV_PLACES.readMicros, KV_PLACES.readClasses] as const;
const WRITES = [KV_PLACES.writeMicros, KV_PLACES.writeClasses] as const;
const RUN_PLACES = {
  started: QUEUE_PLACES.runsStarted,
  success: QUEUE_PLACES.runsSucceeded,
  failed: QUEUE_PLACES.runsFailed,
  canceled: QUEUE_PLACES.runsCanceled,
} as const;
const QUEUE_BYTES = [
  QUEUE_PLACES.acceptedBytes,
  QUEUE_PLACES.sentBytes,
  QUEUE_PLACES.answeredBytes,
  QUEUE_PLACES.apiBytes,
];

export class StatsReader {
  constructor(private readonly store: Pick<StatsStore, 'rows' | 'gauges' | 'subjects'>) {}

  database(id: DatabaseId, period: Period, nowMs: number): DatabaseSeries {
    const subject = this.#find('kv', id);
    const times = seriesTimes(period, nowMs);
    const steps = this.#steps(subject, period, nowMs);
    const commands = steps.counts(KV_PLACES.commands);
    const writes = steps.counts(KV_PLACES.writes);
    return {
      times,
      commands,
      writes,
      reads: commands.map((all, at) => all - (writes[at] as number)),
      hits: steps.counts(KV_PLACES.hits),
      misses: steps.counts(KV_PLACES.misses),
      bandwidthBytes: steps.counts(KV_PLACES.bytesIn, KV_PLACES.bytesOut),
      connections: steps.gauge(GAUGE_PLACES.connections, CONNECTIONS_LAST_MS),
      keys: steps.gauge(GAUGE_PLACES.items),
      storageBytes: steps.gauge(GAUGE_PLACES.bytes),
      latency: steps.latency(READS, WRITES),
      readLatency: steps.latency(READS),
      writeLatency: steps.latency(WRITES),
      commandCounts: steps.names(),
      days: this.#days(subject, recentDays(nowMs)).map(databaseDay),
      current: { connections: this.#now(subject, 'connections', nowMs), ...this.#sizeNow(subject, nowMs, 'keys') },
    };
  }

  databases(ids: readonly DatabaseId[], period: Period, nowMs: number): DatabasesSeries {
    const found = ids.map((id) => this.#find('kv', id));
    const steps = this.#stepsOfAll(found, period, nowMs);
    const commands = steps.counts(KV_PLACES.commands);
    const writes = steps.counts(KV_PLACES.writes);
    return {
      times: seriesTimes(period, nowMs),
      commands,
      writes,
      reads: commands.map((all, at) => all - (writes[at] as number)),
      hits: steps.counts(KV_PLACES.hits),
      misses: steps.counts(KV_PLACES.misses),
      bandwidthBytes: steps.counts(KV_PLACES.bytesIn, KV_PLACES.bytesOut),
      latency: steps.latency(READS, WRITES),
      each: ids.map((id, at) => this.#use(id, found[at], nowMs)),
    };
  }

  #use(id: DatabaseId, subject: number | undefined, nowMs: number): DatabaseUse {
    const today = Math.floor(nowMs / DAY_MS);
    const days = this.#days(subject, range(firstDayOfMonth(today), today)).map(databaseDay);
    return {
      id,
      ...this.#sizeNow(subject, nowMs, 'keys'),
      connections: this.#now(subject, 'connections', nowMs),
      commandsToday: days.at(-1)?.commands ?? 0,
      commandsThisMonth: total(days, 'commands'),
      bandwidthBytesThisMonth: total(days, 'bandwidthBytes'),
    };
  }

  /** Sums of several databases, without gauges, which have no meaning as a sum. */
  #stepsOfAll(subjects: readonly (number | undefined)[], period: Period, nowMs: number): SeriesSteps {
    const times = seriesTimes(period, nowMs);
    const endMs = times.firstAtMs + times.count * times.stepMs;
    const { rows } = this.store;
    const during = subjects.flatMap((subject) =>
      subject === undefined ? [] : [...rows.between(subject, RESOLUTION_OF[period], times.firstAtMs, endMs)],
    );
    return new SeriesSteps(times, during, undefined);
  }

  account(id: AccountId, period: Period, nowMs: number): AccountSeries {
    const subject = this.#find('queue', id);
    const steps = this.#steps(subject, period, nowMs);
    return {
      times: seriesTimes(period, nowMs),
      requests: steps.counts(QUEUE_PLACES.requests),
      workflowRequests: steps.counts(QUEUE_PLACES.workflowRequests),
      bandwidthBytes: steps.counts(...QUEUE_BYTES),
      messages: seriesOf(steps, MESSAGE_METRICS, (metric) => QUEUE_PLACES[metric]),
      workflows: seriesOf(steps, WORKFLOW_METRICS, (metric) => RUN_PLACES[metric]),
      days: this.#days(subject, daysOfMonth(nowMs)).map(accountDay),
      dlqMessages: subject === undefined ? 0 : this.store.subjects.dlqOf(subject),
    };
  }

  search(id: DatabaseId, period: Period, nowMs: number): SearchSeries {
    const subject = this.#find('search', id);
    const steps = this.#steps(subject, period, nowMs);
    return {
      times: seriesTimes(period, nowMs),
      queries: steps.counts(SEARCH_PLACES.queries),
      updates: steps.counts(SEARCH_PLACES.updates),
      queryLatency: steps.latency([SEARCH_PLACES.queryMicros, SEARCH_PLACES.queryClasses]),
      updateLatency: steps.latency([SEARCH_PLACES.updateMicros, SEARCH_PLACES.updateClasses]),
      embeddingLatency: steps.latency([SEARCH_PLACES.embeddingMicros, SEARCH_PLACES.embeddingClasses]),
      rerankLatency: steps.latency([SEARCH_PLACES.rerankMicros, SEARCH_PLACES.rerankClasses]),
      documents: steps.gauge(GAUGE_PLACES.items),
      storageBytes: steps.gauge(GAUGE_PLACES.bytes),
      days: this.#days(subject, recentDays(nowMs)).map(searchDay),
      current: this.#sizeNow(subject, nowMs, 'documents'),
    };
  }

  searchTotals(ids: readonly DatabaseId[], nowMs: number): SearchTotals {
    const today = Math.floor(nowMs / DAY_MS);
    const span = { from: firstDayOfMonth(today), to: today };
    const all = ids.map((id) => this.#find('search', id));
    const days = sumOfDays(all.map((subject) => this.#days(subject, range(span.from, span.to)).map(searchDay)));
    const sizes = all.map((subject) => this.#sizeNow(subject, nowMs, 'documents'));
    return {
      documents: total(sizes, 'documents'),
      storageBytes: total(sizes, 'storageBytes'),
      queries: total(days, 'queries'),
      updates: total(days, 'updates'),
      reranks: total(days, 'reranks'),
      bandwidthBytes: total(days, 'bandwidthBytes'),
      days: days.length > 0 ? days : range(span.from, span.to).map((day) => searchDay([day, new Bucket()])),
    };
  }

  #find(kind: SubjectKind, name: string): number | undefined {
    return this.store.subjects.find(kind, name);
  }

  #steps(subject: number | undefined, period: Period, nowMs: number): SeriesSteps {
    const times = seriesTimes(period, nowMs);
    if (subject === undefined) return new SeriesSteps(times, [], undefined);
    const { firstAtMs, stepMs, count } = times;
    const resolution = RESOLUTION_OF[period];
    const { rows } = this.store;
    const during = rows.between(subject, resolution, firstAtMs, firstAtMs + count * stepMs);
    return new SeriesSteps(times, during, this.#before(subject, resolution, firstAtMs));
  }

  /** The last known bucket: where finer rows do not reach back far enough, coarser ones do. */
  #before(subject: number, finest: Resolution, beforeMs: number): Bucket | undefined {
    for (const resolution of RESOLUTIONS.slice(RESOLUTIONS.indexOf(finest))) {
      // Only steps that had ended by then.
      const found = this.store.rows.before(subject, resolution, beforeMs - resolution.stepMs + 1);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  /** One bucket for each day in order, with the gauges that still hold. */
  #days(subject: number | undefined, days: readonly number[]): (readonly [day: number, bucket: Bucket])[] {
    const first = (days[0] as number) * DAY_MS;
    const end = ((days.at(-1) as number) + 1) * DAY_MS;
    const { rows } = this.store;
    const known = new Map(subject === undefined ? [] : rows.between(subject, DAYS, first, end));
    let { gauges } = (subject === undefined ? undefined : rows.before(subject, DAYS, first)) ?? new Bucket();
    return days.map((day) => {
      const bucket = known.get(day * DAY_MS) ?? new Bucket([], new Map(), [...gauges]);
      gauges = bucket.gauges;
      return [day, bucket] as const;
    });
  }

  #now(subject: number | undefined, gauge: keyof typeof GAUGE_PLACES, nowMs: number): number {
    return subject === undefined ? 0 : (this.store.gauges.at(subject, nowMs)[GAUGE_PLACES[gauge]] ?? 0);
  }

  #sizeNow<Items extends 'keys' | 'documents'>(
    subject: number | undefined,
    nowMs: number,
    items: Items,
  ): { readonly [Name in Items | 'storageBytes']: number } {
    return {
      [items]: this.#now(subject, 'items', nowMs),
      storageBytes: this.#now(subject, 'bytes', nowMs),
    } as { [Name in Items | 'storageBytes']: number };
  }
}

function databaseDay([day, bucket]: readonly [number, Bucket]): DatabaseDay {
  return {
    day,
    commands: bucket.at(KV_PLACES.commands),
    writes: bucket.at(KV_PLACES.writes),
    scripts: bucket.at(KV_PLACES.scripts),
    bandwidthBytes: bucket.at(KV_PLACES.bytesIn) + bucket.at(KV_PLACES.bytesOut),
    storageBytes: bucket.gauges[GAUGE_PLACES.bytes] ?? 0,
  };
}

function accountDay([day, bucket]: readonly [number, Bucket]): AccountDay {
  return {
    day,
    requests: bucket.at(QUEUE_PLACES.requests),
    workflowRequests: bucket.at(QUEUE_PLACES.workflowRequests),
    workflowRuns: bucket.at(QUEUE_PLACES.runsStarted),
    messages: bucket.at(QUEUE_PLACES.created),
    bandwidthBytes: QUEUE_BYTES.reduce((sum, place) => sum + bucket.at(place), 0),
  };
}

function searchDay([day, bucket]: readonly [number, Bucket]): SearchDay {
  return {
    day,
    queries: bucket.at(SEARCH_PLACES.queries),
    updates: bucket.at(SEARCH_PLACES.updates),
    reranks: bucket.at(SEARCH_PLACES.reranks),
    bandwidthBytes: bucket.at(SEARCH_PLACES.bytesIn) + bucket.at(SEARCH_PLACES.bytesOut),
    storageBytes: bucket.gauges[GAUGE_PLACES.bytes] ?? 0,
  };
}

function seriesOf<Metric extends string>(
  steps: SeriesSteps,
  metrics: readonly Metric[],
  placeOf: (metric: Metric) => number,
): Record<Metric, readonly number[]> {
  const named = metrics.map((metric) => [metric, steps.counts(placeOf(metric))]);
  return Object.fromEntries(named) as Record<Metric, readonly number[]>;
}

/** From the first of the month of the day four days ago, up to today. */
function recentDays(nowMs: number): number[] {
  const five = lastFiveDays(nowMs);
  return range(firstDayOfMonth(five[0] as number), five.at(-1) as number);
}

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, at) => from + at);
}

/** Sums by day; all lists cover the same days. */
function sumOfDays(all: readonly (readonly SearchDay[])[]): SearchDay[] {
  const [first = []] = all;
  return first.map(({ day }, at) => {
    const same = all.map((days) => days[at] as SearchDay);
    return {
      day,
      queries: total(same, 'queries'),
      updates: total(same, 'updates'),
      reranks: total(same, 'reranks'),
      bandwidthBytes: total(same, 'bandwidthBytes'),
      storageBytes: total(same, 'storageBytes'),
    };
  });
}

function total<Name extends string>(of: readonly { readonly [N in Name]: number }[], name: Name): number {
  return of.reduce((sum, one) => sum + one[name], 0);
}
