/**
 * The query subcommands of CLUSTER. To clients a database is one node with all hash slots, regardless of its number of
 * partitions; for a database in cluster mode the RESP endpoint answers instead (edge/resp/commands/cluster.ts).
 * Subcommands that change a cluster are refused.
 */
import { createHash } from 'node:crypto';
import type { ByteString } from '../../../../kernel/index.js';
import { NO_KEYS } from '../../command-description.js';
import type { CommandContext, CommandSpec, Handler, SlicedHandler } from '../../command-spec.js';
import { HASH_SLOTS, hashSlot } from '../../hash-slot.js';
import { ErrorReply } from '../../reply.js';
import { inSlices } from '../../slices.js';
import { connectionRow } from '../connection-row.js';
import { family, helpRow, row, VARIES } from '../rows.js';
import { type ClusterNode, clusterInfo, clusterNodes, clusterShards, clusterSlots } from './description.js';

const LAST_SLOT = HASH_SLOTS - 1;
const invalidSlot = new ErrorReply('ERR Invalid or out of range slot');
const invalidCount = new ErrorReply('ERR Invalid number of keys');
/** Keys checked in one slice: a hash each, about half a millisecond. */
const SLICE_KEYS = 2000;
const FEW_KEYS = 5000;

/** The one node; its id is constant while the process runs. */
function oneNodeOf({ server }: CommandContext): readonly ClusterNode[] {
  const info = server.info().get('server');
  const id = createHash('sha1')
    .update(info?.get('run_id') ?? '')
    .digest('hex');
  const address = { host: info?.get('tcp_host') ?? '127.0.0.1', port: Number(info?.get('tcp_port') ?? 0) };
  return [{ id, ...address, isSelf: true, ranges: [[0, LAST_SLOT]] }];
}

/** CLUSTER MYID → the node's id. */
const myId: Handler = (context) => (oneNodeOf(context)[0] as ClusterNode).id;

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

const PLAIN = ['loading', 'stale', 'fast'] as const;
const told = { flags: ['loading', 'stale', 'random'], keys: NO_KEYS } as const;
const oneNode = {
  ...told,
  deviations: ['A database is one node to its clients, unless it was created with `cluster`.'],
} as const;
const varies = { ...oneNode, tips: VARIES } as const;

/** As Redis has them. */
const OF_CONNECTION = { categories: ['connection'] } as const;

export const CLUSTER: readonly CommandSpec[] = family('cluster', [
  row('CLUSTER INFO', 2, '3.0.0', 'Describes the cluster.', {
    ...varies,
    handler: (context) => clusterInfo(oneNodeOf(context)),
  }),
  row('CLUSTER MYID', 2, '3.0.0', 'Returns the id of the node that answers.', { ...oneNode, handler: myId }),
  row('CLUSTER NODES', 2, '3.0.0', 'Lists the nodes.', {
    ...varies,
    handler: (context) => clusterNodes(oneNodeOf(context)),
  }),
  row('CLUSTER SLOTS', 2, '3.0.0', 'Maps the hash slots to nodes.', {
    ...varies,
    handler: (context) => clusterSlots(oneNodeOf(context)),
  }),
  row('CLUSTER SHARDS', 2, '7.0.0', 'Describes the shards.', {
    ...varies,
    handler: (context) => clusterShards(oneNodeOf(context)),
  }),
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
  connectionRow('ASKING', 1, '3.0.0', 'Accepted; no slot is ever asked for twice.', {
    flags: ['fast'],
    ...OF_CONNECTION,
  }),
  connectionRow('READONLY', 1, '3.0.0', 'Accepted; there are no replicas to read from.', {
    flags: PLAIN,
    ...OF_CONNECTION,
  }),
  connectionRow('READWRITE', 1, '3.0.0', 'Accepted; there are no replicas to read from.', {
    flags: PLAIN,
    ...OF_CONNECTION,
  }),
]);
