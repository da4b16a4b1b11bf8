/** What becomes of groups' references to entries that go: KEEPREF, DELREF and ACKED of Redis 8.2. */
import type { ByteString } from '../../../../kernel/index.js';
import type { CommandContext } from '../../command-spec.js';
import { SlicePace } from '../../slices.js';
import type { Stream } from '../../types/stream.js';
import { formatId, type StreamId } from '../../types/stream-id.js';
import { IDS_A_COMMAND } from '../../types/stream-limits.js';
import { setIdCommand } from '../../types/stream-rebuild.js';

/**
 * KEEPREF: entries go, and stay pending where they are. DELREF: they are pending nowhere afterwards.
 * ACKED: only entries go that every group has read and none has pending.
 */
export type References = 'KEEPREF' | 'DELREF' | 'ACKED';

/** @param option in upper case */
export function readReferences(option: string): References | undefined {
  return option === 'KEEPREF' || option === 'DELREF' || option === 'ACKED' ? option : undefined;
}

/** Makes the ids pending nowhere and records it. @returns how often they were pending */
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
 * Records that entries were trimmed: as a length where only the front is gone, or else one by one, and that no
 * deletion is to be remembered. (Redis, reading that, cannot forget a first deletion; we do.)
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

/** Pushes a command over ids, in commands of a bounded length; none when there are no ids. */
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
