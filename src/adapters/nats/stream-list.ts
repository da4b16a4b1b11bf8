/** The streams of an installation as their servers describe them, in one question or few. */
import type { NatsConnections } from './connection.js';
import { JetStreamApi, type StreamDescription } from './jetstream-api.js';
import { type DeclaredCounts, declareBucket, declareStreams } from './streams.js';
import type { Names } from './subjects.js';

export type ListedStream = StreamDescription & { readonly config: { readonly name: string } };

export interface StreamSource {
  readonly connections: Pick<NatsConnections, 'control'>;
  readonly names: Names;
  readonly layout: DeclaredCounts;
}

interface Page {
  readonly total: number;
  readonly streams: readonly ListedStream[] | null;
}

/** @returns the names of all streams of an installation, with the names without prefix */
export function declaredKeys({ names, layout }: Pick<StreamSource, 'names' | 'layout'>): ReadonlyMap<string, string> {
  const declared = [...declareStreams(names, layout), declareBucket(names, 'layout', layout.replicas)];
  return new Map(declared.map(({ key, config }) => [config.name, key]));
}

/** @returns descriptions by the name without prefix: `KV_0`, `METER`, `leases` …. @throws JOURNAL_UNAVAILABLE */
export async function listStreams(source: StreamSource): Promise<ReadonlyMap<string, ListedStream>> {
  const api = new JetStreamApi(source.connections.control);
  const keys = declaredKeys(source);
  const found = new Map<string, ListedStream>();
  for (let offset = 0; ; ) {
    const { streams, total } = await api.call<Page>('STREAM.LIST', { offset });
    for (const stream of streams ?? []) {
      const key = keys.get(stream.config.name);
      if (key !== undefined) found.set(key, stream);
    }
    offset += streams?.length ?? 0;
    if ((streams?.length ?? 0) === 0 || offset >= total) return found;
  }
}
