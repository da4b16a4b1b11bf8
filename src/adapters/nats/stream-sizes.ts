/** How many bytes of messages each stream of an installation holds, as its server counts them, in one question or few. */
import type { NatsConnections } from './connection.js';
import { JetStreamApi, type StreamDescription } from './jetstream-api.js';
import { type DeclaredCounts, declareBucket, declareStreams } from './streams.js';
import type { Names } from './subjects.js';

interface Page {
  readonly total: number;
  readonly streams: readonly (StreamDescription & { readonly config: { readonly name: string } })[] | null;
}

/** @returns bytes by the name without prefix: `KV_0`, `METER`, `leases` …. @throws JOURNAL_UNAVAILABLE */
export async function streamSizes(
  connections: NatsConnections,
  names: Names,
  counts: DeclaredCounts,
): Promise<ReadonlyMap<string, number>> {
  const api = new JetStreamApi(connections.control);
  const declared = [...declareStreams(names, counts), declareBucket(names, 'layout', counts.replicas)];
  const keys = new Map(declared.map(({ key, config }) => [config.name, key]));
  const sizes = new Map<string, number>();
  for (let offset = 0; ; ) {
    const { streams, total } = await api.call<Page>('STREAM.LIST', { offset });
    for (const { config, state } of streams ?? []) {
      const key = keys.get(config.name);
      if (key !== undefined) sizes.set(key, state.bytes);
    }
    offset += streams?.length ?? 0;
    if ((streams?.length ?? 0) === 0 || offset >= total) return sizes;
  }
}
