/** The snapshot that a copy of a shard up to some position begins with. */
import type { ShardName } from '../../kernel/index.js';
import type { SnapshotStore, StoredManifest } from '../snapshot-store.js';

/** The newest that ends at the position or before; where all of them are newer, the newest. @throws JOURNAL_UNAVAILABLE */
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
