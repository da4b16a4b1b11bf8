/** Groups' references to deleted entries: KEEPREF, DELREF and ACKED of Redis 8.2. */
import type { ByteString } from '../../../../kernel/index.js';
import type { CommandContext } from '../../command-spec.js';
import { SlicePace } from '../../slices.js';
import type { Stream } from '../../types/stream.js';
import { formatId, type StreamId } from '../../types/stream-id.js';
import { IDS_A_COMMAND } from '../../types/stream-limits.js';
import { setIdCommand } from '../../types/stream-rebuild.js';

/**
 * KEEPREF: deleted entries stay pending. DELREF: they are removed from all pending lists. ACKED: only entries are
 * deleted that every group has read and acknowledged.
 */
export type References = 'KEEPREF' | 'DELREF' | 'ACKED';

/** @param option in upper case */
export function readReferences(option: string): References | undefined {
  return option === 'KEEPREF' || option === 'DELREF' || option === 'ACKED' ? option : undefined;
}

/** Removes the ids from all pending lists and records it. @returns how many references were removed */
export function* dropReferences(
  context: CommandContext,
  key: ByteString,
  stream: Stream,
  ids: readonly StreamId[],
): Generator<void, number> {
  let dropped = 0;
  const pace = new SlicePace();
  for (const group of stream.groups()) {
    if (pace.isDue()) yield;
    if (group.pending.size === 0) continue;
    const acknowledged: StreamId[] = [];
    for (const id of ids) {
      if (group.acknowledge(id)) acknowledged.push(id);
      if (pace.isDue()) yield;
    }
    yield* pushIds(context, ['XACK', key, group.name], acknowledged);
    dropped += acknowledged.length;
  }
  return dropped;
}

/**
 * Records trimmed entries: as a length if only the front was removed; otherwise one by one, followed by XSETID to
 * restore the max-deleted id. (XSETID in Redis cannot reset that id to 0-0; here it can.)
 */
export function* pushTrimmed(
  context: CommandContext,
  key: ByteString,
  stream: Stream,
  ids: readonly StreamId[],
): Generator<void, void> {
  const last = ids.at(-1);
  if (last === undefined) return;
  if (stream.size === 0 || last < stream.firstId) {
    context.effects.push('XTRIM', key, 'MAXLEN', '=', String(stream.size));
    return;
  }
  yield* pushIds(context, ['XDEL', key], ids);
  context.effects.push(...setIdCommand(key, stream));
}

/** Pushes a command with ids, split into commands of bounded length; none without ids. */
export function* pushIds(
  context: CommandContext,
  command: readonly ByteString[],
  ids: readonly StreamId[],
): Generator<void, void> {
  for (let from = 0; from < ids.length; from += IDS_A_COMMAND) {
    context.effects.push(...command, ...ids.slice(from, from + IDS_A_COMMAND).map(formatId));
    if (from + IDS_A_COMMAND < ids.length) yield;
  }
}
