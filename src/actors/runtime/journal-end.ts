/** Where a shard's journal ends: what a candidate must know before it can claim. Possibly stale; the claim finds out. */
import { decodeMessage, sha256 } from '../../codec/envelope/index.js';
import { type ChainHead, EMPTY_HEAD } from '../../journal/index.js';
import { MillraceError, type ShardName } from '../../kernel/index.js';
import type { Journal } from '../../ports/index.js';
import type { Activation } from './activation.js';

export interface JournalEnd {
  /** The last whole entry. */
  readonly head: ChainHead;
  /** The last position; beyond `head.position` when an owner died inside a chunk set. */
  readonly lastPosition: number;
  readonly createdAt: string;
}

/** @throws JOURNAL_UNAVAILABLE, JOURNAL_DAMAGED */
export async function readJournalEnd(journal: Journal, shard: ShardName): Promise<JournalEnd> {
  const tail = await journal.tail(shard);
  if (tail.holes > 0) {
    throw new MillraceError('JOURNAL_DAMAGED', `${shard}: ${tail.holes} messages are missing in the middle`, { shard });
  }
  const { last: lastPosition, createdAt } = tail;
  for (let position = lastPosition; position >= tail.first && position > 0; position -= 1) {
    const bytes = await journal.readAt(shard, position);
    if (bytes === undefined) throw new MillraceError('JOURNAL_UNAVAILABLE', `${shard}: the end cannot be read yet`);
    const message = decodeMessage(bytes);
    if (message.kind === 'entry') {
      const { number, epoch, clockMs } = message.entry;
      return { head: { number, hash: sha256(bytes), epoch, clockMs, position }, lastPosition, createdAt };
    }
    if (message.kind === 'commit') {
      const { number, epoch, hash, clockMs } = message;
      return { head: { number, hash, epoch, clockMs, position }, lastPosition, createdAt };
    }
  }
  if (lastPosition > 0) {
    throw new MillraceError('JOURNAL_DAMAGED', `${shard}: no whole entry is left`, { shard, lastPosition });
  }
  return { head: EMPTY_HEAD, lastPosition: 0, createdAt };
}

/**
 * The end behind which a claim of this epoch may go. What is read may be old: shorter than what was vouched
 * for is old, or damage.
 * @throws JOURNAL_DAMAGED, FENCED when the epoch is over, JOURNAL_UNAVAILABLE
 */
export async function readClaimableEnd(
  journal: Journal,
  { shard, epoch, highWater }: Pick<Activation, 'shard' | 'epoch' | 'highWater'>,
): Promise<JournalEnd> {
  const end = await readJournalEnd(journal, shard);
  if (highWater !== undefined && end.lastPosition < highWater.position) {
    throw new MillraceError('JOURNAL_DAMAGED', `${shard}: the journal is shorter than it was`, {
      shard,
      last: end.lastPosition,
      highWater: highWater.position,
    });
  }
  if (end.head.epoch >= epoch) throw new MillraceError('FENCED', `${shard}: epoch ${epoch} is over`, { shard });
  return end;
}
