/**
 * Stores publishes while their shard has no owner: a stream for each shard, in addition to its journal, with many
 * writers and without a chain. Records carry the ids of their messages, so a repetition changes nothing.
 *
 *  IL1 a record with a resolved append is stored as durably as one of a journal
 *  IL2 a rejected append may be stored all the same, even twice when it is repeated; it is certainly not stored only
 *      if the error's details have `isStored: false`
 *  IL3 positions grow by one with every stored record and never fall, also after all records were removed
 */
import type { ShardName } from '../kernel/index.js';
import type { JournalFollower, Subscription } from './journal.js';

export interface IntakeLog {
  /** @param shard  of the queue, not of the intake. One try. @throws JOURNAL_UNAVAILABLE: not stored, or unknown */
  append(shard: ShardName, bytes: Uint8Array): Promise<void>;
  /** All present records from `from` on, while the subscription lives. */
  follow(shard: ShardName, from: number, follower: JournalFollower): Subscription;
  /** Removes all records up to `position`, possibly all that exist. */
  trim(shard: ShardName, position: number): Promise<void>;
}
