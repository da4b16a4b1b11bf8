/** The Server family, as far as a database of its own may see of the server. */

import { type CommandSpec, family, type Handler, NO_KEYS } from '../../command-spec.js';
import { ERRORS, MapReply, OK, SimpleString, VerbatimReply } from '../../reply.js';
import { connectionRow } from '../connection-row.js';
import {
  command,
  commandCount,
  commandDocs,
  commandGetKeys,
  commandGetKeysAndFlags,
  commandHelp,
  commandInfo,
  commandList,
} from './command.js';
import { configGet, configHelp, configResetStat, configRewrite, configSet } from './config.js';
import { info } from './info.js';
import {
  latencyDoctor,
  latencyGraph,
  latencyHelp,
  latencyHistogram,
  latencyHistory,
  latencyLatest,
  latencyReset,
  slowLogGet,
  slowLogHelp,
  slowLogLength,
  slowLogReset,
} from './slow-log.js';
import { UNAVAILABLE } from './unavailable.js';

/** FLUSHDB, FLUSHALL [ASYNC | SYNC] → OK. The same: there is one database. */
function flush(name: 'FLUSHDB' | 'FLUSHALL'): Handler {
  return ({ args, keyspace, effects }) => {
    if (args.length > 2) throw ERRORS.syntax;
    if (args.length === 2 && args.option(1) !== 'ASYNC' && args.option(1) !== 'SYNC') throw ERRORS.syntax;
    if (keyspace.size === 0) return OK;
    keyspace.clear();
    effects.push(name);
    return OK;
  };
}

/** DBSIZE → how many keys there are, with those that have expired and are not yet removed. */
const databaseSize: Handler = ({ keyspace }) => keyspace.size;

/** TIME → [seconds, microseconds of the second], as strings without leading zeros: the time by which keys expire. */
const time: Handler = ({ server, nowMs }) => {
  const micros = Math.max(server.nowMicros(), nowMs * 1000);
  return [String(Math.floor(micros / 1e6)), String(Math.floor(micros % 1e6))];
};

/** LASTSAVE → seconds; what is answered is stored, so it is now. */
const lastSave: Handler = ({ server }) => Math.floor(server.nowMicros() / 1e6);

/** ROLE → as a master without replicas: the journal replicates. */
const role: Handler = () => ['master', 0, []];

/** LOLWUT → a text. */
const lolwut: Handler = ({ server }) => {
  const version = server.info().get('server')?.get('redis_version') ?? '';
  return new VerbatimReply(`A mill turns by the race that feeds it.\nRedis ver. ${version}\n`);
};

/** MEMORY DOCTOR → a report in words. */
const memoryDoctor: Handler = () => new VerbatimReply('No memory issue was detected in this database.');

/** MEMORY PURGE → OK: the runtime frees memory by itself. */
const memoryPurge: Handler = () => OK;

/** MEMORY STATS → what is known of this database and of its process. */
const memoryStats: Handler = ({ keyspace, server }) => {
  const used = Number(server.info().get('memory')?.get('used_memory') ?? 0);
  const each = keyspace.size === 0 ? 0 : Math.floor(keyspace.bytes / keyspace.size);
  return new MapReply([
    'total.allocated',
    used,
    'keys.count',
    keyspace.size,
    'keys.bytes-per-key',
    each,
    'dataset.bytes',
    keyspace.bytes,
  ]);
};

const memoryHelp: Handler = () =>
  [
    'MEMORY <subcommand> [<arg> [value] [opt] ...]. Subcommands are:',
    'DOCTOR',
    '    Return memory problems reports.',
    'PURGE',
    '    Attempt to purge dirty pages for reclamation by the allocator.',
    'STATS',
    '    Return information about the memory usage of the server.',
    'USAGE <key> [SAMPLES <count>]',
    '    Return memory in bytes used by <key> and its value. Nested values are',
    '    sampled up to <count> times (default: 5, 0 means sample all).',
    'HELP',
    '    Print this help.',
  ].map((line) => new SimpleString(line));

export const SERVER: readonly CommandSpec[] = family('server', [
  {
    name: 'DBSIZE',
    tips: ['request_policy:all_shards', 'response_policy:agg_sum'],
    arity: 1,
    flags: ['readonly', 'fast'],
    keys: NO_KEYS,
    handler: databaseSize,
    acrossPartitions: 'sum',
    categories: ['keyspace'],
    since: '1.0.0',
    summary: 'Counts the keys.',
  },
  {
    name: 'TIME',
    tips: ['nondeterministic_output'],
    arity: 1,
    flags: ['fast', 'edge', 'random'],
    readOnlyToken: true,
    keys: NO_KEYS,
    handler: time,
    since: '2.6.0',
    summary: "Returns the server's time.",
  },
  {
    name: 'INFO',
    tips: ['nondeterministic_output', 'request_policy:all_shards', 'response_policy:special'],
    arity: -1,
    flags: ['dangerous', 'random', 'loading', 'stale'],
    keys: NO_KEYS,
    handler: info,
    since: '1.0.0',
    summary: 'Describes the server and the database.',
    deviations: ['Counts are of the database since its owner took it up; over REST `default` means all.'],
  },
  {
    name: 'COMMAND',
    tips: ['nondeterministic_output_order'],
    arity: -1,
    flags: ['edge', 'loading', 'stale', 'random'],
    keys: NO_KEYS,
    handler: command,
    categories: ['connection'],
    since: '2.8.13',
    summary: 'Describes every command.',
    deviations: ['Over REST always an empty list.'],
  },
  {
    name: 'COMMAND COUNT',
    arity: 2,
    flags: ['edge', 'loading', 'stale', 'random'],
    keys: NO_KEYS,
    handler: commandCount,
    categories: ['connection'],
    since: '2.8.13',
    summary: 'Counts the commands.',
  },
  {
    name: 'COMMAND LIST',
    tips: ['nondeterministic_output_order'],
    arity: -2,
    flags: ['edge', 'loading', 'stale', 'random'],
    keys: NO_KEYS,
    handler: commandList,
    categories: ['connection'],
    since: '7.0.0',
    summary: 'Lists the names of commands.',
  },
  {
    name: 'COMMAND INFO',
    tips: ['nondeterministic_output_order'],
    arity: -2,
    flags: ['edge', 'loading', 'stale', 'random'],
    keys: NO_KEYS,
    handler: commandInfo,
    categories: ['connection'],
    since: '2.8.13',
    summary: 'Describes commands by name.',
  },
  {
    name: 'COMMAND DOCS',
    tips: ['nondeterministic_output_order'],
    arity: -2,
    flags: ['edge', 'loading', 'stale', 'random'],
    keys: NO_KEYS,
    handler: commandDocs,
    categories: ['connection'],
    since: '7.0.0',
    summary: 'Documents commands.',
  },
  {
    name: 'COMMAND GETKEYS',
    arity: -3,
    flags: ['edge', 'loading', 'stale'],
    keys: NO_KEYS,
    handler: commandGetKeys,
    categories: ['connection'],
    since: '2.8.13',
    summary: 'Finds the keys among the words of a command.',
  },
  {
    name: 'COMMAND GETKEYSANDFLAGS',
    arity: -3,
    flags: ['edge', 'loading', 'stale', 'random'],
    keys: NO_KEYS,
    handler: commandGetKeysAndFlags,
    categories: ['connection'],
    since: '7.0.0',
    summary: 'Finds the keys among the words of a command, and what is done to them.',
  },
  {
    name: 'COMMAND HELP',
    arity: 2,
    flags: ['edge', 'loading', 'stale'],
    keys: NO_KEYS,
    handler: commandHelp,
    categories: ['connection'],
    since: '5.0.0',
    summary: 'Describes the subcommands.',
  },
  {
    name: 'CONFIG GET',
    arity: -3,
    flags: ['admin', 'dangerous', 'noscript', 'loading', 'stale', 'random'],
    keys: NO_KEYS,
    handler: configGet,
    since: '2.0.0',
    summary: 'Returns parameters of the database.',
    deviations: ['Knows the parameters that have a meaning here.'],
  },
  {
    name: 'CONFIG SET',
    tips: ['request_policy:all_nodes', 'response_policy:all_succeeded'],
    arity: -4,
    flags: ['admin', 'dangerous', 'noscript', 'loading', 'stale'],
    keys: NO_KEYS,
    handler: configSet,
    acrossPartitions: 'first',
    since: '2.0.0',
    summary: 'Sets parameters of the database.',
    deviations: ['What is set is kept, without CONFIG REWRITE.'],
  },
  {
    name: 'CONFIG RESETSTAT',
    tips: ['request_policy:all_nodes', 'response_policy:all_succeeded'],
    arity: 2,
    flags: ['admin', 'dangerous', 'noscript', 'loading', 'stale'],
    keys: NO_KEYS,
    handler: configResetStat,
    acrossPartitions: 'first',
    since: '2.0.0',
    summary: 'Begins to count anew.',
  },
  {
    name: 'CONFIG REWRITE',
    tips: ['request_policy:all_nodes', 'response_policy:all_succeeded'],
    arity: 2,
    flags: ['admin', 'dangerous', 'noscript', 'loading', 'stale'],
    keys: NO_KEYS,
    handler: configRewrite,
    since: '2.8.0',
    summary: 'Answers an error: what is set is kept without it.',
  },
  {
    name: 'CONFIG HELP',
    arity: 2,
    flags: ['loading', 'stale'],
    keys: NO_KEYS,
    handler: configHelp,
    since: '5.0.0',
    summary: 'Describes the subcommands.',
  },
  {
    name: 'SLOWLOG GET',
    tips: ['request_policy:all_nodes', 'nondeterministic_output'],
    arity: -2,
    flags: ['admin', 'dangerous', 'noscript', 'loading', 'stale', 'random'],
    keys: NO_KEYS,
    handler: slowLogGet,
    since: '2.2.12',
    summary: 'Returns the newest slow commands.',
  },
  {
    name: 'SLOWLOG LEN',
    tips: ['request_policy:all_nodes', 'response_policy:agg_sum', 'nondeterministic_output'],
    arity: 2,
    flags: ['admin', 'dangerous', 'noscript', 'loading', 'stale', 'random'],
    keys: NO_KEYS,
    handler: slowLogLength,
    since: '2.2.12',
    summary: 'Counts the slow commands that are remembered.',
  },
  {
    name: 'SLOWLOG RESET',
    tips: ['request_policy:all_nodes', 'response_policy:all_succeeded'],
    arity: 2,
    flags: ['admin', 'dangerous', 'noscript', 'loading', 'stale'],
    keys: NO_KEYS,
    handler: slowLogReset,
    since: '2.2.12',
    summary: 'Forgets the slow commands.',
  },
  {
    name: 'SLOWLOG HELP',
    arity: 2,
    flags: ['loading', 'stale'],
    keys: NO_KEYS,
    handler: slowLogHelp,
    since: '6.2.0',
    summary: 'Describes the subcommands.',
  },
  {
    name: 'LATENCY LATEST',
    tips: ['nondeterministic_output', 'request_policy:all_nodes', 'response_policy:special'],
    arity: 2,
    flags: ['admin', 'dangerous', 'noscript', 'loading', 'stale', 'random'],
    keys: NO_KEYS,
    handler: latencyLatest,
    since: '2.8.13',
    summary: 'Returns the latest latency of each event.',
  },
  {
    name: 'LATENCY HISTORY',
    tips: ['nondeterministic_output', 'request_policy:all_nodes', 'response_policy:special'],
    arity: 3,
    flags: ['admin', 'dangerous', 'noscript', 'loading', 'stale', 'random'],
    keys: NO_KEYS,
    handler: latencyHistory,
    since: '2.8.13',
    summary: 'Returns the latencies of an event.',
  },
  {
    name: 'LATENCY RESET',
    tips: ['request_policy:all_nodes', 'response_policy:agg_sum'],
    arity: -2,
    flags: ['admin', 'dangerous', 'noscript', 'loading', 'stale', 'random'],
    keys: NO_KEYS,
    handler: latencyReset,
    since: '2.8.13',
    summary: 'Forgets latencies.',
  },
  {
    name: 'LATENCY GRAPH',
    tips: ['nondeterministic_output', 'request_policy:all_nodes', 'response_policy:special'],
    arity: 3,
    flags: ['admin', 'dangerous', 'noscript', 'loading', 'stale', 'random'],
    keys: NO_KEYS,
    handler: latencyGraph,
    since: '2.8.13',
    summary: 'Draws the latencies of an event.',
  },
  {
    name: 'LATENCY DOCTOR',
    tips: ['nondeterministic_output', 'request_policy:all_nodes', 'response_policy:special'],
    arity: 2,
    flags: ['admin', 'dangerous', 'noscript', 'loading', 'stale', 'random'],
    keys: NO_KEYS,
    handler: latencyDoctor,
    since: '2.8.13',
    summary: 'Reports on latencies in words.',
  },
  {
    name: 'LATENCY HISTOGRAM',
    tips: ['nondeterministic_output', 'request_policy:all_nodes', 'response_policy:special'],
    arity: -2,
    flags: ['admin', 'dangerous', 'noscript', 'loading', 'stale', 'random'],
    keys: NO_KEYS,
    handler: latencyHistogram,
    since: '7.0.0',
    summary: 'Returns how long commands took.',
    deviations: ['One bucket a command: the average.'],
  },
  {
    name: 'LATENCY HELP',
    arity: 2,
    flags: ['loading', 'stale'],
    keys: NO_KEYS,
    handler: latencyHelp,
    since: '2.8.13',
    summary: 'Describes the subcommands.',
  },
  {
    name: 'MEMORY DOCTOR',
    tips: ['nondeterministic_output', 'request_policy:all_shards', 'response_policy:special'],
    arity: 2,
    flags: ['random'],
    keys: NO_KEYS,
    handler: memoryDoctor,
    since: '4.0.0',
    summary: 'Reports on memory in words.',
  },
  {
    name: 'MEMORY PURGE',
    tips: ['request_policy:all_shards', 'response_policy:all_succeeded'],
    arity: 2,
    flags: ['random'],
    keys: NO_KEYS,
    handler: memoryPurge,
    since: '4.0.0',
    summary: 'Does nothing: memory is freed by itself.',
  },
  {
    name: 'MEMORY STATS',
    tips: ['nondeterministic_output', 'request_policy:all_shards', 'response_policy:special'],
    arity: 2,
    flags: ['random'],
    keys: NO_KEYS,
    handler: memoryStats,
    since: '4.0.0',
    summary: 'Returns what memory is used for.',
  },
  {
    name: 'MEMORY HELP',
    arity: 2,
    flags: ['loading', 'stale'],
    keys: NO_KEYS,
    handler: memoryHelp,
    since: '4.0.0',
    summary: 'Describes the subcommands.',
  },
  {
    name: 'LASTSAVE',
    tips: ['nondeterministic_output'],
    arity: 1,
    flags: ['fast', 'admin', 'dangerous', 'loading', 'stale', 'random'],
    keys: NO_KEYS,
    handler: lastSave,
    since: '1.0.0',
    summary: 'Returns the current second: what is answered is stored.',
  },
  {
    name: 'ROLE',
    arity: 1,
    flags: ['fast', 'admin', 'dangerous', 'noscript', 'loading', 'stale'],
    keys: NO_KEYS,
    handler: role,
    since: '2.8.12',
    summary: 'Returns the role of a master without replicas.',
  },
  {
    name: 'LOLWUT',
    arity: -1,
    flags: ['readonly', 'fast', 'random'],
    keys: NO_KEYS,
    handler: lolwut,
    since: '5.0.0',
    summary: 'Returns a text.',
    readOnlyToken: true,
  },
  {
    name: 'FLUSHALL',
    tips: ['request_policy:all_shards', 'response_policy:all_succeeded'],
    arity: -1,
    flags: ['write', 'dangerous'],
    keys: NO_KEYS,
    handler: flush('FLUSHALL'),
    acrossPartitions: 'first',
    categories: ['keyspace'],
    since: '1.0.0',
    summary: 'Deletes every key.',
  },
  {
    name: 'FLUSHDB',
    tips: ['request_policy:all_shards', 'response_policy:all_succeeded'],
    arity: -1,
    flags: ['write', 'dangerous'],
    keys: NO_KEYS,
    handler: flush('FLUSHDB'),
    acrossPartitions: 'first',
    categories: ['keyspace'],
    since: '1.0.0',
    summary: 'Deletes every key.',
  },
  connectionRow({
    name: 'MONITOR',
    arity: 1,
    flags: ['admin', 'dangerous', 'noscript', 'loading', 'stale'],
    since: '1.0.0',
    summary: 'Shows every command as it runs; over REST the event stream of /monitor.',
    rest: 'other-route',
    deviations: ['Shows the commands that reach the database, not those about the connection itself.'],
  }),
  ...UNAVAILABLE,
]);
