/** What the operators' API is made of: ports from outside, and the few things its parts share. */
import type {
  Clock,
  JournalAudit,
  Log,
  ManagementAccess,
  ManagementControl,
  MessageLog,
  ReadModelCare,
  Sealing,
  Statistics,
  Timers,
} from '../../ports/index.js';
import { ADMIN_STREAMS, ADMIN_WALKS } from './admin-limits.js';
import { Sessions } from './sessions.js';
import { Shares } from './shares.js';

export interface AdminHandlerParts {
  readonly access: ManagementAccess;
  readonly control: ManagementControl;
  /** Of the key file; asked for when a session begins or is looked at. */
  readonly sealing: () => Sealing;
  readonly audit: JournalAudit;
  readonly messageLog: MessageLog;
  readonly statistics: Statistics;
  /** Undefined in a process that keeps none. */
  readonly readModels: ReadModelCare | undefined;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly log: Log;
  /** Cookies are sent over TLS only. */
  readonly isSecure: boolean;
  readonly isDraining: () => boolean;
  /** Is this the account whose people operate the installation? */
  isOperator(grant: { readonly account: string }): boolean;
}

export class AdminFace {
  readonly sessions: Sessions;
  readonly streams = new Shares(ADMIN_STREAMS);
  readonly walks = new Shares(ADMIN_WALKS);

  constructor(readonly parts: AdminHandlerParts) {
    this.sessions = new Sessions(parts);
  }

  get isDraining(): boolean {
    return this.parts.isDraining();
  }
}
