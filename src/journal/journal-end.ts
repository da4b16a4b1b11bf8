/** Finds the end of a shard's journal: its last complete entry, which an unfinished chunk set may follow. */
import { decodeMessage, sha256 } from '../codec/envelope/index.js';
import { MillraceError, type ShardName } from '../kernel/index.js';
import type { Journal, JournalTail } from '../ports/index.js';
import { type ChainHead, EMPTY_HEAD } from './chain.js';

export interface JournalEnd {
  /** The last complete entry. */
  readonly head: ChainHead;
  /** The last position; after `head.position` when an owner died within a chunk set. */
  readonly lastPosition: number;
  readonly createdAt: string;
}

/**
 * @throws JOURNAL_UNAVAILABLE, with the position as `unreadable` in its details when the server counts a message that it
 *   does not return: a late server for a moment, or a damaged store; JOURNAL_DAMAGED
 */
export async function journalEndAt(
  journal: Pick<Journal, 'readAt'>,
  shard: ShardName,
  tail: JournalTail,
): Promise<JournalEnd> {
  const { last: lastPosition, createdAt } = tail;
  for (let position = lastPosition; position >= tail.first && position > 0; position -= 1) {
    const bytes = await journal.readAt(shard, position);
    if (bytes === undefined) {
      const reason = `${shard}: the message at position ${position} cannot be read`;
      throw new MillraceError('JOURNAL_UNAVAILABLE', reason, { shard, unreadable: position });
    }
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
