/** The bytes of messages in each stream of an installation, as its server counts them. */
import { listStreams, type StreamSource } from './stream-list.js';

/** @returns bytes by the name without prefix. @throws JOURNAL_UNAVAILABLE */
export async function streamSizes(installation: StreamSource): Promise<ReadonlyMap<string, number>> {
  const streams = await listStreams(installation);
  return new Map([...streams].map(([key, { state }]) => [key, state.bytes]));
}
