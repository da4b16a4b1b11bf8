/**
 * The history of partitions as it is stored. A reader slower than the journal holds a bounded amount of it in
 * memory: beyond that the journal is not listened to until the rest has been taken.
 */
import { EntryAssembler, type ReadEntry } from '../codec/envelope/index.js';
import { isMillraceError, type PartitionName, type ShardName } from '../kernel/index.js';
import type { Journal, StoredMessage } from '../ports/index.js';
import { Chain } from './chain.js';
import { linesOf } from './section-lines.js';

export interface TailOptions {
  readonly signal: AbortSignal;
  readonly maxQueuedBytes?: number;
}

/** What a reader slower than the journal may make us hold, before the journal is no longer listened to. */
const MAX_QUEUED_BYTES = 8 * 1024 * 1024;

/** Whole lines of sections stored from now on, until aborted. @throws JOURNAL_DAMAGED, JOURNAL_UNAVAILABLE */
export async function* tailLines(
  { journal }: { readonly journal: Journal },
  shard: ShardName,
  partitions: ReadonlySet<PartitionName>,
  { signal, maxQueuedBytes = MAX_QUEUED_BYTES }: TailOptions,
): AsyncGenerator<string> {
  const { last } = await journal.tail(shard);
  const chain = new Chain(shard, undefined);
  const assembler = new EntryAssembler();
  let next = last + 1;
  while (!signal.aborted) {
    // One round of listening: until aborted, or until too much is waiting; then on from where it stopped.
    for await (const { position, bytes } of listen(journal, shard, next, signal, maxQueuedBytes)) {
      next = position + 1;
      const read = joined(assembler, position, bytes, chain.head.number === 0);
      if (read === undefined) continue;
      chain.follow(read);
      for (const line of wholeLinesOf(read, partitions)) yield line;
    }
  }
}

/** Listening may begin in the middle of a chunk set; the commit that ends it is then nobody's. */
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

async function* listen(
  journal: Journal,
  shard: ShardName,
  from: number,
  signal: AbortSignal,
  maxQueuedBytes: number,
): AsyncGenerator<StoredMessage> {
  const queue: StoredMessage[] = [];
  let queuedBytes = 0;
  let isListening = true;
  let wake = () => {};
  const stop = () => {
    if (isListening) subscription.stop();
    isListening = false;
    wake();
  };
  const subscription = journal.follow(shard, from, {
    onMessage(message) {
      if (!isListening) return;
      queue.push(message);
      queuedBytes += message.bytes.length;
      if (queuedBytes > maxQueuedBytes) stop();
      wake();
    },
    onAlive() {},
  });
  signal.addEventListener('abort', stop);
  try {
    while (!signal.aborted) {
      const message = queue.shift();
      if (message !== undefined) {
        queuedBytes -= message.bytes.length;
        yield message;
      } else if (isListening) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      } else {
        return;
      }
    }
  } finally {
    signal.removeEventListener('abort', stop);
    stop();
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
