/**
 * The query subcommands of CLUSTER. To clients a database is one node with all hash slots, regardless of its number of
 * partitions. Subcommands that change a cluster are refused.
 */
import { createHash } from 'node:crypto';
import type { ByteString } from '../../../../kernel/index.js';
import { NO_KEYS } from '../../command-description.js';
import type { CommandContext, CommandSpec, Handler, SlicedHandler } from '../../command-spec.js';
import { HASH_SLOTS, hashSlot } from '../../hash-slot.js';
import { ErrorReply, MapReply, VerbatimReply } from '../../reply.js';
import { inSlices } from '../../slices.js';
import { family, helpRow, row, VARIES } from '../rows.js';

const LAST_SLOT = HASH_SLOTS - 1;
const invalidSlot = new ErrorReply('ERR Invalid or out of range slot');
const invalidCount = new ErrorReply('ERR Invalid number of keys');
/** Keys checked in one slice: a hash each, about half a millisecond. */
const SLICE_KEYS = 2000;
const FEW_KEYS = 5000;

/** 40 hex digits, constant while the process runs. */
function nodeId({ server }: CommandContext): string {
  const runId = server.info().get('server')?.get('run_id') ?? '';
  return createHash('sha1').update(runId).digest('hex');
}

function address({ server }: CommandContext): { host: string; port: number } {
  const info = server.info().get('server');
  return { host: info?.get('tcp_host') ?? '127.0.0.1', port: Number(info?.get('tcp_port') ?? 0) };
}

/** CLUSTER INFO → `field:value` lines. */
const info: Handler = () => new VerbatimReply(INFO);

const INFO = [
  'cluster_state:ok',
  `cluster_slots_assigned:${HASH_SLOTS}`,
  `cluster_slots_ok:${HASH_SLOTS}`,
  'cluster_slots_pfail:0',
  'cluster_slots_fail:0',
  'cluster_known_nodes:1',
  'cluster_size:1',
  'cluster_current_epoch:1',
  'cluster_my_epoch:1',
  'cluster_stats_messages_sent:0',
  'cluster_stats_messages_received:0',
  'total_cluster_links_buffer_limit_exceeded:0',
  '',
].join('\r\n');

/** CLUSTER MYID → the node's id. */
const myId: Handler = (context) => nodeId(context);

/** CLUSTER NODES → one line. */
const nodes: Handler = (context) => {
  const { host, port } = address(context);
  const line = `${nodeId(context)} ${host}:${port}@${port} myself,master - 0 0 1 connected 0-${LAST_SLOT}\n`;
  return new VerbatimReply(line);
};

/** CLUSTER SLOTS → [[first, last, [host, port, id, []]]]. */
const slots: Handler = (context) => {
  const { host, port } = address(context);
  return [[0, LAST_SLOT, [host, port, nodeId(context), new MapReply([])]]];
};

/** CLUSTER SHARDS → one shard with one node. */
const shards: Handler = (context) => {
  const { host, port } = address(context);
  const node = ['id', nodeId(context), 'port', port, 'ip', host, 'endpoint', host, 'role', 'master'];
  const state = ['replication-offset', 0, 'health', 'online'];
  return [new MapReply(['slots', [0, LAST_SLOT], 'nodes', [new MapReply([...node, ...state])]])];
};

/** CLUSTER KEYSLOT key → its hash slot. */
const keySlot: Handler = ({ args }) => hashSlot(args.bytes(2));

function slotArgument({ args }: CommandContext): number {
  const slot = args.integer(2);
  if (slot < 0 || slot > LAST_SLOT) throw invalidSlot;
  return slot;
}

function* keysOfSlot(context: CommandContext, slot: number, most: number): Generator<void, ByteString[]> {
  const found: ByteString[] = [];
  let looked = 0;
  for (const key of context.keyspace.keys()) {
    if (found.length >= most) break;
    if (hashSlot(key) === slot) found.push(key);
    looked += 1;
    if (looked % SLICE_KEYS === 0) yield;
  }
  return found;
}

/** CLUSTER COUNTKEYSINSLOT slot → the number of its keys. */
const countKeys: SlicedHandler = function* (context) {
  const found = yield* keysOfSlot(context, slotArgument(context), Number.POSITIVE_INFINITY);
  return found.length;
};

/** CLUSTER GETKEYSINSLOT slot count → at most `count` of its keys. */
const getKeys: SlicedHandler = function* (context) {
  const slot = slotArgument(context);
  const count = context.args.integer(3);
  if (count < 0) throw invalidCount;
  return yield* keysOfSlot(context, slot, count);
};

const isLong = ({ keyspace }: CommandContext): boolean => keyspace.size > FEW_KEYS;

const HELP = [
  'COUNTKEYSINSLOT <slot>',
  '    Return the number of keys in <slot>.',
  'GETKEYSINSLOT <slot> <count>',
  '    Return key names stored by current node in a slot.',
  'INFO',
  '    Return information about the cluster.',
  'KEYSLOT <key>',
  '    Return the hash slot for <key>.',
  'MYID',
  '    Return the node id.',
  'NODES',
  '    Return cluster configuration seen by node. Output format:',
  '    <id> <ip:port@bus-port[,hostname]> <flags> <master> <pings> <pongs> <epoch> <link> <slot> ...',
  'SLOTS',
  '    Return information about slots range mappings.',
  'SHARDS',
  '    Return information about slot range mappings and the nodes associated with them.',
];

const told = { flags: ['loading', 'stale', 'random'], keys: NO_KEYS } as const;
const oneNode = { ...told, deviations: ['A database is one node to its clients.'] } as const;
const varies = { ...oneNode, tips: VARIES } as const;

export const CLUSTER: readonly CommandSpec[] = family('cluster', [
  row('CLUSTER INFO', 2, '3.0.0', 'Describes the cluster of one node.', { ...varies, handler: info }),
  row('CLUSTER MYID', 2, '3.0.0', 'Returns the id of the node.', { ...oneNode, handler: myId }),
  row('CLUSTER NODES', 2, '3.0.0', 'Lists the one node.', { ...varies, handler: nodes }),
  row('CLUSTER SLOTS', 2, '3.0.0', 'Maps the hash slots to the one node.', { ...varies, handler: slots }),
  row('CLUSTER SHARDS', 2, '7.0.0', 'Describes the one shard.', { ...varies, handler: shards }),
  row('CLUSTER KEYSLOT', 3, '3.0.0', 'Returns the hash slot of a key.', {
    ...told,
    flags: ['loading', 'stale'],
    handler: keySlot,
  }),
  row('CLUSTER COUNTKEYSINSLOT', 3, '3.0.0', 'Counts the keys of a hash slot.', {
    flags: ['stale'],
    keys: NO_KEYS,
    ...inSlices(countKeys, isLong),
    acrossPartitions: 'sum',
  }),
  row('CLUSTER GETKEYSINSLOT', 4, '3.0.0', 'Lists keys of a hash slot.', {
    tips: VARIES,
    flags: ['stale', 'random'],
    keys: NO_KEYS,
    ...inSlices(getKeys, isLong),
    acrossPartitions: 'items',
  }),
  helpRow('CLUSTER', '5.0.0', HELP),
]);
