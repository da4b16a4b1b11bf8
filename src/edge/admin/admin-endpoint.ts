/** The parts of the operators' API: ports from outside, and objects that its files share. */
import type { DatabaseId } from '../../kernel/index.js';
import {
  type Backups,
  type Clock,
  type ClusterSteering,
  type ClusterWatch,
  type ConnectedClient,
  type CopyWatch,
  inSeconds,
  type JournalAudit,
  type KvEvents,
  type KvGateway,
  type Log,
  type ManagementAccess,
  type ManagementControl,
  type MeasuredProcess,
  type MessageLog,
  type Metrics,
  type Random,
  type ReadModelCare,
  type Sealing,
  type Statistics,
  type StorageGauge,
  type Timers,
} from '../../ports/index.js';
import { ClientAddresses, type ProxyRange } from '../http/index.js';
import { Shares } from '../http/shares.js';
import type { Pages } from '../sessions/page-requests.js';
import { SealedSessions } from '../sessions/sealed-sessions.js';
import { type SignIns, UNGUARDED } from '../sign-in-guard.js';
import { ADMIN_DOWNLOADS, ADMIN_LOOKS, ADMIN_STREAMS, ADMIN_WALKS } from './admin-limits.js';

export interface AdminHandlerParts {
  readonly access: ManagementAccess;
  readonly control: ManagementControl;
  /** Seals with the key file; called when a session begins or is opened. */
  readonly sealing: () => Sealing;
  readonly publicUrls: { readonly search: string };
  readonly audit: JournalAudit;
  /** Access to the keys of databases. */
  readonly gateway: KvGateway;
  readonly events: KvEvents;
  /** RESP connections of this process; none without the RESP endpoint. */
  clientsOf(database: DatabaseId): Iterable<ConnectedClient>;
  readonly messageLog: MessageLog;
  readonly statistics: Statistics;
  /** Undefined in a process without backups. */
  readonly backups: Backups | undefined;
  readonly cluster: ClusterWatch;
  readonly steering: ClusterSteering;
  readonly metrics: MeasuredProcess & Pick<Metrics, 'gauge'>;
  readonly storage: StorageGauge;
  /** Undefined without a place of backups. */
  readonly copy: CopyWatch | undefined;
  /** Undefined in a process without read models. */
  readonly readModels: ReadModelCare | undefined;
  readonly clock: Clock;
  readonly random: Random;
  readonly timers: Timers;
  readonly log: Log;
  /** Default: failed sign-ins are neither slowed nor counted. */
  readonly signIns?: SignIns | undefined;
  readonly trustedProxies?: readonly ProxyRange[] | undefined;
  /** The longest duration of a session. Default: a working day. */
  readonly sessionMs?: number | undefined;
  /** Cookies are sent only over TLS. */
  readonly isSecure: boolean;
  readonly isDraining: () => boolean;
  /** Is this the operators' account? */
  isOperator(grant: { readonly account: string }): boolean;
}

export class AdminEndpoint {
  readonly pages: Pages;
  readonly signIns: SignIns;
  readonly addresses: ClientAddresses;
  readonly streams = new Shares(ADMIN_STREAMS);
  readonly downloads = new Shares(ADMIN_DOWNLOADS);
  readonly walks = new Shares(ADMIN_WALKS);
  readonly looks = new Shares(ADMIN_LOOKS);
  /** The last verification of all journals in this process. */
  verified: { readonly atMs: number; readonly isFine: boolean } | undefined;

  constructor(readonly parts: AdminHandlerParts) {
    this.signIns = parts.signIns ?? UNGUARDED;
    this.addresses = new ClientAddresses(parts.trustedProxies ?? []);
    const { metrics } = parts;
    metrics.gauge('millrace_verify_timestamp_seconds', () => inSeconds(this.verified?.atMs));
    metrics.gauge('millrace_verify_fine', () => this.verified && Number(this.verified.isFine));
    this.pages = { sessions: new SealedSessions(parts), publicUrls: parts.publicUrls };
  }

  get isDraining(): boolean {
    return this.parts.isDraining();
  }
}
