/** How an actor gets its state back: from the newest snapshot and every entry after it, up to its own claim. */
import type { ChainHead, ChainLink } from '../../journal/index.js';
import type { PartitionName, ShardName } from '../../kernel/index.js';
import type { RecoveryStep } from './work.js';

interface Recovery {
  /** A manifest step first (possibly without one), then every entry after it, the claim last; checked link by link. */
  readonly steps: AsyncIterable<RecoveryStep>;
  /** Each partition's last section, once `steps` has ended. */
  links(): Iterable<readonly [PartitionName, ChainLink]>;
}

/**
 * @param highWater  the last entry known from elsewhere to be stored: it must be on the chain
 * The steps throw JOURNAL_DAMAGED when the chain is broken or shorter than it was.
 */
export type RecoverFn = (shard: ShardName, claim: ChainHead, highWater: ChainLink | undefined) => Recovery;
