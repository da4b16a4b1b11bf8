/** Exports of the audit log to a URL, as the management API needs them. */
import type { AuditExport } from '../domain/control/index.js';
import type { AccountId } from '../kernel/index.js';

export interface AuditExportLag {
  /** The age of the oldest note that the queue has not accepted; 0: none. */
  readonly lagMs: number;
  /** In the control journal; the queue has accepted all notes up to it. */
  readonly position: number;
  /** The age of the oldest message that the URL has not acknowledged; 0: none. */
  readonly undeliveredMs: number;
  /** Why the queue does not accept messages, or the error of the last attempt at the oldest message. */
  readonly problem?: string | undefined;
}

export interface AuditExports {
  /** Why the account's queue cannot send to the URL; undefined: it can. */
  refusalOf(account: AccountId, url: string): string | undefined;
  /** The end of the control journal. @throws JOURNAL_UNAVAILABLE */
  endPosition(): Promise<number>;
  /** @throws JOURNAL_UNAVAILABLE, SHARD_UNAVAILABLE */
  lagOf(one: AuditExport): Promise<AuditExportLag>;
}
