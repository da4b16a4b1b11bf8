/**
 * Shares journals among the read models of a thread. Each follower has its own position; followers at the same
 * position share one subscription.
 *
 *  SHJ1 a follower receives the messages after its own position, in order and once each, independent of other
 *       followers
 *  SHJ2 a follower that reaches the position of another joins its subscription, so that followers with all messages
 *       receive a journal once
 */
import { getOrCreate, type ShardName } from '../kernel/index.js';
import type { Journal, JournalFollower, StoredMessage, Subscription } from '../ports/index.js';

export type FollowedJournal = Pick<Journal, 'follow' | 'tail' | 'readAt'>;

export class SharedJournal implements FollowedJournal {
  /** Bounded by the followers: a feed without listeners is ended. */
  readonly #feeds = new Map<ShardName, Set<Feed>>();

  constructor(private readonly journal: FollowedJournal) {}

  tail(shard: ShardName): ReturnType<Journal['tail']> {
    return this.journal.tail(shard);
  }

  readAt(shard: ShardName, position: number): ReturnType<Journal['readAt']> {
    return this.journal.readAt(shard, position);
  }

  follow(shard: ShardName, from: number, follower: JournalFollower): Subscription {
    const feeds = getOrCreate(this.#feeds, shard, () => new Set());
    const { aliveEveryMs } = follower;
    const known = [...feeds].find((feed) => feed.next === from && feed.aliveEveryMs === aliveEveryMs);
    const feed = known ?? new Feed(from, aliveEveryMs, feeds, (receiver) => this.journal.follow(shard, from, receiver));
    return new Listener(feed, follower);
  }
}

/** A subscription and its listeners. */
class Feed implements JournalFollower {
  readonly listeners = new Set<Listener>();
  readonly #subscription: Subscription;

  constructor(
    public next: number,
    readonly aliveEveryMs: number | undefined,
    /** All feeds of the journal, including this one. */
    private readonly feeds: Set<Feed>,
    follow: (receiver: JournalFollower) => Subscription,
  ) {
    feeds.add(this);
    this.#subscription = follow(this);
  }

  onMessage(message: StoredMessage): void {
    this.next = message.position + 1;
    // A copy, because a listener that joins now has already received this message.
    for (const listener of [...this.listeners]) listener.hear(message);
    this.#join();
  }

  onAlive(): void {
    for (const { follower } of this.listeners) follower.onAlive();
  }

  leave(listener: Listener): void {
    this.listeners.delete(listener);
    if (this.listeners.size > 0) return;
    this.feeds.delete(this);
    this.#subscription.stop();
  }

  /** SHJ2 (a follower that reaches the position of another joins its subscription). */
  #join(): void {
    const { next, aliveEveryMs } = this;
    for (const other of this.feeds) {
      if (other === this || other.next !== next || other.aliveEveryMs !== aliveEveryMs) continue;
      for (const listener of [...this.listeners]) listener.moveTo(other);
      return;
    }
  }
}

class Listener implements Subscription {
  #feed: Feed | undefined;

  constructor(
    feed: Feed,
    readonly follower: JournalFollower,
  ) {
    this.#feed = feed;
    feed.listeners.add(this);
  }

  hear(message: StoredMessage): void {
    // Another listener's work may have stopped this one.
    if (this.#feed !== undefined) this.follower.onMessage(message);
  }

  moveTo(feed: Feed): void {
    feed.listeners.add(this);
    this.#feed?.leave(this);
    this.#feed = feed;
  }

  stop(): void {
    this.#feed?.leave(this);
    this.#feed = undefined;
  }
}
