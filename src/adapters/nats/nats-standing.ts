/** What NATS says of its servers and of an installation's streams, for whoever looks at the cluster. */
import type { NatsServerStanding, NatsStanding, StreamStanding } from '../../ports/index.js';
import type { NatsConnections } from './connection.js';
import { formatOf } from './layout-format.js';
import { askServers, type NatsServerStatus } from './server-status.js';
import { type ListedStream, listStreams } from './stream-list.js';
import type { DeclaredCounts } from './streams.js';
import type { Names } from './subjects.js';

/** @param connections of a process or a command, with the system account where servers are to be asked */
export function natsStanding(connections: NatsConnections, names: Names, counts: DeclaredCounts): NatsStanding {
  return {
    format: () => formatOf(connections, names),
    servers: async () => {
      const servers = await askServers(connections, 1, 1);
      return servers === 'unknown' ? [] : serverStandings(servers);
    },
    streams: async () => {
      const streams = await listStreams({ connections, names, layout: counts });
      return Array.from(streams, ([key, stream]) => streamStanding(key, stream));
    },
  };
}

/** Those that answered, and those that the others of their cluster miss. */
function serverStandings(servers: readonly NatsServerStatus[]): NatsServerStanding[] {
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

function streamStanding(key: string, { state, cluster }: ListedStream): StreamStanding {
  return {
    stream: key,
    bytes: state.bytes,
    messages: state.messages,
    lastPosition: state.last_seq,
    // A server that stands alone leads all that it has.
    leader: cluster === undefined ? 'itself' : cluster.leader,
    lagging: (cluster?.replicas ?? [])
      .filter(({ current, offline }) => !current || offline === true)
      .map(({ name, lag = 0, offline = false }) => ({ server: name, behind: lag, isOffline: offline })),
  };
}
