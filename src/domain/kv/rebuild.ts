/**
 * The contents of an engine as the effects that recreate it. Snapshots and exports are written with it, so it must
 * cover all parts of a partition.
 */
import type { ByteString } from '../../kernel/index.js';
import type { Closure } from './closure.js';
import type { Libraries } from './libraries.js';
import type { Outbox } from './outbox.js';
import { ALIAS_EFFECT } from './search-aliases.js';
import type { SearchRegistry } from './search-registry.js';
import type { Settings } from './settings.js';
import type { Value } from './value.js';

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

/** As `rebuildingCommands`, with slices until the first command is known. */
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

/** The parts of a partition other than its keys: parameters that were set, function libraries, aliases of indexes, the outbox, the closure. */
export function* rebuildingPreamble({
  settings,
  libraries,
  searches,
  outbox,
  closure,
}: {
  readonly settings: Settings;
  readonly libraries: Libraries;
  readonly searches: Pick<SearchRegistry, 'aliases'>;
  readonly outbox: Outbox;
  readonly closure: Closure;
}): Iterable<ByteString[]> {
  for (const [name, value] of settings.changed()) yield ['CONFIG', 'SET', name, value];
  for (const [, source] of libraries.entries()) yield ['FUNCTION', 'LOAD', 'REPLACE', source];
  for (const [alias, index] of searches.aliases.entries()) yield [ALIAS_EFFECT, alias, index];
  yield* outbox.rebuilding();
  yield* closure.rebuilding();
}
