/**
 * The append-only log of each shard: the only source of truth.
 *
 * Promises every adapter keeps (test/contract/journal.contract.ts):
 *  JN1 positions of a shard start at 1 and grow by one with every stored message
 *  JN2 `append` stores the bytes only if the last position is `expectedLast`, atomically
 *  JN3 `stored` means: survives whatever the profile promises to survive
 *  JN4 `conflict` and `rejected` mean: this try did not store it and never will
 *  JN5 `unknown` promises nothing: it may be stored already, or land later
 *  JN6 a message at a position never changes; `readAt` of one that is stored finds it sooner or later
 *  JN7 `tail` and `readAt` may be stale: what they do not show may still be there
 */
import type { ShardName } from '../kernel/index.js';

/** What a person can do about a journal that is not what it was; ends a line about it. */
export const WHAT_TO_DO =
  'put the store of the NATS server back as it was, or restore a backup into an empty place (docs/operations/backups.md)';

export type AppendOutcome =
  | { readonly kind: 'stored'; readonly position: number }
  /** The shard's last position is another one; `last` is it, where the server said. */
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
  /** Lowest position still there; `last + 1` when all have been truncated. */
  readonly first: number;
  /** Highest position ever stored; 0 in a new journal. */
  readonly last: number;
  readonly bytes: number;
  /** Positions missing between first and last. Anything but 0 is damage. */
  readonly holes: number;
  /** When the stream was made; another value than before means another stream. */
  readonly createdAt: string;
}

export interface JournalFollower {
  /** Called in order of position, once each. */
  onMessage(message: StoredMessage): void;
  /** Called every `aliveEveryMs` or so, or more often, while the journal answers and nothing newer is known. */
  onAlive(): void;
  /** Default: what an idle process pays little for, a second or two. */
  readonly aliveEveryMs?: number | undefined;
}

export interface Subscription {
  stop(): void;
}

export interface Journal {
  /** One try. Never throws; never repeats by itself; resolves within the adapter's append timeout. */
  append(shard: ShardName, bytes: Uint8Array, expectedLast: number): Promise<AppendOutcome>;
  /** @throws JOURNAL_UNAVAILABLE */
  readAt(shard: ShardName, position: number): Promise<Uint8Array | undefined>;
  /**
   * From `from` up to and including `to`, without a gap.
   * @throws JOURNAL_UNAVAILABLE when it stops answering, JOURNAL_DAMAGED at a gap
   */
  read(shard: ShardName, from: number, to: number): AsyncIterable<StoredMessage>;
  /** Everything from `from` on, for as long as the subscription lives; reconnects by itself. */
  follow(shard: ShardName, from: number, follower: JournalFollower): Subscription;
  /** @throws JOURNAL_UNAVAILABLE; JOURNAL_DAMAGED when the stream is not there */
  tail(shard: ShardName): Promise<JournalTail>;
  /** Removes everything below `keepFrom`, which must itself be stored: a journal is never emptied. */
  truncateFront(shard: ShardName, keepFrom: number): Promise<void>;
}
