/** What the management face is made of: ports from outside, and the few things its parts share. */
import type { Prices } from '../../domain/statistics/index.js';
import type { AccountId, DatabaseId } from '../../kernel/index.js';
import type {
  Backups,
  DataRemoval,
  ManagementAccess,
  ManagementControl,
  Random,
  Sealing,
  Statistics,
} from '../../ports/index.js';
import { BurstLimiter } from '../http/burst-limiter.js';
import { Face, type FaceParts } from '../http/face.js';
import type { Mounted } from '../http/mounted.js';
import type { Pages } from '../sessions/page-requests.js';
import { SealedSessions } from '../sessions/sealed-sessions.js';
import { type AliasWords, ManagementSpellings } from '../wire-alias.js';
import type { ManagementFaceLimits } from './management-limits.js';
import { ManagementSecrets } from './management-secrets.js';
import { PublicAddresses, type PublicUrls } from './public-addresses.js';

export interface ManagementFaceParts extends FaceParts<ManagementFaceLimits> {
  readonly control: ManagementControl;
  readonly access: ManagementAccess;
  /** Seals with the key file; it is asked for when a secret is needed. */
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
  readonly random: Random;
  /** How long a session of the console lasts at most. Left out: a working day. */
  readonly sessionMs?: number | undefined;
  readonly aliases: readonly AliasWords[];
  readonly publicUrls: PublicUrls;
  /** The port at which clients reach the native protocol. */
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
  /** The release of this server, which the OpenAPI document names. */
  readonly version: string;
  readonly mount: { readonly search?: Mounted | undefined; readonly others?: readonly Mounted[] | undefined };
}

export class ManagementFace extends Face<ManagementFaceParts> {
  readonly spellings: ManagementSpellings;
  readonly bursts: BurstLimiter;
  readonly secrets: ManagementSecrets;
  readonly urls: PublicAddresses;
  readonly pages: Pages;

  constructor(parts: ManagementFaceParts) {
    super('management', parts);
    this.spellings = new ManagementSpellings(parts.aliases);
    this.bursts = new BurstLimiter(parts.clock);
    this.secrets = new ManagementSecrets(parts.random, parts.sealing);
    this.pages = { sessions: new SealedSessions(parts), publicUrls: parts.publicUrls };
    this.urls = new PublicAddresses(parts.publicUrls);
  }
}
