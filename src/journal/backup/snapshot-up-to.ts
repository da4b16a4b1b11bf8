/** Finds the snapshot with which the copy of a shard up to a position begins. */
import type { ShardName } from '../../kernel/index.js';
import type { SnapshotStore, StoredManifest } from '../snapshot-store.js';

/**
 * The newest one that ends at or before the position; the newest of all when each ends later. @throws
 * JOURNAL_UNAVAILABLE
 */
export async function snapshotUpTo(
  store: SnapshotStore,
  shard: ShardName,
  position: number,
): Promise<StoredManifest | undefined> {
  let newest: StoredManifest | undefined;
  for await (const stored of store.newestFirst(shard)) {
    if (stored.manifest.head.position <= position) return stored;
    newest ??= stored;
  }
  return newest;
}
