/** Removing what has expired inside a collection: fields of a hash. */
import type { ByteString } from '../../kernel/index.js';
import type { CommandContext } from './command-spec.js';
import type { Collection } from './keyspace.js';

/** Removes at most `limit` fields that have expired, recording `HDEL`; how many. */
export function removeExpiredFields(
  host: Pick<CommandContext, 'keyspace' | 'effects' | 'notify'>,
  key: ByteString,
  collection: Collection,
  nowMs: number,
  limit: number,
): number {
  const { keyspace } = host;
  const { perishing } = collection;
  if (perishing === undefined || perishing.earliestExpiryMs > nowMs) return 0;
  const before = collection.bytes;
  const removed = perishing.removeExpired(nowMs, limit);
  if (removed.length === 0) {
    keyspace.noteInstants(key, collection);
    return 0;
  }
  const wasLast = keyspace.changed(key, collection, before);
  host.effects.pushList('HDEL', [key, ...removed]);
  host.notify('h', 'hexpired', key);
  if (wasLast) host.notify('g', 'del', key);
  return removed.length;
}
