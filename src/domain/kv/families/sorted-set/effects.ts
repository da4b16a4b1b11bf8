/** Effects of sorted-set commands: ZADD with final scores, ZREM, DEL; long ones in chunks. */
import type { ByteString } from '../../../../kernel/index.js';
import type { CommandContext } from '../../command-spec.js';
import { commandsOf } from '../../types/command-chunks.js';
import { asEntries } from '../../types/set-value.js';
import type { SortedSet } from '../../types/sorted-set.js';
import { SLICE_ENTRIES } from './limits.js';

function* pushRemoved(
  { effects }: CommandContext,
  key: ByteString,
  members: readonly ByteString[],
): Generator<void, void> {
  if (members.length === 1) {
    effects.push('ZREM', key, members[0] as ByteString);
    return;
  }
  yield* effects.pushEach(commandsOf(['ZREM', key], asEntries(members)));
}

export function pushScores(
  { effects }: CommandContext,
  key: ByteString,
  entries: readonly (readonly [ByteString, ByteString])[],
): void {
  const [only] = entries;
  if (entries.length === 1 && only !== undefined) effects.push('ZADD', key, only[0], only[1]);
  else for (const [name = '', ...words] of commandsOf(['ZADD', key], entries)) effects.pushList(name, words);
}

/** Removes members of the set at `key` in slices; records it, publishes `event`, and `del` if the set is empty. */
export function* removeMembers(
  context: CommandContext,
  key: ByteString,
  set: SortedSet,
  members: readonly ByteString[],
  event: string,
): Generator<void, void> {
  const { keyspace, effects } = context;
  const before = set.bytes;
  for (let i = 0; i < members.length; i += 1) {
    set.remove(members[i] as ByteString);
    if (i % SLICE_ENTRIES === SLICE_ENTRIES - 1) yield;
  }
  const isGone = keyspace.changed(key, set, before);
  context.notify('z', event, key);
  if (isGone) {
    effects.push('DEL', key);
    context.notify('g', 'del', key);
    return;
  }
  yield* pushRemoved(context, key, members);
}

/**
 * Stores a set that is not shared at `destination`, replacing its value; an empty set deletes it. In slices. @returns
 * the set's size
 */
export function* storeResult(
  context: CommandContext,
  destination: ByteString,
  set: SortedSet,
  event: string,
): Generator<void, number> {
  const { keyspace, effects } = context;
  const isReplaced = keyspace.fetch(destination) !== undefined;
  if (isReplaced) effects.push('DEL', destination);
  if (set.size === 0) {
    if (isReplaced) {
      keyspace.delete(destination);
      context.notify('g', 'del', destination);
    }
    return 0;
  }
  set.settle(context.settings);
  keyspace.set(destination, set);
  yield* effects.pushEach(set.rebuild(destination));
  context.notify('z', event, destination);
  return set.size;
}
