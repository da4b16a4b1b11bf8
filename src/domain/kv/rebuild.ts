/**
 * A key as the effects that make it again. Snapshots are written with it, exports too, and the digest
 * compares by it; so whatever a value is made of must be in here.
 */
import type { ByteString } from '../../kernel/index.js';
import { assert } from '../../kernel/index.js';
import type { Value } from './keyspace.js';

/** Commands, each a list of words, that recreate the key in an empty keyspace. */
export function rebuildingCommands(key: ByteString, value: Value, expireAtMs: number | undefined): ByteString[][] {
  assert(typeof value === 'string', 'a value of a kind that cannot be rebuilt', { key });
  return [expireAtMs === undefined ? ['SET', key, value] : ['SET', key, value, 'PXAT', String(expireAtMs)]];
}
