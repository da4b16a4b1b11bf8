/**
 * Where publishes are stored while their shard has no owner: a stream beside the shard's journal, with many
 * writers, no fence and no chain. Its records carry the ids of their messages, so that a repeat changes nothing.
 *
 *  IL1 a record whose append resolved is stored as durably as a journal's
 *  IL2 an append that was rejected may be stored all the same, even twice when it is sent again; only one whose
 *      error has `isStored: false` among its details surely is not
 *  IL3 positions grow by one with every stored record, and never fall, also when all records have been trimmed
 */
import type { ShardName } from '../kernel/index.js';
import type { JournalFollower, Subscription } from './journal.js';

export interface IntakeLog {
  /** @param shard the queue's, not the intake's. One try. @throws JOURNAL_UNAVAILABLE: not stored, or nobody knows */
  append(shard: ShardName, bytes: Uint8Array): Promise<void>;
  /** Everything from `from` on that is still there, for as long as the subscription lives. */
  follow(shard: ShardName, from: number, follower: JournalFollower): Subscription;
  /** Removes everything up to `position`, which may be all there is. */
  trim(shard: ShardName, position: number): Promise<void>;
}
