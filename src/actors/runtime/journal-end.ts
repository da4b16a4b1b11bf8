/** The end of a journal as a candidate reads it before its claim. It may be stale; the claim then fails. */
import { type JournalEnd, journalEndAt } from '../../journal/index.js';
import { MillraceError, type ShardName } from '../../kernel/index.js';
import type { Journal } from '../../ports/index.js';
import type { Activation } from './activation.js';

/** @throws JOURNAL_UNAVAILABLE, JOURNAL_DAMAGED */
export async function readJournalEnd(journal: Journal, shard: ShardName): Promise<JournalEnd> {
  const tail = await journal.tail(shard);
  if (tail.holes > 0) {
    throw new MillraceError('JOURNAL_DAMAGED', `${shard}: ${tail.holes} messages are missing in the middle`, { shard });
  }
  return journalEndAt(journal, shard, tail);
}

/**
 * The end after which a claim of this epoch may be appended. A journal that ends before the high-water mark of the lease
 * is stale, or damaged.
 * @throws JOURNAL_DAMAGED, FENCED when the epoch is over, JOURNAL_UNAVAILABLE
 */
export async function readClaimableEnd(
  journal: Journal,
  { shard, epoch, highWater }: Pick<Activation, 'shard' | 'epoch' | 'highWater'>,
): Promise<JournalEnd> {
  const end = await readJournalEnd(journal, shard);
  if (highWater !== undefined && end.lastPosition < highWater.position) {
    throw new MillraceError('JOURNAL_DAMAGED', `${shard}: the journal is shorter than before`, {
      shard,
      last: end.lastPosition,
      highWater: highWater.position,
    });
  }
  if (end.head.epoch >= epoch) throw new MillraceError('FENCED', `${shard}: epoch ${epoch} is over`, { shard });
  return end;
}
