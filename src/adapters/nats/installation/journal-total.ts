/** The limit of the bytes of all journals together, history included. */

import { statfs } from 'node:fs/promises';
import { CLUSTER_JOURNAL_BYTES, type Config, JOURNAL_SHARE } from '../../../config/index.js';
import type { ShardName } from '../../../kernel/index.js';
import { CONTROL_SHARD } from '../../../protocol/index.js';
import { type DeclaredCounts, shardNames } from '../streams.js';

export interface JournalTotal {
  readonly bytes: number;
  readonly shards: readonly ShardName[];
}

/** The disk of an embedded server is that of the data directory, and no other installation uses it. */
export async function journalTotalOf(
  { storage, isEmbedded }: Pick<Config, 'storage' | 'isEmbedded'>,
  { layout }: { readonly layout: DeclaredCounts },
): Promise<JournalTotal> {
  const { kv, queue } = shardNames(layout);
  const bytes = storage.journalTotalBytes ?? (isEmbedded ? await shareOf(storage.dataDir) : CLUSTER_JOURNAL_BYTES);
  return { bytes, shards: [CONTROL_SHARD, ...kv, ...queue] };
}

async function shareOf(directory: string): Promise<number> {
  const { blocks, bsize } = await statfs(directory);
  return Math.floor(blocks * bsize * JOURNAL_SHARE);
}
