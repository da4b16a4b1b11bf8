/** Shared parts of the writing hash commands: finding, creating and filling a hash. */
import type { ByteString } from '../../../../kernel/index.js';
import type { CommandContext } from '../../command-spec.js';
import { removeExpiredFields } from '../../field-expiry.js';
import { requireRecordSize } from '../../limits.js';
import { HashValue } from '../../types/hash-value.js';
import { recordExpiry } from '../expire-time.js';

/** The most expired fields that a writing command removes; further ones stay hidden until the expiry cycle. */
const REMOVED_BY_THE_WAY = 100;

/** The hash, for a command that may write; removes some expired fields. @throws WRONGTYPE */
export function hashToChange(context: CommandContext, key: ByteString): HashValue | undefined {
  const hash = context.keyspace.fetchKind(key, HashValue);
  if (hash?.fieldExpiry !== undefined) removeExpiredFields(context, key, hash, context.nowMs, REMOVED_BY_THE_WAY);
  return hash;
}

/** Refuses fields and values that would make the hash too large. @throws ErrorReply */
export function requireHashSize(context: CommandContext, hash: HashValue | undefined, from: number, to: number): void {
  let bytes = hash?.contentBytes ?? 0;
  for (let i = from; i < to; i += 1) bytes += context.args.bytes(i).length;
  requireRecordSize(context, bytes);
}

/** The hash for new fields, created if missing. Call `keyspace.changed` afterwards. */
export function hashOrNew({ keyspace }: CommandContext, key: ByteString, hash: HashValue | undefined): HashValue {
  if (hash !== undefined) return hash;
  const created = new HashValue();
  keyspace.set(key, created);
  return created;
}

/** Sets a field and keeps its expiry unless it has passed. @returns whether the field is new to clients */
export function putField(context: CommandContext, hash: HashValue, field: ByteString, value: ByteString): boolean {
  const { size } = hash;
  // The size shows whether the field is new, unless expired fields are still present.
  const wasHidden = hash.fieldExpiry !== undefined && !hash.has(field, context.nowMs);
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

export function recordField(context: CommandContext, key: ByteString, hash: HashValue, field: ByteString): void {
  context.effects.push('HSET', key, field, hash.get(field, 0) ?? '');
  recordFieldExpiry(context, key, hash, field);
  recordExpiry(context, key);
}

/** Records a field's expiry again after an effect that clears it. */
export function recordFieldExpiry(context: CommandContext, key: ByteString, hash: HashValue, field: ByteString): void {
  const atMs = hash.expiryOf(field);
  if (atMs !== undefined) context.effects.push('HPEXPIREAT', key, String(atMs), 'FIELDS', '1', field);
}

/** Announces deleted fields, and the deletion of the hash if it is empty. */
export function noteDeleted(context: CommandContext, key: ByteString, hash: HashValue, bytesBefore: number): void {
  const wasLast = context.keyspace.changed(key, hash, bytesBefore);
  context.notify('h', 'hdel', key);
  if (wasLast) context.notify('g', 'del', key);
}
