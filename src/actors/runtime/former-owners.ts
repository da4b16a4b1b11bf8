/**
 * The owners of leases that this process may take: whether an owner has ended or been silent for long enough, and the
 * last observation of a silent one (SH6).
 */
import { decodeShardLease, type ShardLease } from '../../codec/leases/index.js';
import type { SessionId, ShardName } from '../../kernel/index.js';
import type { Clock, Journal, LeaseStore } from '../../ports/index.js';
import type { Sighting } from './activation.js';
import { isMarkedGone } from './gone-sessions.js';
import type { Membership } from './membership.js';
import { markSessionDead, renewalsOf, type Session } from './session.js';

/** The observation of a silent owner. */
interface Seen extends Sighting {
  readonly session: SessionId;
  readonly epoch: number;
  /** The renewals of its session's record; a mark of death does not change them. */
  readonly renewals: number;
}

/**
 * The part of `takeoverMs` after which a silent owner is observed: longer than between two heartbeats, and shorter than
 * the read lease.
 */
const SIGHTED_AFTER = 1 / 4;
/** The renewals of a lease without an owner to wait for. */
const NO_OWNER = -1;

export class FormerOwners {
  readonly #seenSilent = new Map<ShardName, Seen>();
  readonly #sightedAfterMs: number;

  constructor(
    private readonly ports: { readonly leases: LeaseStore; readonly journal: Journal; readonly clock: Clock },
    private readonly session: Session,
    private readonly membership: Membership,
    private readonly takeoverMs: number,
    /** No other process can own a shard. */
    private readonly isExclusive: boolean,
  ) {
    this.#sightedAfterMs = takeoverMs * SIGHTED_AFTER;
  }

  /** True when the session has been silent for long enough to be observed. */
  isSilent(session: SessionId): boolean {
    return this.membership.silentForMs(session) > this.#sightedAfterMs;
  }

  /** True when the owner's process is known to have ended: its silence need not be waited for. */
  async isGone(session: SessionId): Promise<boolean> {
    if (this.isExclusive || session === this.session.id) return false;
    if (this.membership.isGone(session)) return true;
    // A session that was heard is alive, or silent.
    return this.membership.processOf(session) === undefined && isMarkedGone(this.ports.leases, session);
  }

  /**
   * Marks the session dead if its shard may be taken. @returns the number of the owner's renewals, undefined while the
   * shard is not free
   */
  async freeAfter({ isReleased, session }: ShardLease, isGone: boolean): Promise<number | undefined> {
    if (isReleased || this.isExclusive || session === this.session.id) return NO_OWNER;
    if (!isGone && this.membership.silentForMs(session) < this.takeoverMs) return undefined;
    return markSessionDead(this.ports.leases, session);
  }

  /** The observation of the shard's silent owner, if it was of this epoch and the owner has not renewed since. */
  sightingOf(shard: ShardName, epoch: number | undefined, renewals: number | undefined): Sighting | undefined {
    const seen = this.#seenSilent.get(shard);
    return seen?.epoch === epoch && seen?.renewals === renewals ? seen : undefined;
  }

  forget(shard: ShardName): void {
    this.#seenSilent.delete(shard);
  }

  /** Observes the shard's owner if it is silent and this process comes next. All facts are read before the noted instant. */
  async observe(shard: ShardName): Promise<void> {
    const { leases, journal, clock } = this.ports;
    const heard = this.membership.candidates(this.#sightedAfterMs, 0, shard);
    if (this.session.placement.ownerOf(shard, heard) !== this.session.id) {
      this.#seenSilent.delete(shard);
      return;
    }
    if (this.#seenSilent.has(shard)) return;
    const record = await leases.get(shard);
    if (record === undefined) return;
    const { session, epoch, isReleased } = decodeShardLease(record.value);
    if (isReleased || this.membership.silentForMs(session) < this.#sightedAfterMs) return;
    const renewals = await renewalsOf(leases, session);
    const { last: position } = await journal.tail(shard);
    if (renewals === undefined) return;
    this.#seenSilent.set(shard, { session, epoch, renewals, position, atMs: clock.monotonicMs() });
  }
}
