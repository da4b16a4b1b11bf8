/** The Server family, limited to one database. */

import { NO_KEYS } from '../../command-description.js';
import type { CommandSpec, Handler } from '../../command-spec.js';
import { ERRORS, MapReply, OK, VerbatimReply } from '../../reply.js';
import { connectionRow } from '../connection-row.js';
import { EVERY_NODE, EVERY_SHARD, family, helpRow, READS_FAST, row, UNORDERED, VARIES } from '../rows.js';
import {
  COMMAND_HELP,
  command,
  commandCount,
  commandDocs,
  commandGetKeys,
  commandGetKeysAndFlags,
  commandInfo,
  commandList,
} from './command.js';
import { CONFIG_HELP, configGet, configResetStat, configRewrite, configSet } from './config.js';
import { info } from './info.js';
import { MODULES } from './modules.js';
import {
  LATENCY_HELP,
  latencyDoctor,
  latencyGraph,
  latencyHistogram,
  latencyHistory,
  latencyLatest,
  latencyReset,
  SLOW_LOG_HELP,
  slowLogGet,
  slowLogLength,
  slowLogReset,
} from './slow-log.js';
import { UNAVAILABLE } from './unavailable.js';

/** FLUSHDB, FLUSHALL [ASYNC | SYNC] → OK. Both are the same, because there is one database. */
function flush(name: 'FLUSHDB' | 'FLUSHALL'): Handler {
  return ({ args, keyspace, effects, searches }) => {
    if (args.length > 2) throw ERRORS.syntax;
    if (args.length === 2 && args.option(1) !== 'ASYNC' && args.option(1) !== 'SYNC') throw ERRORS.syntax;
    if (keyspace.size === 0 && searches.aliases.size === 0) return OK;
    keyspace.clear();
    searches.aliases.clear();
    effects.push(name);
    return OK;
  };
}

/** DBSIZE → the number of keys, including expired keys that are not yet removed. */
const databaseSize: Handler = ({ keyspace }) => keyspace.size;

/**
 * TIME → [seconds, microseconds of the second], as strings without leading zeros; the same time that decides expiry.
 */
const time: Handler = ({ server, nowMs }) => {
  const micros = Math.max(server.nowMicros(), nowMs * 1000);
  return [String(Math.floor(micros / 1e6)), String(Math.floor(micros % 1e6))];
};

/** LASTSAVE → the current second, because every answered change is stored. */
const lastSave: Handler = ({ server }) => Math.floor(server.nowMicros() / 1e6);

/** ROLE → a master without replicas: the journal is replicated instead. */
const role: Handler = () => ['master', 0, []];

/** LOLWUT → a text. */
const lolwut: Handler = ({ server }) => {
  const version = server.info().get('server')?.get('redis_version') ?? '';
  return new VerbatimReply(`A mill turns by the race that feeds it.\nRedis ver. ${version}\n`);
};

/** MEMORY DOCTOR → a report in words. */
const memoryDoctor: Handler = () => new VerbatimReply('No memory issue was detected in this database.');

/** MEMORY PURGE → OK: the runtime frees memory itself. */
const memoryPurge: Handler = () => OK;

/** MEMORY STATS → figures of this database and its process. */
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

const MEMORY_HELP = [
  'DOCTOR',
  '    Return memory problems reports.',
  'PURGE',
  '    Attempt to purge dirty pages for reclamation by the allocator.',
  'STATS',
  '    Return information about the memory usage of the server.',
  'USAGE <key> [SAMPLES <count>]',
  '    Return memory in bytes used by <key> and its value. Nested values are',
  '    sampled up to <count> times (default: 5, 0 means sample all).',
];

const ABOUT_COMMANDS = {
  flags: ['edge', 'loading', 'stale', 'random'],
  keys: NO_KEYS,
  categories: ['connection'],
} as const;
const ADMIN = { flags: ['admin', 'dangerous', 'noscript', 'loading', 'stale'], keys: NO_KEYS } as const;
const ADMIN_VARYING = { ...ADMIN, flags: [...ADMIN.flags, 'random'] } as const;
const EACH_NODE = ['nondeterministic_output', 'request_policy:all_nodes', 'response_policy:special'];
const LATENCIES = { ...ADMIN_VARYING, tips: EACH_NODE } as const;
const VARYING = { flags: ['random'], keys: NO_KEYS } as const;
const EACH_SHARD = ['nondeterministic_output', 'request_policy:all_shards', 'response_policy:special'];
const FLUSHES = {
  tips: EVERY_SHARD,
  flags: ['write', 'dangerous'],
  keys: NO_KEYS,
  acrossPartitions: 'first',
  categories: ['keyspace'],
} as const;

export const SERVER: readonly CommandSpec[] = family('server', [
  row('DBSIZE', 1, '1.0.0', 'Counts the keys.', {
    ...READS_FAST,
    tips: ['request_policy:all_shards', 'response_policy:agg_sum'],
    keys: NO_KEYS,
    handler: databaseSize,
    acrossPartitions: 'sum',
    categories: ['keyspace'],
  }),
  row('TIME', 1, '2.6.0', "Returns the server's time.", {
    tips: VARIES,
    flags: ['fast', 'edge', 'random'],
    readOnlyToken: true,
    keys: NO_KEYS,
    handler: time,
  }),
  row('INFO', -1, '1.0.0', 'Describes the server and the database.', {
    asksReadiness: true,
    isLook: true,
    tips: EACH_SHARD,
    flags: ['dangerous', 'random', 'loading', 'stale'],
    keys: NO_KEYS,
    handler: info,
    deviations: ['Counts cover the database since its owner loaded it; over REST `default` means all.'],
  }),
  row('COMMAND', -1, '2.8.13', 'Describes every command.', {
    isLook: true,
    tips: UNORDERED,
    ...ABOUT_COMMANDS,
    handler: command,
    deviations: ['Over REST always an empty list.'],
  }),
  row('COMMAND COUNT', 2, '2.8.13', 'Counts the commands.', { isLook: true, ...ABOUT_COMMANDS, handler: commandCount }),
  row('COMMAND LIST', -2, '7.0.0', 'Lists the names of commands.', {
    isLook: true,
    tips: UNORDERED,
    ...ABOUT_COMMANDS,
    handler: commandList,
  }),
  row('COMMAND INFO', -2, '2.8.13', 'Describes commands by name.', {
    isLook: true,
    tips: UNORDERED,
    ...ABOUT_COMMANDS,
    handler: commandInfo,
  }),
  row('COMMAND DOCS', -2, '7.0.0', 'Documents commands.', {
    isLook: true,
    tips: UNORDERED,
    ...ABOUT_COMMANDS,
    handler: commandDocs,
  }),
  row('COMMAND GETKEYS', -3, '2.8.13', 'Finds the keys among the words of a command.', {
    flags: ['edge', 'loading', 'stale'],
    keys: NO_KEYS,
    handler: commandGetKeys,
    categories: ['connection'],
  }),
  row(
    'COMMAND GETKEYSANDFLAGS',
    -3,
    '7.0.0',
    'Returns the keys among the arguments of a command, and the access to each.',
    {
      ...ABOUT_COMMANDS,
      handler: commandGetKeysAndFlags,
    },
  ),
  helpRow('COMMAND', '5.0.0', COMMAND_HELP, { flags: ['edge', 'loading', 'stale'], categories: ['connection'] }),
  row('CONFIG GET', -3, '2.0.0', 'Returns parameters of the database.', {
    isLook: true,
    ...ADMIN_VARYING,
    handler: configGet,
    deviations: ['Knows the parameters that have a meaning here.'],
  }),
  row('CONFIG SET', -4, '2.0.0', 'Sets parameters of the database.', {
    tips: EVERY_NODE,
    ...ADMIN,
    handler: configSet,
    acrossPartitions: 'first',
    deviations: ['Changes are stored without CONFIG REWRITE.'],
  }),
  row('CONFIG RESETSTAT', 2, '2.0.0', 'Resets the counters.', {
    tips: EVERY_NODE,
    ...ADMIN,
    handler: configResetStat,
    acrossPartitions: 'first',
  }),
  row('CONFIG REWRITE', 2, '2.8.0', 'Answers an error: changes are stored without it.', {
    tips: EVERY_NODE,
    ...ADMIN,
    handler: configRewrite,
  }),
  helpRow('CONFIG', '5.0.0', CONFIG_HELP),
  row('SLOWLOG GET', -2, '2.2.12', 'Returns the newest slow commands.', {
    isLook: true,
    tips: ['request_policy:all_nodes', 'nondeterministic_output'],
    ...ADMIN_VARYING,
    handler: slowLogGet,
  }),
  row('SLOWLOG LEN', 2, '2.2.12', 'Counts the slow commands that are remembered.', {
    isLook: true,
    tips: ['request_policy:all_nodes', 'response_policy:agg_sum', 'nondeterministic_output'],
    ...ADMIN_VARYING,
    handler: slowLogLength,
  }),
  row('SLOWLOG RESET', 2, '2.2.12', 'Forgets the slow commands.', {
    tips: EVERY_NODE,
    ...ADMIN,
    handler: slowLogReset,
  }),
  helpRow('SLOWLOG', '6.2.0', SLOW_LOG_HELP),
  row('LATENCY LATEST', 2, '2.8.13', 'Returns the latest latency of each event.', {
    isLook: true,
    ...LATENCIES,
    handler: latencyLatest,
  }),
  row('LATENCY HISTORY', 3, '2.8.13', 'Returns the latencies of an event.', {
    isLook: true,
    ...LATENCIES,
    handler: latencyHistory,
  }),
  row('LATENCY RESET', -2, '2.8.13', 'Forgets latencies.', {
    tips: ['request_policy:all_nodes', 'response_policy:agg_sum'],
    ...ADMIN_VARYING,
    handler: latencyReset,
  }),
  row('LATENCY GRAPH', 3, '2.8.13', 'Draws the latencies of an event.', { ...LATENCIES, handler: latencyGraph }),
  row('LATENCY DOCTOR', 2, '2.8.13', 'Reports on latencies in words.', { ...LATENCIES, handler: latencyDoctor }),
  row('LATENCY HISTOGRAM', -2, '7.0.0', 'Returns how long commands took.', {
    ...LATENCIES,
    handler: latencyHistogram,
    deviations: ['One bucket a command: the average.'],
  }),
  helpRow('LATENCY', '2.8.13', LATENCY_HELP),
  row('MEMORY DOCTOR', 2, '4.0.0', 'Reports on memory in words.', {
    tips: EACH_SHARD,
    ...VARYING,
    handler: memoryDoctor,
  }),
  row('MEMORY PURGE', 2, '4.0.0', 'Has no effect: memory is freed automatically.', {
    tips: EVERY_SHARD,
    ...VARYING,
    handler: memoryPurge,
  }),
  row('MEMORY STATS', 2, '4.0.0', 'Returns the use of memory by purpose.', {
    isLook: true,
    tips: EACH_SHARD,
    ...VARYING,
    handler: memoryStats,
  }),
  helpRow('MEMORY', '4.0.0', MEMORY_HELP),
  row('LASTSAVE', 1, '1.0.0', 'Returns the current second: acknowledged writes are already stored.', {
    tips: VARIES,
    flags: ['fast', 'admin', 'dangerous', 'loading', 'stale', 'random'],
    keys: NO_KEYS,
    handler: lastSave,
  }),
  row('ROLE', 1, '2.8.12', 'Returns the role of a master without replicas.', {
    flags: ['fast', 'admin', 'dangerous', 'noscript', 'loading', 'stale'],
    keys: NO_KEYS,
    handler: role,
  }),
  row('LOLWUT', -1, '5.0.0', 'Returns a text.', {
    flags: ['readonly', 'fast', 'random'],
    keys: NO_KEYS,
    handler: lolwut,
    readOnlyToken: true,
  }),
  row('FLUSHALL', -1, '1.0.0', 'Deletes every key.', { ...FLUSHES, handler: flush('FLUSHALL') }),
  row('FLUSHDB', -1, '1.0.0', 'Deletes every key.', { ...FLUSHES, handler: flush('FLUSHDB') }),
  connectionRow('MONITOR', 1, '1.0.0', 'Shows every command as it runs; over REST the event stream of /monitor.', {
    flags: ['admin', 'dangerous', 'noscript', 'loading', 'stale'],
    rest: 'other-route',
    deviations: ['Shows the commands that reach the database, not those about the connection itself.'],
  }),
  ...MODULES,
  ...UNAVAILABLE,
]);
