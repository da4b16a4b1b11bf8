/** Where a shard's journal ends: its last whole entry, behind which may be the beginning of a chunk set. */
import { decodeMessage, sha256 } from '../codec/envelope/index.js';
import { MillraceError, type ShardName } from '../kernel/index.js';
import type { Journal, JournalTail } from '../ports/index.js';
import { type ChainHead, EMPTY_HEAD } from './chain.js';

export interface JournalEnd {
  /** The last whole entry. */
  readonly head: ChainHead;
  /** The last position; beyond `head.position` when an owner died inside a chunk set. */
  readonly lastPosition: number;
  readonly createdAt: string;
}

/** @throws JOURNAL_UNAVAILABLE, JOURNAL_DAMAGED */
export async function journalEndAt(
  journal: Pick<Journal, 'readAt'>,
  shard: ShardName,
  tail: JournalTail,
): Promise<JournalEnd> {
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
