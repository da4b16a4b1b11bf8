/**
 * What a database was used for, as metrics: totals since the beginning of the month (UTC), which begin again at 0 as
 * counters may, the newest minute that is over, and how things are now.
 */
import type { DatabaseSeries, LatencySeries } from '../../ports/index.js';
import type { Family, Sample } from './exposition.js';
import { Families } from './metric-families.js';

/** @param nowMs the series' last step is the minute that it lies in */
export function databaseMetrics(series: DatabaseSeries, nowMs: number): Family[] {
  const { current, commandCounts } = series;
  // The last step is not over.
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
