/**
 * The append-only log of each shard: the only source of truth. Promises of every adapter
 * (test/contract/journal.contract.ts):
 *
 *  JN1 positions of a shard start at 1 and grow by one with every stored message
 *  JN2 `append` stores the bytes only if the last position is `expectedLast`, atomically
 *  JN3 `stored` means that the message survives the failures that the profile covers
 *  JN4 `conflict` and `rejected` mean that this try did not store the message and never will
 *  JN5 `unknown` promises nothing: the message may be stored already, or be stored later
 *  JN6 a message at a position never changes; `readAt` of a stored one finds it sooner or later
 *  JN7 `tail` and `readAt` may be stale: a message that they do not show may still exist
 */
import type { ShardName } from '../kernel/index.js';

/** The actions of an operator for a journal in doubt; the end of a line about it. */
export const WHAT_TO_DO =
  'put the store of the NATS server back as it was, or restore a backup into an empty place (docs/operations/backups.md)';

export type AppendOutcome =
  | { readonly kind: 'stored'; readonly position: number }
  /** The shard's last position is different: `last`, if the server reported it. */
  | { readonly kind: 'conflict'; readonly last: number | undefined }
  /** Definitely not stored. `retryable`: the same bytes may be accepted later. */
  | { readonly kind: 'rejected'; readonly reason: string; readonly retryable: boolean }
  | { readonly kind: 'unknown'; readonly cause: unknown };

export interface StoredMessage {
  readonly position: number;
  readonly bytes: Uint8Array;
  /** The server's clock when it was stored, milliseconds since the epoch. */
  readonly storedAtMs: number;
}

export interface JournalTail {
  /** Lowest present position; `last + 1` when all were removed. */
  readonly first: number;
  /** Highest position ever stored; 0 in a new journal. */
  readonly last: number;
  readonly bytes: number;
  /** Positions missing between first and last. Any other number than 0 is damage. */
  readonly holes: number;
  /** When the stream was made; a different value means a different stream. */
  readonly createdAt: string;
}

export interface JournalFollower {
  /** Called in order of position, once each. */
  onMessage(message: StoredMessage): void;
  /** Called about every `aliveEveryMs`, or more often, while the journal answers and no newer message is known. */
  onAlive(): void;
  /** Default: cheap for an idle process, a second or two. */
  readonly aliveEveryMs?: number | undefined;
}

export interface Subscription {
  stop(): void;
}

export interface Journal {
  /** One try. Never throws or repeats; resolves within the adapter's append timeout. */
  append(shard: ShardName, bytes: Uint8Array, expectedLast: number): Promise<AppendOutcome>;
  /** @throws JOURNAL_UNAVAILABLE */
  readAt(shard: ShardName, position: number): Promise<Uint8Array | undefined>;
  /**
   * From `from` up to and including `to`, without a gap.
   * @throws JOURNAL_UNAVAILABLE when it stops answering, JOURNAL_DAMAGED at a gap
   */
  read(shard: ShardName, from: number, to: number): AsyncIterable<StoredMessage>;
  /** All messages from `from` on, while the subscription lives; reconnects automatically. */
  follow(shard: ShardName, from: number, follower: JournalFollower): Subscription;
  /** @throws JOURNAL_UNAVAILABLE; JOURNAL_DAMAGED when the stream is missing */
  tail(shard: ShardName): Promise<JournalTail>;
  /** Removes everything below `keepFrom`, which must itself be stored: a journal is never emptied. */
  truncateFront(shard: ShardName, keepFrom: number): Promise<void>;
}
