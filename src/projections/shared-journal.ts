/**
 * Journals as the read models of one thread follow them. Each has a place of its own and hears of nothing else; where two
 * stand at the same one, what comes next is received once for both.
 *
 *  SHJ1 a follower is given what is behind its own place, in order, each message once, whoever else follows the journal
 *  SHJ2 one that has come up to where another one stands is served with it from there on: no journal is received twice
 *       by those that have all of it
 */
import { obtain, type ShardName } from '../kernel/index.js';
import type { Journal, JournalFollower, StoredMessage, Subscription } from '../ports/index.js';

export type FollowedJournal = Pick<Journal, 'follow' | 'tail'>;

export class SharedJournal implements FollowedJournal {
  /** Bounded by followers: a feed that nobody listens to is ended. */
  readonly #feeds = new Map<ShardName, Set<Feed>>();

  constructor(private readonly journal: FollowedJournal) {}

  tail(shard: ShardName): ReturnType<Journal['tail']> {
    return this.journal.tail(shard);
  }

  follow(shard: ShardName, from: number, follower: JournalFollower): Subscription {
    const feeds = obtain(this.#feeds, shard, () => new Set());
    const { aliveEveryMs } = follower;
    const known = [...feeds].find((feed) => feed.next === from && feed.aliveEveryMs === aliveEveryMs);
    const feed = known ?? new Feed(from, aliveEveryMs, feeds, (receiver) => this.journal.follow(shard, from, receiver));
    return new Listener(feed, follower);
  }
}

/** A subscription, and those that are served by it. */
class Feed implements JournalFollower {
  readonly listeners = new Set<Listener>();
  readonly #subscription: Subscription;

  constructor(
    public next: number,
    readonly aliveEveryMs: number | undefined,
    /** All of the journal, this one too. */
    private readonly feeds: Set<Feed>,
    follow: (receiver: JournalFollower) => Subscription,
  ) {
    feeds.add(this);
    this.#subscription = follow(this);
  }

  onMessage(message: StoredMessage): void {
    this.next = message.position + 1;
    // Whoever comes while it is handed out stands behind it.
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

  /** SHJ2. */
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
    // Another one's work may have stopped it.
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
