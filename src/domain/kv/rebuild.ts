/**
 * What an engine holds, as the effects that make it again. Snapshots and exports are written with it; so
 * whatever a partition is made of must be in here.
 */
import type { ByteString } from '../../kernel/index.js';
import type { KvEngine } from './engine.js';
import type { Value } from './keyspace.js';

/** Commands, each a list of words, that recreate the key in an empty keyspace. */
export function* rebuildingCommands(
  key: ByteString,
  value: Value,
  expireAtMs: number | undefined,
): Iterable<ByteString[]> {
  if (typeof value === 'string') {
    yield expireAtMs === undefined ? ['SET', key, value] : ['SET', key, value, 'PXAT', String(expireAtMs)];
    return;
  }
  yield* withExpiry(key, value.rebuild(key), expireAtMs);
}

/** The same, where others run until the first of them is known. */
export function* rebuildingInSlices(
  key: ByteString,
  value: Value,
  expireAtMs: number | undefined,
): Generator<void, Iterable<ByteString[]>> {
  if (typeof value === 'string' || value.rebuildInSlices === undefined)
    return rebuildingCommands(key, value, expireAtMs);
  return withExpiry(key, yield* value.rebuildInSlices(key), expireAtMs);
}

function* withExpiry(
  key: ByteString,
  commands: Iterable<ByteString[]>,
  expireAtMs: number | undefined,
): Iterable<ByteString[]> {
  yield* commands;
  if (expireAtMs !== undefined) yield ['PEXPIREAT', key, String(expireAtMs)];
}

/** What a partition has beside its keys: parameters that were set, libraries of functions. */
export function* rebuildingPreamble({ settings, libraries }: KvEngine): Iterable<ByteString[]> {
  for (const [name, value] of settings.changed()) yield ['CONFIG', 'SET', name, value];
  for (const [, source] of libraries.entries()) yield ['FUNCTION', 'LOAD', 'REPLACE', source];
}
