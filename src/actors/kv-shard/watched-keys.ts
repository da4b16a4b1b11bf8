/** WATCH: the mark of keys that a client has looked at, and whether one has changed when it comes back with the mark. */
import type { KvEngine } from '../../domain/kv/index.js';
import type { KvWatch } from '../../messages/index.js';
import type { OwnedPartition } from './owned-partition.js';

/** @returns `<activation>:<generation of the partition>:<mark of the keyspace>` */
export function watchKeys(
  activation: string,
  { generation }: OwnedPartition,
  { keyspace }: KvEngine,
  keys: readonly string[],
  nowMs: number,
): string {
  keyspace.nowMs = nowMs;
  let mark = 0;
  for (const key of keys) {
    // One that has expired already is not there, and its removal is no change for the watcher.
    keyspace.fetch(key);
    mark = keyspace.changes.watch(key);
  }
  return `${activation}:${generation}:${mark}`;
}

/** Has a key changed since the caller's marks? A mark of another activation says nothing, so it counts as changed. */
export function hasWatchedKeyChanged(
  activation: string,
  { generation }: OwnedPartition,
  { keyspace }: KvEngine,
  watches: readonly KvWatch[],
  nowMs: number,
): boolean {
  keyspace.nowMs = nowMs;
  return watches.some(({ keys, mark }) => {
    const at = mark.lastIndexOf(':');
    if (mark.slice(0, at) !== `${activation}:${generation}`) return true;
    return keys.some((key) => {
      keyspace.fetch(key);
      return keyspace.changes.hasChangedSince(key, Number(mark.slice(at + 1)));
    });
  });
}
