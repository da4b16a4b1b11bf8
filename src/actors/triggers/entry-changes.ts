/**
 * The changes that the entries of a shard make to the keys of a database. The number of a change within its entry does
 * not depend on what a trigger selects, so ids and positions stay equal when a trigger is changed.
 */
import { RespCommandReader } from '../../codec/resp/index.js';
import { CLOSE_EFFECT, type KeyEffect, keyEffects, OPEN_EFFECT } from '../../domain/kv/index.js';
import { bufferOver, type PartitionName, type ShardName } from '../../kernel/index.js';
import { type Entry, entrySections } from '../../protocol/index.js';
import type { ChangedKey } from './change-record.js';
import type { KeySelection } from './key-selection.js';
import type { PartitionCopies } from './partition-copies.js';

/** The entry, and where it ends. */
export interface ReadChanges {
  readonly entry: Entry;
  readonly position: number;
}

export interface ChangeSource {
  readonly shard: ShardName;
  readonly partitions: ReadonlySet<PartitionName>;
  readonly selection: KeySelection;
  /** Given where a trigger asks for values. They advance with each entry. */
  readonly copies?: PartitionCopies | undefined;
}

/** The selected changes of an entry, in order. */
export function* entryChanges(
  { shard, partitions, selection, copies }: ChangeSource,
  { entry, position }: ReadChanges,
): Iterable<ChangedKey> {
  const place = { shard, position, atMs: entry.clockMs };
  let index = 0;
  for (const { partition, effects } of entrySections(entry)) {
    if (!partitions.has(partition)) continue;
    let isClosed = false;
    for (const words of new RespCommandReader(bufferOver(effects))) {
      isClosed = words[0] === CLOSE_EFFECT || (isClosed && words[0] !== OPEN_EFFECT);
      const changed = keyEffects(words);
      // A closed partition has no changes of clients: the keys are in other partitions, and it is emptied.
      const selected = changed.map((effect) => !isClosed && selection.has(effect));
      const isWanted = selected.includes(true);
      const look = (effect: KeyEffect) => (isWanted ? copies?.look(partition, effect.key) : undefined);
      const before = changed.map(look);
      copies?.apply(partition, words);
      for (const [at, effect] of changed.entries()) {
        const number = index;
        index += 1;
        if (selected[at] !== true) continue;
        const after = look(effect);
        if (copies !== undefined && effect.key !== undefined && !selection.passes(before[at]?.value, after?.value))
          continue;
        yield { ...place, index: number, effect, key: effect.key, before: before[at], after };
      }
    }
  }
}

/** All changes of an entry, without regard to a selection. */
export function countChanges(partitions: ReadonlySet<PartitionName>, entry: Entry): number {
  let count = 0;
  for (const { partition, effects } of entrySections(entry)) {
    if (!partitions.has(partition)) continue;
    for (const words of new RespCommandReader(bufferOver(effects))) {
      count += keyEffects(words).length;
    }
  }
  return count;
}
