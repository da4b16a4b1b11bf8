/** The text output of `millrace cluster status`: problems first, then a table of each kind. */
import { FIRST_FORMAT_LEVEL } from '../kernel/index.js';
import type { ClusterStatus, ProcessStatus, ShardStatus } from '../ports/index.js';
import { table } from './table.js';

/** @param nowMs for relative times */
export function clusterTables(status: ClusterStatus, nowMs: number): string {
  const { clusterId, alarms, servers } = status;
  return [
    `cluster ${clusterId}: ${alarms.length === 0 ? 'no alarms' : `alarms: ${alarms.length}`}\n`,
    ...alarms.map((alarm) => `  ${alarm}\n`),
    formatLine(status),
    `\n${processTable(status.processes, nowMs)}`,
    `\n${shardTable(status.shards, nowMs)}`,
    `\n${servers.length === 0 ? 'NATS servers: not known; set credentials of their system account\n' : serverTable(status)}`,
    `\n${streamTable(status)}`,
    ...wishLines(status, nowMs),
  ].join('');
}

/** The two levels differ only between the upgrade of the last process and `millrace cluster upgrade`. */
function formatLine({ format, processes }: ClusterStatus): string {
  if (format === undefined) return '';
  const read = Math.min(...processes.map(({ readsFormat = FIRST_FORMAT_LEVEL }) => readsFormat));
  const more = read > format && processes.length > 0 ? `; all processes read ${read}: millrace cluster upgrade` : '';
  return `format level ${format}${more}\n`;
}

function processTable(processes: readonly ProcessStatus[], nowMs: number): string {
  const rows = processes.map((one) => [
    one.process,
    one.isDrained ? `${one.state}, drained` : one.state,
    one.host === undefined ? '' : `${one.host}:${one.pid}${one.worker === undefined ? '' : `, worker ${one.worker}`}`,
    one.version ?? '',
    shown(one.readsFormat),
    (one.roles ?? []).join(','),
    String(one.ownedShards),
    one.startedAtMs === undefined ? '' : age(nowMs - one.startedAtMs),
    one.clockAheadMs === undefined ? '' : `${one.clockAheadMs} ms${one.isClockInDoubt === true ? ', in doubt' : ''}`,
  ]);
  return table(['PROCESS', 'STATE', 'HOST:PID', 'VERSION', 'READS', 'ROLES', 'SHARDS', 'UP', 'CLOCK'], rows);
}

function shardTable(shards: readonly ShardStatus[], nowMs: number): string {
  const rows = shards.map((one) => [
    one.shard,
    one.owner ?? 'none',
    stateOf(one),
    shown(one.epoch),
    shown(one.position),
    shown(one.lag),
    shown(one.mailboxCommands),
    percent(one.load),
    one.lastStoreMs === undefined ? '' : `${one.lastStoreMs.toFixed(1)} ms`,
    one.snapshotAtMs === undefined ? '' : age(nowMs - one.snapshotAtMs),
    one.wished ?? '',
  ]);
  const columns = [
    'SHARD',
    'OWNER',
    'STATE',
    'EPOCH',
    'POSITION',
    'LAG',
    'MAILBOX',
    'LOAD',
    'LAST STORE',
    'SNAPSHOT',
    'WISHED',
  ];
  return table(columns, rows);
}

/** A replaying shard shows its progress. */
function stateOf({ state = '', replayed = 0, toReplay = 0 }: ShardStatus): string {
  if (state !== 'replaying') return state;
  return `replaying ${toReplay === 0 ? 0 : Math.min(99, Math.floor((100 * replayed) / toReplay))} %`;
}

function serverTable({ servers }: ClusterStatus): string {
  const rows = servers.map(({ name, state, version = '', hasSyncAlways, storedBytes, storeLimitBytes = 0 }) => [
    name,
    state === 'no-store' ? 'cannot store' : state,
    version,
    hasSyncAlways === undefined ? '' : hasSyncAlways ? 'always' : 'NOT',
    storedBytes === undefined ? '' : `${mebibytes(storedBytes)} of ${mebibytes(storeLimitBytes)}`,
  ]);
  return table(['NATS SERVER', 'STATE', 'VERSION', 'SYNC', 'STORED'], rows);
}

function streamTable({ streams }: ClusterStatus): string {
  const rows = streams.map(({ stream, leader, bytes, messages, lagging }) => [
    stream,
    leader ?? 'none',
    String(messages),
    mebibytes(bytes),
    lagging.map(({ server, behind, isOffline }) => `${server} ${isOffline ? 'offline' : behind}`).join(', '),
  ]);
  return table(['STREAM', 'LEADER', 'MESSAGES', 'SIZE', 'LAGGING'], rows);
}

function wishLines({ drained, moves }: ClusterStatus, nowMs: number): string[] {
  const lines = [
    ...drained.map((wish) => ({ ...wish, text: `${wish.process} is drained` })),
    ...moves.map((wish) => ({ ...wish, text: `${wish.shard} is placed at ${wish.process}` })),
  ];
  if (lines.length === 0) return [];
  return ['\n', ...lines.map(({ text, by, atMs }) => `${text}: ${by}, ${age(nowMs - atMs)} ago\n`)];
}

function shown(number: number | undefined): string {
  return number === undefined ? '' : String(number);
}

/** Of a core. */
function percent(load: number | undefined): string {
  return load === undefined ? '' : `${Math.round(load * 100)} %`;
}

function mebibytes(bytes: number): string {
  return `${(bytes / (1024 * 1024)).toFixed(1)} MiB`;
}

function age(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 120) return `${seconds} s`;
  if (seconds < 7200) return `${Math.floor(seconds / 60)} min`;
  return seconds < 172_800 ? `${Math.floor(seconds / 3600)} h` : `${Math.floor(seconds / 86_400)} d`;
}
