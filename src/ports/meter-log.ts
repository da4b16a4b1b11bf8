/**
 * The log to which every process writes its use. It has many writers, and so no expected position, owner or chain; its
 * readers identify records by their contents. Promises of every adapter:
 *
 *  MLO1 a record with a resolved append is stored as durably as one of a journal
 *  MLO2 a rejected append may be stored all the same, even twice when it is repeated
 *  MLO3 positions grow by one with every stored record, and the record at a position never changes
 */
import type { JournalFollower, Subscription } from './journal.js';

export interface MeterLog {
  /** One try. @throws JOURNAL_UNAVAILABLE: not stored, or unknown; send the same bytes again */
  append(bytes: Uint8Array): Promise<void>;
  /** All records from `from` on, while the subscription lives; reconnects automatically. */
  follow(from: number, follower: JournalFollower): Subscription;
}
