/** The streams of an installation as their servers tell of them, in one question or few. */
import type { NatsConnections } from './connection.js';
import { JetStreamApi, type StreamDescription } from './jetstream-api.js';
import { type DeclaredCounts, declareBucket, declareStreams } from './streams.js';
import type { Names } from './subjects.js';

interface Replica {
  readonly name: string;
  readonly current: boolean;
  readonly offline?: boolean;
  readonly lag?: number;
}

export interface ListedStream extends Pick<StreamDescription, 'state'> {
  /** The name without prefix: `KV_0`, `METER`, `leases` …. */
  readonly key: string;
  /** Where servers are several. */
  readonly cluster: { readonly leader?: string; readonly replicas?: readonly Replica[] | null } | undefined;
}

interface Page {
  readonly total: number;
  readonly streams:
    | readonly (StreamDescription & Pick<ListedStream, 'cluster'> & { readonly config: { readonly name: string } })[]
    | null;
}

/** @throws JOURNAL_UNAVAILABLE */
export async function listStreams(
  connections: NatsConnections,
  names: Names,
  counts: DeclaredCounts,
): Promise<readonly ListedStream[]> {
  const api = new JetStreamApi(connections.control);
  const declared = [...declareStreams(names, counts), declareBucket(names, 'layout', counts.replicas)];
  const keys = new Map(declared.map(({ key, config }) => [config.name, key]));
  const found: ListedStream[] = [];
  for (let offset = 0; ; ) {
    const { streams, total } = await api.call<Page>('STREAM.LIST', { offset });
    for (const { config, state, cluster } of streams ?? []) {
      const key = keys.get(config.name);
      if (key !== undefined) found.push({ key, state, cluster });
    }
    offset += streams?.length ?? 0;
    if ((streams?.length ?? 0) === 0 || offset >= total) return found;
  }
}

/** How many bytes of messages each holds, by the name without prefix. @throws JOURNAL_UNAVAILABLE */
export async function streamSizes(
  connections: NatsConnections,
  names: Names,
  counts: DeclaredCounts,
): Promise<ReadonlyMap<string, number>> {
  const streams = await listStreams(connections, names, counts);
  return new Map(streams.map(({ key, state }) => [key, state.bytes]));
}
