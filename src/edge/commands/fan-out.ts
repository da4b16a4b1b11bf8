/**
 * Commands about the whole keyspace of a database with several partitions: each partition is asked, and the replies
 * are merged as the command's row says. This is not atomic across partitions. SCAN instead visits the partitions in
 * turn, with the partition's index in its cursor.
 */
import { type AcrossPartitions, cursorOfLayout, cursorWithin, ErrorReply, type Reply } from '../../domain/kv/index.js';
import type { ByteString } from '../../kernel/index.js';
import type { PartitionLayout } from '../../protocol/index.js';

/** Merges the replies of all partitions, given in order of partition. */
export type Merge = (replies: readonly Reply[]) => Reply;

const MERGES: Readonly<Record<Exclude<AcrossPartitions, 'walk' | 'index'>, Merge>> = {
  sum: unlessRefused(sum),
  items: unlessRefused(concatenate),
  any: unlessRefused((replies) => replies.find((reply) => reply !== null) ?? null),
  first: unlessRefused(([reply]) => reply as Reply),
  succeeded: oneThatSucceeded,
};

export function mergeOf(how: Exclude<AcrossPartitions, 'walk' | 'index'>): Merge {
  return MERGES[how];
}

function unlessRefused(merge: Merge): Merge {
  return (replies) => replies.find((reply) => reply instanceof ErrorReply) ?? merge(replies);
}

/** In most partitions such a command finds no work and returns an error. */
function oneThatSucceeded(replies: readonly Reply[]): Reply {
  return replies.find((reply) => !(reply instanceof ErrorReply)) ?? (replies[0] as Reply);
}

function sum(replies: readonly Reply[]): Reply {
  return replies.reduce<number>((total, reply) => total + Number(reply), 0);
}

function concatenate(replies: readonly Reply[]): Reply {
  return (replies as readonly (readonly Reply[])[]).flat();
}

const DECIMAL = /^[0-9]{1,20}$/;

/** A client's cursor is the partition's own cursor times the number of partitions, plus the partition's index. */
export function routeScan(
  words: readonly ByteString[],
  { partitions, firstPartition = 0 }: PartitionLayout,
): { partition: number; words: readonly ByteString[] } {
  const cursor = cursorWithin(firstPartition, words[1] as ByteString);
  // Any partition refuses an invalid cursor.
  if (!DECIMAL.test(cursor)) return { partition: 0, words };
  const both = BigInt(cursor);
  const own = both / BigInt(partitions);
  return { partition: Number(both % BigInt(partitions)), words: words.with(1, String(own)) };
}

/**
 * The partition's reply with the client's next cursor: in the same partition, the start of the next one, or 0.
 * @param visited the partitions that the client sees, in order; default: all
 */
export function continueScan(
  reply: Reply,
  partition: number,
  { partitions, firstPartition = 0 }: PartitionLayout,
  visited: readonly number[] = [...Array(partitions).keys()],
): Reply {
  if (!Array.isArray(reply)) return reply;
  const [cursor, ...rest] = reply as [ByteString, ...Reply[]];
  const next =
    cursor === '0'
      ? String(visited.find((index) => index > partition) ?? 0)
      : String(BigInt(cursor) * BigInt(partitions) + BigInt(partition));
  return [cursorOfLayout(firstPartition, next), ...rest];
}
