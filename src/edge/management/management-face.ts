/** What the management face is made of: ports from outside, and the few things its parts share. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Prices } from '../../domain/statistics/index.js';
import type { AccountId, ByteBudget, DatabaseId } from '../../kernel/index.js';
import type {
  Backups,
  Clock,
  DataRemoval,
  Log,
  ManagementAccess,
  ManagementControl,
  Random,
  Sealing,
  Statistics,
  Timers,
} from '../../ports/index.js';
import { BurstLimiter } from '../http/burst-limiter.js';
import { Incidents } from '../http/incidents.js';
import { ClientAddresses, type ProxyRange } from '../http/index.js';
import { type SignIns, UNGUARDED } from '../sign-in-guard.js';
import { type AliasWords, ManagementSpellings } from '../wire-alias.js';
import type { ManagementFaceLimits } from './management-limits.js';
import { ManagementSecrets } from './management-secrets.js';
import { PublicAddresses, type PublicUrls } from './public-addresses.js';

/** Another face on the same port: true when the request was its to answer, which it has begun to do. */
type Mounted = (request: IncomingMessage, response: ServerResponse) => boolean;

export interface ManagementFaceParts {
  readonly control: ManagementControl;
  readonly access: ManagementAccess;
  /** Of the key file; asked for when a secret is needed. */
  readonly sealing: () => Sealing;
  /** Undefined: what needs them is answered with 503. */
  readonly statistics?: Statistics | undefined;
  readonly backups?: Backups | undefined;
  /** Undefined: what was deleted stays where it was, and nobody can open it. */
  readonly removal?: DataRemoval | undefined;
  /** The price list of an account. */
  pricesOf(account: AccountId): Prices;
  /** Documents of a search index that were stored and that no query finds yet. */
  pendingDocuments(index: DatabaseId): Promise<number>;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly random: Random;
  readonly log: Log;
  readonly limits: ManagementFaceLimits;
  readonly aliases: readonly AliasWords[];
  readonly trustedProxies: readonly ProxyRange[];
  /** Left out: what requests hold has no bound. */
  readonly budget?: ByteBudget | undefined;
  /** Left out: guessing is neither slowed nor counted. */
  readonly signIns?: SignIns | undefined;
  readonly publicUrls: PublicUrls;
  /** Of the native protocol, as clients reach it. */
  readonly respPort: number;
  /** From which deliveries leave, as CIDR blocks. */
  readonly deliveryAddresses: readonly string[];
  /** Search indexes of the type `fixed` may be made. */
  readonly offersFixedSearch: boolean;
  /** What a script may work for, whatever its database says, in milliseconds. */
  readonly maxScriptMs: number;
  /** What a process has room for of one database, whatever its plan says. Left out: nobody knows. */
  readonly maxHeldBytes?: number | undefined;
  /** Partitions of a database of which nobody said how many. */
  readonly defaultPartitions: number;
  /** Of this server, for the OpenAPI document. */
  readonly version: string;
  readonly mount: { readonly search?: Mounted | undefined; readonly others?: readonly Mounted[] | undefined };
}

export class ManagementFace {
  readonly spellings: ManagementSpellings;
  readonly addresses: ClientAddresses;
  readonly bursts: BurstLimiter;
  readonly secrets: ManagementSecrets;
  readonly urls: PublicAddresses;
  /** Set while draining: every answer is its connection's last. */
  isDraining = false;
  readonly incidents: Incidents;
  readonly signIns: SignIns;

  constructor(readonly parts: ManagementFaceParts) {
    this.spellings = new ManagementSpellings(parts.aliases);
    this.incidents = new Incidents('management', parts);
    this.signIns = parts.signIns ?? UNGUARDED;
    this.addresses = new ClientAddresses(parts.trustedProxies);
    this.bursts = new BurstLimiter(parts.clock);
    this.secrets = new ManagementSecrets(parts.random, parts.sealing);
    this.urls = new PublicAddresses(parts.publicUrls);
  }
}
