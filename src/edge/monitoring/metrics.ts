/**
 * Usage of a database or a queue account as metrics: totals since the beginning of the month (UTC), which then
 * restart at 0 like any counter, the last complete minute, and current values.
 */
import { DAY_MS, firstDayOfMonth } from '../../domain/statistics/index.js';
import {
  type AccountSeries,
  type DatabaseSeries,
  type LatencySeries,
  MESSAGE_METRICS,
  WORKFLOW_METRICS,
} from '../../ports/index.js';
import type { Family, Sample } from './exposition.js';

/** Builds metrics from series: month totals and values of one step. */
class Families<Day extends { readonly day: number }> {
  readonly #month: readonly Day[];

  /** @param minute the step for `minutely`. @param nowMs an instant in the month for `total` */
  constructor(
    private readonly prefix: string,
    days: readonly Day[],
    private readonly minute: number,
    nowMs: number,
  ) {
    const first = firstDayOfMonth(Math.floor(nowMs / DAY_MS));
    this.#month = days.filter(({ day }) => day >= first);
  }

  total(name: string, help: string, of: (day: Day) => number): Family {
    return this.of('counter', `${name}_total`, `${help} since the beginning of the month.`, {
      value: this.#month.reduce((sum, day) => sum + of(day), 0),
    });
  }

  minutely(name: string, help: string, counts: readonly number[]): Family {
    return this.of('gauge', `minute_${name}`, `${help} in the last whole minute.`, { value: this.at(counts) });
  }

  of(type: Family['type'], name: string, help: string, ...samples: readonly Sample[]): Family {
    return { name: this.prefix + name, help, type, samples };
  }

  /** The value of the selected minute. */
  at(values: readonly number[]): number {
    return values[this.minute] ?? 0;
  }
}

/** @param nowMs in the minute of the series' last step */
export function databaseMetrics(series: DatabaseSeries, nowMs: number): Family[] {
  const { current, commandCounts } = series;
  // The last step is incomplete.
  const families = new Families('millrace_kv_', series.days, series.times.count - 2, nowMs);
  const latencies = (requests: string, { mean, p99 }: LatencySeries): Sample[] => [
    { labels: { requests, stat: 'mean' }, value: families.at(mean) / 1000 },
    { labels: { requests, stat: 'p99' }, value: families.at(p99) / 1000 },
  ];
  return [
    families.total('commands', 'Commands', ({ commands }) => commands),
    families.total('writes', 'Commands that wrote', ({ writes }) => writes),
    families.total('scripts', 'Scripts and functions that were called', ({ scripts }) => scripts),
    families.total('bandwidth_bytes', 'Bytes of requests and replies', ({ bandwidthBytes }) => bandwidthBytes),
    families.of(
      'gauge',
      'minute_commands',
      'Commands in the last whole minute, by name.',
      ...commandCounts.map(({ name, counts }) => ({ labels: { command: name }, value: families.at(counts) })),
    ),
    families.minutely('reads', 'Commands that read', series.reads),
    families.minutely('writes', 'Commands that wrote', series.writes),
    families.minutely('hits', 'Reads that found their key', series.hits),
    families.minutely('misses', 'Reads that did not find their key', series.misses),
    families.minutely('bandwidth_bytes', 'Bytes of requests and replies', series.bandwidthBytes),
    families.of(
      'gauge',
      'minute_latency_seconds',
      'Latency of requests in the last whole minute.',
      ...latencies('all', series.latency),
      ...latencies('read', series.readLatency),
      ...latencies('write', series.writeLatency),
    ),
    families.of('gauge', 'connections', 'Connections of the native protocol.', { value: current.connections }),
    families.of('gauge', 'keys', 'Keys.', { value: current.keys }),
    families.of('gauge', 'storage_bytes', 'Bytes that the data takes.', { value: current.storageBytes }),
  ];
}

/** @param nowMs in the minute of the series' last step */
export function queueMetrics(series: AccountSeries, nowMs: number): Family[] {
  const families = new Families('millrace_queue_', series.days, series.times.count - 2, nowMs);
  return [
    families.total('requests', 'Messages that are charged', ({ requests }) => requests),
    families.total('workflow_requests', 'Messages of workflows', ({ workflowRequests }) => workflowRequests),
    families.total('workflow_runs', 'Runs of workflows that began', ({ workflowRuns }) => workflowRuns),
    families.total('bandwidth_bytes', 'Bytes of bodies', ({ bandwidthBytes }) => bandwidthBytes),
    families.of(
      'gauge',
      'minute_messages',
      'Messages by outcome in the last whole minute.',
      ...MESSAGE_METRICS.map((state) => ({ labels: { state }, value: families.at(series.messages[state]) })),
    ),
    families.of(
      'gauge',
      'minute_workflows',
      'Runs of workflows by outcome in the last whole minute.',
      ...WORKFLOW_METRICS.map((state) => ({ labels: { state }, value: families.at(series.workflows[state]) })),
    ),
    families.minutely('bandwidth_bytes', 'Bytes of bodies', series.bandwidthBytes),
    families.of('gauge', 'dlq_messages', 'Messages in the DLQ.', { value: series.dlqMessages }),
  ];
}
