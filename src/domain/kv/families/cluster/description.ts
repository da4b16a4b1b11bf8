/** The replies of CLUSTER that describe nodes and the hash slots of each, in Redis's forms. */
import { HASH_SLOTS } from '../../hash-slot.js';
import { MapReply, type Reply, VerbatimReply } from '../../reply.js';

export interface ClusterNode {
  /** 40 hex digits. */
  readonly id: string;
  readonly host: string;
  readonly port: number;
  /** The node that answers. */
  readonly isSelf: boolean;
  /** First and last slot of each of its ranges, in order. */
  readonly ranges: readonly (readonly [first: number, last: number])[];
}

/** CLUSTER INFO → `field:value` lines. */
export function clusterInfo(nodes: readonly ClusterNode[]): Reply {
  const lines = [
    'cluster_state:ok',
    `cluster_slots_assigned:${HASH_SLOTS}`,
    `cluster_slots_ok:${HASH_SLOTS}`,
    'cluster_slots_pfail:0',
    'cluster_slots_fail:0',
    `cluster_known_nodes:${nodes.length}`,
    `cluster_size:${nodes.filter(({ ranges }) => ranges.length > 0).length}`,
    `cluster_current_epoch:${nodes.length}`,
    `cluster_my_epoch:${nodes.findIndex(({ isSelf }) => isSelf) + 1}`,
    'cluster_stats_messages_sent:0',
    'cluster_stats_messages_received:0',
    'total_cluster_links_buffer_limit_exceeded:0',
    '',
  ];
  return new VerbatimReply(lines.join('\r\n'));
}

/** CLUSTER NODES → a line for each. */
export function clusterNodes(nodes: readonly ClusterNode[]): Reply {
  const lines = nodes.map(({ id, host, port, isSelf, ranges }, at) => {
    const flags = isSelf ? 'myself,master' : 'master';
    const slots = ranges.map(([first, last]) => (first === last ? ` ${first}` : ` ${first}-${last}`)).join('');
    return `${id} ${host}:${port}@${port} ${flags} - 0 0 ${at + 1} connected${slots}\n`;
  });
  return new VerbatimReply(lines.join(''));
}

/** CLUSTER SLOTS → [[first, last, [host, port, id, []]] …], in order of slots. */
export function clusterSlots(nodes: readonly ClusterNode[]): Reply {
  return nodes
    .flatMap(({ ranges, ...node }) => ranges.map(([first, last]) => ({ first, last, ...node })))
    .sort((a, b) => a.first - b.first)
    .map(({ first, last, host, port, id }) => [first, last, [host, port, id, new MapReply([])]]);
}

/** CLUSTER SHARDS → a shard with one node for each. */
export function clusterShards(nodes: readonly ClusterNode[]): Reply {
  return nodes.map(({ id, host, port, ranges }) => {
    const node = ['id', id, 'port', port, 'ip', host, 'endpoint', host, 'role', 'master'];
    const state = ['replication-offset', 0, 'health', 'online'];
    return new MapReply(['slots', ranges.flat(), 'nodes', [new MapReply([...node, ...state])]]);
  });
}
