/** Finding, making and filling a hash; what every writing command of the family does alike. */
import type { ByteString } from '../../../../kernel/index.js';
import type { CommandContext } from '../../command-spec.js';
import { requireRecordSize } from '../../limits.js';
import { removeExpiredFields } from '../../perishing.js';
import { HashValue } from '../../types/hash-value.js';
import { recordExpiry } from '../expire-time.js';

/** Expired fields a writing command removes by the way; the rest stays hidden until its turn comes. */
const REMOVED_BY_THE_WAY = 100;

/** The command may change it: some fields that have expired are removed. @throws WRONGTYPE */
export function hashToChange(context: CommandContext, key: ByteString): HashValue | undefined {
  const hash = context.keyspace.fetchKind(key, HashValue);
  if (hash?.perishing !== undefined) removeExpiredFields(context, key, hash, context.nowMs, REMOVED_BY_THE_WAY);
  return hash;
}

/** Refuses fields and values that would make the hash too large. @throws ErrorReply */
export function requireHashSize(context: CommandContext, hash: HashValue | undefined, from: number, to: number): void {
  let bytes = hash?.contentBytes ?? 0;
  for (let i = from; i < to; i += 1) bytes += context.args.bytes(i).length;
  requireRecordSize(context, bytes);
}

/** A hash of the key for new fields; tell `keyspace.changed` afterwards. */
export function hashOrNew({ keyspace }: CommandContext, key: ByteString, hash: HashValue | undefined): HashValue {
  if (hash !== undefined) return hash;
  const created = new HashValue();
  keyspace.set(key, created);
  return created;
}

/** Sets a field, leaving its expiry unless that has passed. True if it was not there for whoever asks. */
export function putField(context: CommandContext, hash: HashValue, field: ByteString, value: ByteString): boolean {
  const { size } = hash;
  // The size tells whether the field was there, except where fields may be hidden.
  const wasHidden = hash.perishing !== undefined && !hash.has(field, context.nowMs);
  if (wasHidden) hash.persist(field);
  hash.set(field, value);
  const isNew = wasHidden || hash.size > size;
  adaptEncoding(context, hash, hash.size, Math.max(field.length, value.length));
  return isNew;
}

export function adaptEncoding({ settings }: CommandContext, hash: HashValue, entries: number, longest: number): void {
  hash.adaptEncoding(entries, longest, {
    maxEntries: settings.number('hash-max-listpack-entries'),
    maxValueBytes: settings.number('hash-max-listpack-value'),
  });
}

/** Records one field's value and expiry, as they are now. */
export function recordField(context: CommandContext, key: ByteString, hash: HashValue, field: ByteString): void {
  context.effects.push('HSET', key, field, hash.get(field, 0) ?? '');
  recordFieldExpiry(context, key, hash, field);
  recordExpiry(context, key);
}

/** Repeats a field's expiry behind an effect that clears it. */
export function recordFieldExpiry(context: CommandContext, key: ByteString, hash: HashValue, field: ByteString): void {
  const atMs = hash.expiryOf(field);
  if (atMs !== undefined) context.effects.push('HPEXPIREAT', key, String(atMs), 'FIELDS', '1', field);
}

/** Tells of fields that were deleted, and of the hash if they were the last. */
export function noteDeleted(context: CommandContext, key: ByteString, hash: HashValue, bytesBefore: number): void {
  const wasLast = context.keyspace.changed(key, hash, bytesBefore);
  context.notify('h', 'hdel', key);
  if (wasLast) context.notify('g', 'del', key);
}
