/** The status of the NATS servers and of an installation's streams, for the cluster's status. */
import type { StreamInfo } from '@nats-io/jetstream';
import type { NatsServerReport, NatsStatus, StreamReport } from '../../ports/index.js';
import type { NatsConnections } from './connection.js';
import { formatOf } from './layout-format.js';
import { askServers, type NatsServerStatus } from './server-status.js';
import { listStreams } from './stream-list.js';
import type { DeclaredCounts } from './streams.js';
import type { Names } from './subjects.js';

/** @param connections  with the system account, if servers are to be asked */
export function natsStatus(connections: NatsConnections, names: Names, counts: DeclaredCounts): NatsStatus {
  return {
    format: () => formatOf(connections, names),
    servers: async () => {
      const servers = await askServers(connections, 1, 1);
      return servers === 'unknown' ? [] : serverReports(servers);
    },
    streams: async () => {
      const streams = await listStreams({ connections, names, layout: counts });
      return Array.from(streams, ([key, stream]) => streamReport(key, stream));
    },
  };
}

/** The servers that answered, and those that other servers miss. */
function serverReports(servers: readonly NatsServerStatus[]): NatsServerReport[] {
  const answering = new Set(servers.map(({ name }) => name));
  const missing = new Set(servers.flatMap(({ peers }) => peers).filter((peer) => !answering.has(peer)));
  return [
    ...servers.map(({ name, version, hasSyncAlways, hasStore, storedBytes, storeLimitBytes }) => ({
      name,
      state: hasStore ? ('well' as const) : ('no-store' as const),
      version,
      hasSyncAlways,
      ...(hasStore && { storedBytes, storeLimitBytes }),
    })),
    ...[...missing].sort().map((name) => ({ name, state: 'missing' as const })),
  ];
}

function streamReport(key: string, { state, cluster }: StreamInfo): StreamReport {
  return {
    stream: key,
    bytes: state.bytes,
    messages: state.messages,
    lastPosition: state.last_seq,
    // A single server leads all its streams.
    leader: cluster === undefined ? 'itself' : cluster.leader,
    lagging: (cluster?.replicas ?? [])
      .filter(({ current, offline }) => !current || offline === true)
      .map(({ name, lag = 0, offline = false }) => ({ server: name, behind: lag, isOffline: offline })),
  };
}
