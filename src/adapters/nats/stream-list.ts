/** The streams of an installation as their servers describe them, in one question or few. */
import type { StreamInfo } from '@nats-io/jetstream';
import type { NatsConnections } from './connection.js';
import { JetStreamApi } from './jetstream-api.js';
import { type DeclaredCounts, declareBucket, declareStreams } from './streams.js';
import type { Names } from './subjects.js';

export interface StreamSource {
  readonly connections: Pick<NatsConnections, 'control'>;
  readonly names: Names;
  readonly layout: DeclaredCounts;
}

/** @returns the names of all streams of an installation, with the names without prefix */
export function declaredKeys({ names, layout }: Pick<StreamSource, 'names' | 'layout'>): ReadonlyMap<string, string> {
  const declared = [...declareStreams(names, layout), declareBucket(names, 'layout', layout.replicas)];
  return new Map(declared.map(({ key, config }) => [config.name, key]));
}

/** @returns descriptions by the name without prefix: `KV_0`, `METER`, `leases` …. @throws JOURNAL_UNAVAILABLE */
export function listStreams(source: StreamSource): Promise<ReadonlyMap<string, StreamInfo>> {
  const keys = declaredKeys(source);
  return new JetStreamApi(source.connections.control).ask(async ({ streams }) => {
    const found = new Map<string, StreamInfo>();
    for await (const stream of streams.list()) {
      const key = keys.get(stream.config.name);
      if (key !== undefined) found.set(key, stream);
    }
    return found;
  });
}

/** @returns bytes by the name without prefix. @throws JOURNAL_UNAVAILABLE */
export async function streamSizes(installation: StreamSource): Promise<ReadonlyMap<string, number>> {
  const streams = await listStreams(installation);
  return new Map([...streams].map(([key, { state }]) => [key, state.bytes]));
}
