/** SLOWLOG and LATENCY: slow commands of this database since its owner took it over. */

import { NO_KEYS } from '../../command-description.js';
import type { CommandSpec, Handler } from '../../command-spec.js';
import { ErrorReply, MapReply, OK, type Reply, VerbatimReply } from '../../reply.js';
import type { LatencySample } from '../../statistics.js';
import { family, row } from '../rows.js';

const STANDARD_COUNT = 10;
const badCount = new ErrorReply('ERR count should be greater than or equal to -1');
/** Rows of a graph; a full column is the largest sample. */
const GRAPH_ROWS = 4;

/** SLOWLOG GET [count] → [id, seconds, microseconds, words, address, name] of the newest; -1 means all. */
export const slowLogGet: Handler = ({ args, statistics }) => {
  let count = STANDARD_COUNT;
  if (args.length === 3) {
    count = args.integer(2);
    if (count < -1) throw badCount;
    if (count === -1) count = statistics.slow.length;
  }
  return statistics.slow
    .slice(0, count)
    .map(({ id, atSeconds, micros, words, address, name }) => [id, atSeconds, micros, words, address, name]);
};

export const slowLogLength: Handler = ({ statistics }) => statistics.slow.length;

export const slowLogReset: Handler = ({ statistics }) => {
  statistics.slow.length = 0;
  return OK;
};

/** LATENCY LATEST → [event, seconds, latest ms, worst ms] for each event. */
export const latencyLatest: Handler = ({ statistics }) =>
  [...statistics.latencies].map(([event, samples]) => {
    const latest = samples.at(-1) as LatencySample;
    return [event, latest.atSeconds, latest.ms, Math.max(...samples.map(({ ms }) => ms))];
  });

/** LATENCY HISTORY event → [seconds, ms] of its samples, oldest first. */
export const latencyHistory: Handler = ({ args, statistics }) =>
  (statistics.latencies.get(args.bytes(2)) ?? []).map(({ atSeconds, ms }) => [atSeconds, ms]);

/** LATENCY RESET [event …] → the number of events removed. */
export const latencyReset: Handler = ({ args, statistics }) => {
  const { latencies } = statistics;
  if (args.length === 2) {
    const { size } = latencies;
    latencies.clear();
    return size;
  }
  return args.from(2).filter((event) => latencies.delete(event)).length;
};

/** LATENCY GRAPH event → the samples as an ASCII graph. */
export const latencyGraph: Handler = ({ args, statistics }) => {
  const event = args.bytes(2);
  const samples = statistics.latencies.get(event);
  if (samples === undefined) throw new ErrorReply(`ERR No samples available for event '${event}'`);
  const values = samples.map(({ ms }) => ms);
  const high = Math.max(...values);
  let text = `${event} - high ${high} ms, low ${Math.min(...values)} ms (all time high ${high} ms)\n${'-'.repeat(80)}\n`;
  for (let row = GRAPH_ROWS; row > 0; row -= 1) {
    text += `${values.map((ms) => (ms * GRAPH_ROWS >= high * row ? '#' : ' ')).join('')}\n`;
  }
  return new VerbatimReply(text);
};

/** LATENCY DOCTOR → a report in words. */
export const latencyDoctor: Handler = ({ settings, statistics }) => {
  if (settings.number('latency-monitor-threshold') === 0) {
    return new VerbatimReply(
      'Latency monitoring is disabled in this database. Enable it with CONFIG SET latency-monitor-threshold <milliseconds>.',
    );
  }
  if (statistics.latencies.size === 0) {
    return new VerbatimReply('No latency spike was observed since this database was taken up.');
  }
  let report = 'Latency spikes were observed in this database:\n';
  for (const [event, samples] of statistics.latencies) {
    const worst = Math.max(...samples.map(({ ms }) => ms));
    report += `- ${event}: ${samples.length} spikes, worst ${worst} ms.\n`;
  }
  return new VerbatimReply(report);
};

/**
 * LATENCY HISTOGRAM [command …] → the calls of each command. Only the sum of the times is kept, so all calls are in the
 * bucket of the average.
 */
export const latencyHistogram: Handler = ({ args, statistics }) => {
  const wanted = new Set(args.from(2).map((name) => name.toLowerCase()));
  const items: Reply[] = [];
  for (const [spec, { calls, micros }] of statistics.calls) {
    const name = spec.name.toLowerCase().replace(' ', '|');
    if (wanted.size > 0 && !wanted.has(name) && !wanted.has(name.split('|')[0] as string)) continue;
    const bucket = 2 ** Math.ceil(Math.log2(Math.max(1, micros / calls)));
    items.push(name, new MapReply(['calls', calls, 'histogram_usec', new MapReply([bucket, calls])]));
  }
  return new MapReply(items);
};

/** The internal command by which an endpoint reports a slow command that it ran itself; clients cannot send it. */
export const SLOW_NOTE = 'SLOWLOG.NOTE';

/** SLOWLOG.NOTE microseconds address name word … → OK. */
const slowNote: Handler = ({ args, statistics, settings, nowMs }) => {
  const [, micros = '0', address = '', name = '', ...words] = args.words;
  statistics.addSlow({ words, micros: Number(micros), address, name }, nowMs, settings.number('slowlog-max-len'));
  return OK;
};

/** In the internal command table only (commands.ts). */
export const SLOW_NOTES: readonly CommandSpec[] = family('server', [
  row(SLOW_NOTE, -5, '', 'Notes a slow command that an endpoint has run itself.', {
    flags: ['admin', 'noscript', 'skip-monitor', 'skip-slowlog'],
    keys: NO_KEYS,
    handler: slowNote,
  }),
]);

export const SLOW_LOG_HELP = [
  'GET [<count>]',
  '    Return top <count> entries from the slowlog (default: 10, -1 means all).',
  '    Entries are made of:',
  '    id, timestamp, time in microseconds, arguments array, client IP and port,',
  '    client name',
  'LEN',
  '    Return the length of the slowlog.',
  'RESET',
  '    Reset the slowlog.',
];

export const LATENCY_HELP = [
  'DOCTOR',
  '    Return a human readable latency analysis report.',
  'GRAPH <event>',
  '    Return an ASCII latency graph for the <event> class.',
  'HISTORY <event>',
  '    Return time-latency samples for the <event> class.',
  'LATEST',
  '    Return the latest latency samples for all events.',
  'RESET [<event> ...]',
  '    Reset latency data of one or more <event> classes.',
  '    (default: reset all data for all event classes)',
  'HISTOGRAM [COMMAND ...]',
  '    Return a cumulative distribution of latencies in the format of a histogram for the specified command names.',
];
