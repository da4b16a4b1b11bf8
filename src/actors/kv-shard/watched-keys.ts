/** WATCH: makes marks of watched keys, and tells by a mark whether a key has changed. */
import type { KvEngine } from '../../domain/kv/index.js';
import type { KvWatch } from '../../protocol/index.js';
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
    // An expired key counts as absent, so its removal is no change for the watcher.
    keyspace.fetch(key);
    mark = keyspace.changes.watch(key);
  }
  return `${activation}:${generation}:${mark}`;
}

/** True when a key changed after the caller's marks. A mark of another activation counts as changed. */
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
