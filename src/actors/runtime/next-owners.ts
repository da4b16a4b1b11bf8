/**
 * Tells the owner of a shard whether the next owner has replayed it, and how long to wait for that. Requests are served
 * during the wait.
 *
 *  NO1 a shard moves to a process that has replayed it; if that process does not replay shards beforehand, or takes
 *      too long, the shard moves without
 */
import type { SessionId, ShardName } from '../../kernel/index.js';
import type { Clock } from '../../ports/index.js';
import type { Membership } from './membership.js';

/**
 * The time without a report from the next owner that it has replayed any shard. The present owner serves during that
 * time, so a process that has few processors may take long.
 */
const SILENCE_MS = 60_000;
/** Sessions with reports: more than any cluster has processes. */
const MAX_TOLD = 256;

interface Follower {
  readonly session: SessionId;
  readonly epoch: number;
}

export class NextOwners {
  readonly #followers = new Map<ShardName, Follower>();
  readonly #toldAtMs = new Map<SessionId, number>();
  readonly #wantedSinceMs = new Map<ShardName, number>();

  constructor(
    private readonly clock: Clock,
    private readonly membership: Pick<Membership, 'follows'>,
    /** The bound of the whole wait for a shard. */
    private readonly maxWaitMs: number,
  ) {}

  /** A process has replayed the shard of a running activation. */
  hear(shard: ShardName, follower: Follower): void {
    this.#followers.set(shard, follower);
    this.#toldAtMs.set(follower.session, this.clock.monotonicMs());
    // Ended sessions report no more.
    for (const [old] of this.#toldAtMs) if (this.#toldAtMs.size > MAX_TOLD) this.#toldAtMs.delete(old);
  }

  /** The shards that another process has replayed. */
  followed(): readonly ShardName[] {
    return [...this.#followers.keys()];
  }

  /** True when the shard may move (NO1). Called repeatedly from the time of the decision to move. */
  mayHaveIt(next: SessionId, shard: ShardName, epoch: number): boolean {
    const nowMs = this.clock.monotonicMs();
    const sinceMs = this.#wantedSinceMs.get(shard) ?? nowMs;
    this.#wantedSinceMs.set(shard, sinceMs);
    const follower = this.#followers.get(shard);
    if (follower?.session === next && follower.epoch === epoch) return true;
    if (!this.membership.follows(next) || nowMs - sinceMs >= this.maxWaitMs) return true;
    return nowMs - Math.max(sinceMs, this.#toldAtMs.get(next) ?? 0) >= SILENCE_MS;
  }

  /** The shard stays, or has moved. */
  forget(shard: ShardName): void {
    this.#wantedSinceMs.delete(shard);
    this.#followers.delete(shard);
  }
}
