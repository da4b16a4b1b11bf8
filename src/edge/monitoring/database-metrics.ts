/**
 * What a database was used for, as metrics: totals since the beginning of the month (UTC), which begin again at 0 as
 * counters may, the newest minute that is over, and how things are now.
 */
import { DAY_MS, firstDayOfMonth } from '../../domain/statistics/index.js';
import type { DatabaseDay, DatabaseSeries, LatencySeries } from '../../ports/index.js';
import type { Family, Sample } from './exposition.js';

const PREFIX = 'millrace_kv_';

/** @param nowMs the series' last step is the minute that it lies in */
export function databaseMetrics(series: DatabaseSeries, nowMs: number): Family[] {
  const { current, commandCounts } = series;
  // The last step is not over.
  const minute = series.times.count - 2;
  const today = Math.floor(nowMs / DAY_MS);
  const month = series.days.filter(({ day }) => day >= firstDayOfMonth(today));
  const total = (name: string, help: string, of: (day: DatabaseDay) => number): Family =>
    family('counter', `${name}_total`, `${help} since the beginning of the month.`, {
      value: month.reduce((sum, day) => sum + of(day), 0),
    });
  const minutely = (name: string, help: string, counts: readonly number[]): Family =>
    family('gauge', `minute_${name}`, `${help} in the last whole minute.`, { value: at(counts, minute) });

  return [
    total('commands', 'Commands', ({ commands }) => commands),
    total('writes', 'Commands that wrote', ({ writes }) => writes),
    total('scripts', 'Scripts and functions that were called', ({ scripts }) => scripts),
    total('bandwidth_bytes', 'Bytes of requests and replies', ({ bandwidthBytes }) => bandwidthBytes),
    family(
      'gauge',
      'minute_commands',
      'Commands in the last whole minute, by name.',
      ...commandCounts.map(({ name, counts }) => ({ labels: { command: name }, value: at(counts, minute) })),
    ),
    minutely('reads', 'Commands that read', series.reads),
    minutely('writes', 'Commands that wrote', series.writes),
    minutely('hits', 'Reads that found their key', series.hits),
    minutely('misses', 'Reads that did not find their key', series.misses),
    minutely('bandwidth_bytes', 'Bytes of requests and replies', series.bandwidthBytes),
    family(
      'gauge',
      'minute_latency_seconds',
      'Latency of requests in the last whole minute.',
      ...latencies('all', series.latency, minute),
      ...latencies('read', series.readLatency, minute),
      ...latencies('write', series.writeLatency, minute),
    ),
    family('gauge', 'connections', 'Connections of the native protocol.', { value: current.connections }),
    family('gauge', 'keys', 'Keys.', { value: current.keys }),
    family('gauge', 'storage_bytes', 'Bytes that the data takes.', { value: current.storageBytes }),
  ];
}

function family(type: Family['type'], name: string, help: string, ...samples: readonly Sample[]): Family {
  return { name: PREFIX + name, help, type, samples };
}

function latencies(requests: string, { mean, p99 }: LatencySeries, minute: number): Sample[] {
  return [
    { labels: { requests, stat: 'mean' }, value: at(mean, minute) / 1000 },
    { labels: { requests, stat: 'p99' }, value: at(p99, minute) / 1000 },
  ];
}

function at(values: readonly number[], index: number): number {
  return values[index] ?? 0;
}
