/** The history of partitions while it is being stored. */
import { EntryAssembler, type ReadEntry } from '../codec/envelope/index.js';
import { isMillraceError, type PartitionName, type ShardName } from '../kernel/index.js';
import type { Journal } from '../ports/index.js';
import { Chain } from './chain.js';
import { type Follow, inBatches } from './log-batches.js';
import { linesOf } from './section-lines.js';

export interface TailOptions {
  readonly signal: AbortSignal;
  readonly maxQueuedBytes?: number;
}

/** Bytes held for a reader that is slower than the journal; above this number the subscription pauses. */
const MAX_QUEUED_BYTES = 8 * 1024 * 1024;

/** Complete lines of the sections stored from now on, until aborted. @throws JOURNAL_DAMAGED, JOURNAL_UNAVAILABLE */
export async function* tailLines(
  { journal }: { readonly journal: Journal },
  shard: ShardName,
  partitions: ReadonlySet<PartitionName>,
  { signal, maxQueuedBytes = MAX_QUEUED_BYTES }: TailOptions,
): AsyncGenerator<string> {
  const { last } = await journal.tail(shard);
  const chain = new Chain(shard, undefined);
  const assembler = new EntryAssembler();
  const follow: Follow = (from, follower) => journal.follow(shard, from, follower);
  for await (const batch of inBatches(follow, last + 1, { shard, maxQueuedBytes }, signal)) {
    for (const { position, bytes } of batch) {
      if (signal.aborted) return;
      const read = joined(assembler, position, bytes, chain.head.number === 0);
      if (read === undefined) continue;
      chain.follow(read);
      for (const line of wholeLinesOf(read, partitions)) yield line;
    }
  }
}

/** The subscription may begin within a chunk set; the commit message of that set is then skipped. */
function joined(
  assembler: EntryAssembler,
  position: number,
  bytes: Uint8Array,
  isFirst: boolean,
): ReadEntry | undefined {
  try {
    return assembler.add(position, bytes);
  } catch (error) {
    if (isFirst && isMillraceError(error, 'JOURNAL_DAMAGED')) return undefined;
    throw error;
  }
}

function* wholeLinesOf(read: ReadEntry, partitions: ReadonlySet<PartitionName>): Iterable<string> {
  let line = '';
  for (const piece of linesOf(read, partitions)) {
    line += piece;
    if (!piece.endsWith('\n')) continue;
    yield line;
    line = '';
  }
}
