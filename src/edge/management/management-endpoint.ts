/** The parts of the management endpoint: ports from outside, and objects that its files share. */
import type { Middleware } from 'koa';
import type { SearchIndex } from '../../domain/control/index.js';
import type { Prices } from '../../domain/statistics/index.js';
import type { AccountId, DatabaseId } from '../../kernel/index.js';
import type {
  AlertTests,
  AuditExports,
  Backups,
  Branches,
  DataRemoval,
  ManagementAccess,
  ManagementControl,
  Random,
  Sealing,
  Statistics,
  UsageDocuments,
} from '../../ports/index.js';
import { uuidOf } from '../../protocol/index.js';
import { BurstLimiter } from '../http/burst-limiter.js';
import { Endpoint, type EndpointParts } from '../http/endpoint.js';
import type { Pages } from '../sessions/page-requests.js';
import { SealedSessions } from '../sessions/sealed-sessions.js';
import { type AliasWords, ManagementSpellings } from '../wire-alias.js';
import type { ManagementEndpointLimits } from './management-limits.js';
import { ManagementSecrets } from './management-secrets.js';

/** Base URLs, with or without a scheme. `search` is the part before `/search/<id>`. */
export interface PublicUrls {
  readonly kv: string;
  readonly queue: string;
  readonly search: string;
}

/** Reads the URLs on each call: this endpoint's port may be known only after it listens. */
class PublicAddresses {
  constructor(private readonly urls: PublicUrls) {}

  /** All databases have one address: the token names the database. */
  ofDatabases(): string {
    return withoutScheme(this.urls.kv);
  }

  ofSearchIndex(index: DatabaseId): string {
    return `${withoutScheme(this.urls.search)}/search/${uuidOf(index)}`;
  }

  ofVectorIndex(index: DatabaseId): string {
    return `${withoutScheme(this.urls.search)}/vector/${uuidOf(index)}`;
  }
}

/** Addresses of the data planes, as records show them: a host with its port and path, without a scheme. */
function withoutScheme(url: string): string {
  return url.replace(/^[a-z][a-z0-9+.-]*:\/\//i, '').replace(/\/+$/, '');
}

export interface ManagementEndpointParts extends EndpointParts<ManagementEndpointLimits> {
  readonly control: ManagementControl;
  readonly access: ManagementAccess;
  /** Seals with the key file; called when a secret is needed. */
  readonly sealing: () => Sealing;
  /** Undefined: calls for statistics or backups get 503. */
  readonly statistics?: Statistics | undefined;
  readonly usage?: UsageDocuments | undefined;
  readonly auditExports?: AuditExports | undefined;
  readonly backups?: Backups | undefined;
  /** Undefined: calls for branches get 503. */
  readonly branches?: Branches | undefined;
  /** Checks and tests the channels of alert rules. */
  readonly alerts: AlertTests;
  /** Undefined: data of deleted databases stays, without access. */
  readonly removal?: DataRemoval | undefined;
  /** The price list of an account. */
  pricesOf(account: AccountId): Prices;
  /** Stored documents of an index that queries do not find yet. */
  pendingDocuments(index: SearchIndex): Promise<number>;
  readonly random: Random;
  /** The longest session of the console. Default: a working day. */
  readonly sessionMs?: number | undefined;
  readonly aliases: readonly AliasWords[];
  readonly publicUrls: PublicUrls;
  /** The port at which clients reach RESP. */
  readonly respPort: number;
  /** Addresses from which messages are delivered, as CIDR blocks. */
  readonly deliveryAddresses: readonly string[];
  /** Read-only keys see passwords and tokens with write access, as in earlier releases. */
  readonly readOnlyKeysSeeSecrets: boolean;
  /** Search indexes of the type `fixed` may be created. */
  readonly offersFixedSearch: boolean;
  /** There is a provider of embeddings, which knows models by name. */
  readonly hasEmbeddings: boolean;
  /** The longest run of a script, in milliseconds; a database cannot raise it. */
  readonly maxScriptMs: number;
  /** The most bytes that a process can hold of one database; a plan cannot raise it. Default: unknown. */
  readonly maxHeldBytes?: number | undefined;
  /** Default number of partitions of a new database. */
  readonly defaultPartitions: number;
  /** The release of this server, for the OpenAPI document. */
  readonly version: string;
  /** Other endpoints on the port. Each passes on other paths. */
  readonly mount: readonly Middleware[];
}

export class ManagementEndpoint extends Endpoint<ManagementEndpointParts> {
  readonly spellings: ManagementSpellings;
  readonly bursts: BurstLimiter;
  readonly secrets: ManagementSecrets;
  readonly urls: PublicAddresses;
  readonly pages: Pages;

  constructor(parts: ManagementEndpointParts) {
    super('management', parts);
    this.spellings = new ManagementSpellings(parts.aliases);
    this.bursts = new BurstLimiter(parts.clock);
    this.secrets = new ManagementSecrets(parts.random, parts.sealing);
    this.pages = { sessions: new SealedSessions(parts), publicUrls: parts.publicUrls };
    this.urls = new PublicAddresses(parts.publicUrls);
  }
}
