/** Joins the messages of a range into entries and checks them against the chain, for all readers of a journal. */
import type { ReadEntry } from '../codec/envelope/index.js';
import type { ShardName } from '../kernel/index.js';
import type { Journal, StoredMessage } from '../ports/index.js';
import type { Manifest } from '../protocol/index.js';
import { Chain, type ChainLink, EMPTY_HEAD } from './chain.js';
import { EntryFeed } from './entry-feed.js';

/** The chain at the end of a manifest, or at the journal's beginning without one. */
export function chainAfter(shard: ShardName, manifest: Manifest | undefined): Chain {
  if (manifest === undefined) return new Chain(shard, EMPTY_HEAD);
  return new Chain(
    shard,
    manifest.head,
    manifest.partitions.map(({ name, index, hash }) => [name, { number: index, hash } satisfies ChainLink] as const),
  );
}

/**
 * Every entry of the chain's shard that ends from `from` to `to`, checked by `chain`. `onMessage` receives each message before the entry
 * that it ends.
 * @throws JOURNAL_DAMAGED, JOURNAL_UNAVAILABLE
 */
export async function* readEntries(
  journal: Journal,
  chain: Chain,
  from: number,
  to: number,
  onMessage: (message: StoredMessage) => void = () => {},
): AsyncGenerator<ReadEntry> {
  if (from > to) return;
  const entries = new EntryFeed(chain);
  for await (const message of journal.read(chain.shard, from, to)) {
    onMessage(message);
    const read = entries.add(message);
    if (read !== undefined) yield read;
  }
}
