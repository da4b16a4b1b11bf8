/**
 * CLUSTER for databases in cluster mode, and the commands by which clients of Redis's cluster choose a node: ASKING,
 * READONLY, READWRITE. For other databases the partition answers CLUSTER, as one node.
 */
import {
  type ClusterNode,
  clusterInfo,
  clusterNodes,
  clusterShards,
  clusterSlots,
  OK,
  type Reply,
} from '../../../domain/kv/index.js';
import type { KvGrant } from '../../../ports/index.js';
import type { ClusterMode } from '../cluster-mode.js';
import type { RespClient } from '../resp-client.js';
import type { ConnectionCommand } from './connection-command.js';

const accepted: ConnectionCommand = { run: () => OK, isIndependent: true, isQueueable: true };

export const CLUSTER_CLIENTS: Readonly<Record<string, ConnectionCommand>> = {
  ASKING: accepted,
  READONLY: accepted,
  READWRITE: accepted,
};

function describes(form: (nodes: readonly ClusterNode[]) => Reply): ConnectionCommand {
  return { run: (client) => form(modeOf(client).nodesOf(client.grant as KvGrant)), isIndependent: true };
}

/** Only clients of databases in cluster mode get here. */
function modeOf({ endpoint }: RespClient): ClusterMode {
  return endpoint.cluster as ClusterMode;
}

export const CLUSTER_COMMANDS: ReadonlyMap<string, ConnectionCommand> = new Map([
  ['CLUSTER INFO', describes(clusterInfo)],
  ['CLUSTER NODES', describes(clusterNodes)],
  ['CLUSTER SLOTS', describes(clusterSlots)],
  ['CLUSTER SHARDS', describes(clusterShards)],
  ['CLUSTER MYID', { run: (client) => modeOf(client).selfId, isIndependent: true }],
]);
