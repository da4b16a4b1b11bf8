/** `millrace journal tail`: what is stored from now on, a line for each section, until it is ended. */
import { tailLines } from '../journal/index.js';
import { byShard, type JournalCommandDeps, type PlacedPartition } from './journal-deps.js';

export async function tail(deps: JournalCommandDeps, places: readonly PlacedPartition[]): Promise<void> {
  const stop = new AbortController();
  const signal = AbortSignal.any([deps.signal, stop.signal]);
  const watching = [...byShard(places)].map(async ([shard, partitions]) => {
    // Whole lines, because those of several shards come as they like.
    for await (const line of tailLines(deps, shard, new Set(partitions), { signal })) await deps.write(line);
  });
  try {
    await Promise.all(watching);
  } finally {
    // One that failed must not leave the others listening.
    stop.abort();
    await Promise.allSettled(watching);
  }
}
