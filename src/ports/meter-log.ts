/**
 * The log that every process writes its use to. It has many writers, hence no expected position, no owner
 * and no chain; whoever counts from it tells records apart by what is in them.
 *
 * Promises every adapter keeps
 *  MLO1 a record whose append resolved is stored as durably as a journal's
 *  MLO2 an append that was rejected may be stored all the same, even twice when it is sent again
 *  MLO3 positions grow by one with every stored record, and what stands at one never changes
 */
import type { JournalFollower, Subscription } from './journal.js';

export interface MeterLog {
  /** One try. @throws JOURNAL_UNAVAILABLE: not stored, or nobody knows; send the same bytes again */
  append(bytes: Uint8Array): Promise<void>;
  /** Everything from `from` on, for as long as the subscription lives; reconnects by itself. */
  follow(from: number, follower: JournalFollower): Subscription;
}
