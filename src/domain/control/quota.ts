/**
 * The charged part of one database's daily limit: held by processes, or used.
 *
 *  QU1 a process is charged with the greater of its share and its metered use, so a slice counts from the moment it
 *      is granted, and use is not forgotten when the slice is returned
 *  QU2 the free part is never more than the limit less all charges
 *  QU3 without metering, an ended process counts as having used its whole share
 */
import type { SessionId } from '../../kernel/index.js';

export interface QuotaShare {
  /** Granted and not returned. */
  reserved: number;
  /** Seen in the meter's log since the first grant. */
  metered: number;
}

export class QuotaDay {
  /** Used by processes without a share: ended ones, and use from a time without a limit. */
  settled = 0;
  readonly shares = new Map<SessionId, QuotaShare>();

  reservedBy(session: SessionId): number {
    return this.shares.get(session)?.reserved ?? 0;
  }

  /** QU1 (a process is charged with the greater of its share and its metered use). */
  get charged(): number {
    let charged = this.settled;
    for (const { reserved, metered } of this.shares.values()) charged += Math.max(reserved, metered);
    return charged;
  }

  /** QU2 (the free part is never more than the limit less all charges). */
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

  /**
   * Ends a share; its unused part becomes free.
   * @param isMetered false: QU3 (the process counts as having used its whole share)
   */
  end(session: SessionId, isMetered = true): void {
    const share = this.shares.get(session);
    if (share === undefined) return;
    this.settled += isMetered ? share.metered : share.reserved;
    this.shares.delete(session);
  }
}
