/**
 * What of one database's daily limit is gone: held by processes, or used.
 *
 *  QU1 a process is charged with the greater of what it holds and what it was metered using, so a slice
 *      counts from the moment it is granted, and use is not forgotten when the slice is given back
 *  QU2 what is free to be granted is never more than the limit less all charges
 *  QU3 where the meter does not show what was leased, a process that is gone has used all that it held
 */
import type { SessionId } from '../../kernel/index.js';

export interface QuotaShare {
  /** Granted and not given back. */
  reserved: number;
  /** Seen in the meter's log since its first grant. */
  metered: number;
}

export class QuotaDay {
  /** Used by processes that hold nothing: those that are gone, and what was used while there was no limit. */
  settled = 0;
  readonly shares = new Map<SessionId, QuotaShare>();

  reservedBy(session: SessionId): number {
    return this.shares.get(session)?.reserved ?? 0;
  }

  /** QU1. */
  get charged(): number {
    let charged = this.settled;
    for (const { reserved, metered } of this.shares.values()) charged += Math.max(reserved, metered);
    return charged;
  }

  /** QU2. */
  freeOf(limit: number): number {
    return Math.max(0, limit - this.charged);
  }

  reserve(session: SessionId, reserved: number): void {
    const share = this.shares.get(session);
    if (share === undefined) this.shares.set(session, { reserved, metered: 0 });
    else share.reserved = reserved;
  }

  meter(session: SessionId, commands: number): void {
    const share = this.shares.get(session);
    if (share === undefined) this.settled += commands;
    else share.metered += commands;
  }

  /** What it held and did not use is free again. @param isMetered false: nothing shows what it used (QU3) */
  end(session: SessionId, isMetered = true): void {
    const share = this.shares.get(session);
    if (share === undefined) return;
    this.settled += isMetered ? share.metered : share.reserved;
    this.shares.delete(session);
  }
}
