/**
 * Commands about the whole keyspace in a database of several partitions: each partition is asked, and the
 * answers become one. Not atomic across partitions. SCAN walks them one after the other instead, with the
 * partition's index inside its cursor.
 */
import { type CommandSpec, ErrorReply, type Reply } from '../../domain/kv/index.js';
import type { ByteString } from '../../kernel/index.js';

/** One reply of the replies of all partitions, in order of partition. */
export type Merge = (replies: readonly Reply[]) => Reply;

const MERGES: Readonly<Record<string, Merge | 'scan'>> = {
  SCAN: 'scan',
  DBSIZE: unlessRefused(sum),
  KEYS: unlessRefused(concatenate),
  RANDOMKEY: unlessRefused((replies) => replies.find((reply) => reply !== null) ?? null),
  'CLUSTER COUNTKEYSINSLOT': unlessRefused(sum),
  'CLUSTER GETKEYSINSLOT': unlessRefused(concatenate),
  'CONFIG SET': unlessRefused(first),
  'CONFIG RESETSTAT': unlessRefused(first),
  'FUNCTION KILL': oneThatSucceeded,
  'SCRIPT KILL': oneThatSucceeded,
  'FUNCTION LOAD': unlessRefused(first),
  'FUNCTION DELETE': unlessRefused(first),
  'FUNCTION FLUSH': unlessRefused(first),
  'FUNCTION RESTORE': unlessRefused(first),
  'SCRIPT LOAD': unlessRefused(first),
  'SCRIPT FLUSH': unlessRefused(first),
  FLUSHALL: unlessRefused(first),
  FLUSHDB: unlessRefused(first),
};

/** Undefined: the row is flagged and nothing says how to merge it, so one partition answers. */
export function fanOutOf(spec: CommandSpec): Merge | 'scan' | undefined {
  return MERGES[spec.name];
}

function unlessRefused(merge: Merge): Merge {
  return (replies) => replies.find((reply) => reply instanceof ErrorReply) ?? merge(replies);
}

/** Most find nothing to do. */
function oneThatSucceeded(replies: readonly Reply[]): Reply {
  return replies.find((reply) => !(reply instanceof ErrorReply)) ?? first(replies);
}

function sum(replies: readonly Reply[]): Reply {
  return replies.reduce<number>((total, reply) => total + Number(reply), 0);
}

function concatenate(replies: readonly Reply[]): Reply {
  return (replies as readonly (readonly Reply[])[]).flat();
}

function first(replies: readonly Reply[]): Reply {
  return replies[0] as Reply;
}

const DECIMAL = /^[0-9]{1,20}$/;

/** A client's cursor is the partition's own times the number of partitions, plus the partition's index. */
export function routeScan(
  words: readonly ByteString[],
  partitions: number,
): { partition: number; words: readonly ByteString[] } {
  const cursor = words[1] as ByteString;
  // Any partition refuses what is no cursor.
  if (!DECIMAL.test(cursor)) return { partition: 0, words };
  const both = BigInt(cursor);
  const own = both / BigInt(partitions);
  return { partition: Number(both % BigInt(partitions)), words: words.with(1, String(own)) };
}

/** The partition's reply with the cursor a client sends next: the same partition's, the next one's, or 0. */
export function continueScan(reply: Reply, partition: number, partitions: number): Reply {
  if (!Array.isArray(reply)) return reply;
  const [cursor, ...rest] = reply as [ByteString, ...Reply[]];
  if (cursor !== '0') return [String(BigInt(cursor) * BigInt(partitions) + BigInt(partition)), ...rest];
  return [partition + 1 < partitions ? String(partition + 1) : '0', ...rest];
}
