/** Removes expired parts of a collection: the fields of a hash. */
import type { ByteString } from '../../kernel/index.js';
import type { CommandContext } from './command-spec.js';
import type { Collection } from './value.js';

/** Removes at most `limit` expired fields, recording `HDEL`. @returns the number removed */
export function removeExpiredFields(
  host: Pick<CommandContext, 'keyspace' | 'effects' | 'notify' | 'statistics'>,
  key: ByteString,
  collection: Collection,
  nowMs: number,
  limit: number,
): number {
  const { keyspace } = host;
  const { fieldExpiry } = collection;
  if (fieldExpiry === undefined || fieldExpiry.earliestExpiryMs > nowMs) return 0;
  const before = collection.bytes;
  const removed = fieldExpiry.removeExpired(nowMs, limit);
  if (removed.length === 0) {
    keyspace.expiries.noteFields(key, collection);
    return 0;
  }
  host.statistics.expiredFields += removed.length;
  const wasLast = keyspace.changed(key, collection, before);
  host.effects.pushList('HDEL', [key, ...removed]);
  host.notify('h', 'hexpired', key);
  if (wasLast) host.notify('g', 'del', key);
  return removed.length;
}
