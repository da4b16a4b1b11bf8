/**
 * The schema of the configuration: sections of settings. Each setting's class-validator rules come from its kind. The
 * smallest accepted times are for tests; they are printed in docs/settings.md.
 */
import {
  type AddressRange,
  type AllowedDestination,
  addressRanges,
  backupPlace,
  destinations,
  host,
  nameServers,
  pageOrigins,
  type ServerAddress,
  serverList,
  url,
} from './address-kinds.js';
import {
  bytes,
  fraction,
  milliseconds,
  oneOf,
  oneOfNumbers,
  path,
  port,
  secretHeaders,
  secretKey,
  secretText,
  secretToken,
  secretUrl,
  someOf,
  text,
  whole,
  wholeOr,
  yesOrNo,
} from './kinds.js';
import type { Secret } from './secret.js';
import { setting } from './setting.js';
import { signInProviders } from './sign-in-providers.js';
import { type AuditRetentionSetting, retention, type WireAlias, wireAlias } from './structured-kinds.js';

const KIB = 1024;
const MIB = 1024 * KIB;
const GIB = 1024 * MIB;

/** `ops@example.com`, or `Millrace <ops@example.com>`. */
const MAIL_SENDER =
  /^(?:[^<>\p{Cc}]{0,128}<[^\s@<>\p{Cc}]{1,128}@[^\s@<>\p{Cc}]{1,253}>|[^\s@<>\p{Cc}]{1,128}@[^\s@<>\p{Cc}]{1,253})$/u;

const ROLES = ['edge', 'kv', 'queue', 'projection'] as const;
type RoleName = (typeof ROLES)[number];
export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

/** The process as a whole. */
class ProcessSettings {
  @setting(someOf(...ROLES)) readonly roles!: readonly RoleName[];
  @setting(wholeOr('auto', 1, 64)) readonly workers!: number | 'auto';
  @setting(oneOf('debug', 'info', 'warn', 'error')) readonly logLevel!: LogLevel;
  @setting(whole(128, 65_536, 'MiB')) readonly heapMb!: number;
  @setting(bytes(32 * MIB, 1024 * GIB)) readonly memoryBytes!: number | undefined;
  @setting(milliseconds(100, 600_000)) readonly shutdownMs!: number;
  @setting(milliseconds(0, 600_000)) readonly drainNoticeMs!: number;
  @setting(milliseconds(3_000, 3_600_000)) readonly workerSilenceMs!: number;
}

/** Addresses of the endpoints, as bound and as shown to clients. */
class EndpointSettings {
  @setting(host()) readonly host!: string;
  @setting(port('takes any free one')) readonly kvPort!: number;
  @setting(port('takes any free one')) readonly queuePort!: number;
  @setting(port('takes any free one')) readonly mgmtPort!: number;
  @setting(port('turns it off')) readonly respPort!: number;
  @setting(whole(1, 65_535, 'a port')) readonly respWorkerPort!: number | undefined;
  @setting(host()) readonly respAnnounceHost!: string | undefined;
  @setting(whole(1, 65_535, 'a port')) readonly respAnnouncePort!: number | undefined;
  @setting(port('takes any free one')) readonly metricsPort!: number;
  @setting(url('http', 'https')) readonly publicUrlKv!: string | undefined;
  @setting(url('http', 'https')) readonly publicUrlQueue!: string | undefined;
  @setting(url('http', 'https')) readonly publicUrlMgmt!: string | undefined;
  @setting(path('a PEM file with the certificate chain')) readonly tlsCert!: string | undefined;
  @setting(path('a PEM file with the private key')) readonly tlsKey!: string | undefined;
  @setting(addressRanges()) readonly trustedProxies!: readonly AddressRange[];
  @setting(wireAlias()) readonly wireAlias!: WireAlias | undefined;
  @setting(oneOf('alias', 'both')) readonly wireAliasDeliver!: 'alias' | 'both';
  @setting(oneOf('off', 'read', 'change')) readonly mcp!: 'off' | 'read' | 'change';
  @setting(pageOrigins()) readonly portalFrameAncestors!: readonly string[];
  @setting(path('a JSON file with title, colours, logo and words')) readonly portalFile!: string | undefined;
}

/** Limits for a client of the HTTP endpoints. */
class HttpSettings {
  @setting(milliseconds(100, 600_000)) readonly httpHeadersTimeoutMs!: number;
  @setting(milliseconds(100, 3_600_000)) readonly httpRequestTimeoutMs!: number;
  @setting(milliseconds(50, 60_000)) readonly httpConnectionsCheckMs!: number;
  @setting(milliseconds(100, 3_600_000)) readonly httpKeepAliveMs!: number;
  @setting(whole(1, 1_000_000)) readonly httpMaxConnections!: number;
  @setting(whole(1, 1_000_000)) readonly httpMaxConnectionsPerAddress!: number;
  @setting(bytes(1 * KIB, 1 * GIB)) readonly httpMaxBodyBytes!: number;
}

/** Limits on sign-ins and secrets. */
class SignInSettings {
  @setting(whole(0, 1_000_000)) readonly signInFailures!: number;
  @setting(whole(0, 512)) readonly secretMinCharacters!: number;
  @setting(whole(60_000, 30 * 24 * 3_600_000)) readonly consoleSessionMs!: number;
  @setting(yesOrNo()) readonly readOnlyKeysSeeSecrets!: boolean;
  @setting(signInProviders()) readonly signInProviders!: Secret | undefined;
  @setting(milliseconds(100, 60_000)) readonly signInCheckMs!: number;
  @setting(secretToken()) readonly metricsToken!: Secret | undefined;
}

/** A seed given by mistake instead of its path is not shown. */
const SEED_FILE = {
  ...text('the path of a file with an nkey seed', /^(?!S[A-Z][A-Z2-7]{40,}$)[^\p{Cc}]+$/u),
  hidesText: true,
};

/** The NATS to use, or the server to embed. */
class NatsSettings {
  @setting(serverList('nats', 'tls')) readonly natsUrl!: readonly string[] | undefined;
  @setting(path('a creds file')) readonly natsCreds!: string | undefined;
  @setting(text('1 to 512 characters on one line', /^[^\p{Cc}]{1,512}$/u)) readonly natsUser!: string | undefined;
  @setting(secretText()) readonly natsPassword!: Secret | undefined;
  @setting(secretText()) readonly natsToken!: Secret | undefined;
  @setting(SEED_FILE)
  readonly natsNkey!: string | undefined;
  @setting(path('a PEM file with the authorities to trust')) readonly natsTlsCa!: string | undefined;
  @setting(path('a PEM file with the client certificate')) readonly natsTlsCert!: string | undefined;
  @setting(path('a PEM file with its private key')) readonly natsTlsKey!: string | undefined;
  @setting(path('a creds file of the system account')) readonly natsSysCreds!: string | undefined;
  @setting(SEED_FILE) readonly natsSysNkey!: string | undefined;
  @setting(text('1 to 512 characters on one line', /^[^\p{Cc}]{1,512}$/u)) readonly natsSysUser!: string | undefined;
  @setting(secretText()) readonly natsSysPassword!: Secret | undefined;
  @setting(path('a nats-server binary')) readonly natsServer!: string | undefined;
  @setting(text('up to 32 letters, digits, - and _', /^[A-Za-z0-9_-]{0,32}$/)) readonly natsPrefix!: string;
  @setting(milliseconds(100, 60_000)) readonly natsAppendTimeoutMs!: number;
}

/** Stored data: its place and retention. */
class StorageSettings {
  @setting(path('a directory')) readonly dataDir!: string;
  @setting(path('a file')) readonly sealKeyFile!: string;
  @setting(secretKey()) readonly encryptionKey!: Secret | undefined;
  @setting(secretKey()) readonly encryptionNextKey!: Secret | undefined;
  @setting(oneOf('always', 'interval')) readonly fsync!: 'always' | 'interval';
  @setting(oneOfNumbers(1, 3)) readonly replicas!: 1 | 3;
  @setting(yesOrNo()) readonly allowUnsynced!: boolean;
  @setting(whole(1, 256)) readonly kvShards!: number;
  @setting(whole(1, 256)) readonly queueShards!: number;
  @setting(retention()) readonly auditRetention!: AuditRetentionSetting;
  @setting(path('a directory')) readonly auditDir!: string | undefined;
  @setting(bytes(1024 * KIB, 1024 * 1024 * GIB)) readonly journalTotalBytes!: number | undefined;
  @setting(bytes(0, 1024 * GIB)) readonly diskReserveBytes!: number;
  @setting(whole(10, 10_000_000)) readonly snapshotEntries!: number;
  @setting(bytes(4 * KIB, 16 * GIB)) readonly snapshotBytes!: number;
  @setting(bytes(4 * KIB, 16 * GIB)) readonly statisticsSnapshotBytes!: number;
}

/** The place of backups outside of the installation, and their times. The minimums are for tests. */
class BackupSettings {
  @setting(backupPlace()) readonly backupTo!: string | undefined;
  @setting(milliseconds(100, 3_600_000)) readonly backupRoundMs!: number;
  @setting(milliseconds(1_000, 366 * 86_400_000)) readonly backupFullMs!: number;
  @setting(milliseconds(1_000, 3_660 * 86_400_000)) readonly backupKeepMs!: number;
  @setting(url('http', 'https')) readonly backupS3Endpoint!: string | undefined;
  @setting(text('the name of a region', /^[a-z0-9-]{1,64}$/)) readonly backupS3Region!: string;
  @setting(secretToken()) readonly backupS3KeyId!: Secret | undefined;
  @setting(secretToken()) readonly backupS3Secret!: Secret | undefined;
  @setting(oneOf('off', 'governance', 'compliance')) readonly backupS3Lock!: 'off' | 'governance' | 'compliance';
}

/** Ownership of shards, and times of takeovers. The minimums are for tests on one machine. */
class OwnershipSettings {
  @setting(milliseconds(20, 60_000)) readonly sessionHeartbeatMs!: number;
  @setting(milliseconds(50, 60_000)) readonly leaseRenewalMs!: number;
  @setting(milliseconds(100, 60_000)) readonly readLeaseMs!: number;
  @setting(milliseconds(10, 60_000)) readonly readLeaseMarginMs!: number;
  @setting(milliseconds(150, 600_000)) readonly takeoverSilenceMs!: number;
  @setting(milliseconds(0, 86_400_000)) readonly placementLoadMs!: number;
  @setting(milliseconds(50, 60_000)) readonly clockJumpMs!: number;
  @setting(milliseconds(100, 600_000)) readonly clockSkewMs!: number;
  @setting(oneOf('compared', 'machine')) readonly clockTrust!: 'compared' | 'machine';
  @setting(milliseconds(300, 60_000)) readonly controlStaleMs!: number;
  @setting(milliseconds(0, 60_000)) readonly requestHoldMs!: number;
  @setting(milliseconds(1_000, 86_400_000)) readonly commandMemoryMs!: number;
  @setting(oneOf('lease', 'barrier')) readonly reads!: 'lease' | 'barrier';
}

/** Limits of waiting work, of one turn and of one message. */
class BoundSettings {
  @setting(bytes(1 * KIB, 512 * MIB)) readonly maxCommandBytes!: number;
  @setting(bytes(64 * KIB, 4 * GIB)) readonly maxAnswerBytes!: number;
  @setting(whole(0, 1_000_000_000_000)) readonly maxRequestsPerDay!: number;
  @setting(whole(1, 10_000_000)) readonly mailboxCommands!: number;
  @setting(bytes(1 * KIB, 16 * GIB)) readonly mailboxBytes!: number;
  @setting(whole(1, 100_000)) readonly turnCommands!: number;
  @setting(bytes(1 * KIB, 64 * MIB)) readonly turnBytes!: number;
  @setting(milliseconds(1, 20)) readonly turnMs!: number;
  @setting(milliseconds(1, 600_000)) readonly commandMs!: number;
  @setting(milliseconds(1, 600_000)) readonly scriptMs!: number;
  @setting(milliseconds(1, 10_000)) readonly scriptHoldMs!: number;
  @setting(bytes(1 * KIB, 960 * KIB)) readonly entryChunkBytes!: number;
  @setting(bytes(1 * KIB, 1 * GIB)) readonly busMessageBytes!: number;
  @setting(whole(1, 100_000)) readonly expiryKeys!: number;
}

/** Allowed destinations of deliveries. */
class DestinationSettings {
  @setting(yesOrNo()) readonly allowPrivateDestinations!: boolean;
  @setting(destinations()) readonly destinationAllow!: readonly AllowedDestination[];
}

/** Delivery of messages, and retention in the queue. */
class DeliveryConfig {
  @setting(whole(1, 100_000)) readonly deliveryConcurrency!: number;
  @setting(whole(1, 100_000)) readonly deliveryPerOrigin!: number;
  @setting(milliseconds(10, 600_000)) readonly deliveryConnectTimeoutMs!: number;
  @setting(milliseconds(10, 600_000)) readonly deliveryLookupTimeoutMs!: number;
  @setting(whole(1, 100_000)) readonly deliveryLookups!: number;
  @setting(nameServers()) readonly deliveryNameServers!: readonly ServerAddress[];
  @setting(bytes(64 * KIB, 1 * GIB)) readonly deliveryOverheadBytes!: number;
  @setting(bytes(64 * KIB, 64 * GIB)) readonly deliveryAnswerBytes!: number;
  @setting(bytes(64 * KIB, 64 * GIB)) readonly queueBodyMemoryBytes!: number;
  @setting(bytes(16 * MIB, 1024 * GIB)) readonly queueMemoryBytes!: number | undefined;
  @setting(bytes(1 * MIB, 1024 * GIB)) readonly triggerMemoryBytes!: number | undefined;
  @setting(whole(1, 1_000_000_000)) readonly queueMaxMessages!: number;
  @setting(bytes(64 * KIB, 1024 * GIB)) readonly queueMaxBytes!: number;
  @setting(milliseconds(50, 60_000)) readonly queueTellAfterMs!: number;
  @setting(bytes(1, 16 * MIB)) readonly workflowInlineBytes!: number;
  @setting(milliseconds(1_000, 366 * 86_400_000)) readonly logRetentionMs!: number;
  @setting(bytes(0, 64 * KIB)) readonly deliveredAnswerBytes!: number;
  @setting(milliseconds(1_000, 366 * 86_400_000)) readonly deliveredAnswerRetentionMs!: number;
  @setting(oneOf('EU-CENTRAL-1', 'US-EAST-1')) readonly region!: 'EU-CENTRAL-1' | 'US-EAST-1' | undefined;
}

/** Prices of usage, for statistics and budgets. */
class PriceSettings {
  @setting(whole(0, 100_000_000)) readonly queuePriceCents!: number;
  @setting(whole(0, 100_000_000)) readonly kvPriceCents!: number;
  @setting(whole(0, 100_000_000)) readonly searchPriceCents!: number;
  @setting(whole(0, 100_000_000)) readonly storagePriceCents!: number;
  @setting(bytes(0, 1024 * GIB)) readonly freeStorageBytes!: number;
  @setting(whole(0, 100_000_000)) readonly bandwidthPriceCents!: number;
  @setting(bytes(0, 1024 * GIB)) readonly freeBandwidthBytes!: number;
}

/** Alert rules, and the mail server of their notices. */
class AlertSettings {
  @setting(milliseconds(100, 600_000)) readonly alertLookMs!: number;
  @setting(secretUrl('smtp', 'smtps')) readonly smtpUrl!: Secret | undefined;
  @setting(text('an email address, or a name and an address in angle brackets', MAIL_SENDER)) readonly smtpFrom!:
    | string
    | undefined;
}

/** Vectors in memory, and the provider of embeddings, which makes vectors of texts. */
class EmbeddingSettings {
  @setting(oneOf('F32', 'F16', 'I8')) readonly vectorPrecision!: 'F32' | 'F16' | 'I8';
  @setting(url('http', 'https')) readonly embeddingsUrl!: string | undefined;
  @setting(secretToken()) readonly embeddingsKey!: Secret | undefined;
  @setting(text('1 to 100 characters', /^\P{Cc}{1,100}$/u)) readonly embeddingsModel!: string | undefined;
}

/** The collector of traces. */
class TracingSettings {
  @setting(url('http', 'https')) readonly otlpEndpoint!: string | undefined;
  @setting(secretHeaders()) readonly otlpHeaders!: Secret | undefined;
  @setting(fraction()) readonly traceRatio!: number;
}

/** Objects that the first start creates; missing ones are generated. */
export class FirstStartSettings {
  @setting(secretToken()) readonly kvToken!: Secret | undefined;
  @setting(secretToken()) readonly kvReadonlyToken!: Secret | undefined;
  @setting(secretText()) readonly kvPassword!: Secret | undefined;
  @setting({ ...secretToken(), accepts: '1 to 512 visible ASCII characters, best base64 of JSON with a text UserID' })
  readonly queueToken!: Secret | undefined;
  @setting(secretToken()) readonly queueReadonlyToken!: Secret | undefined;
  @setting(text('an email address', /^[^\s@\p{Cc}]{1,128}@[^\s@\p{Cc}]{1,253}$/u)) readonly mgmtEmail!:
    | string
    | undefined;
  @setting(secretToken()) readonly mgmtKey!: Secret | undefined;
  @setting(secretToken()) readonly signingKeyCurrent!: Secret | undefined;
  @setting(secretToken()) readonly signingKeyNext!: Secret | undefined;
}

/** The whole configuration of a process, deeply frozen by `loadConfig`. */
export class Config {
  readonly process = new ProcessSettings();
  readonly endpoints = new EndpointSettings();
  readonly http = new HttpSettings();
  readonly signIn = new SignInSettings();
  readonly nats = new NatsSettings();
  readonly storage = new StorageSettings();
  readonly backups = new BackupSettings();
  readonly ownership = new OwnershipSettings();
  readonly bounds = new BoundSettings();
  readonly destinations = new DestinationSettings();
  readonly delivery = new DeliveryConfig();
  readonly prices = new PriceSettings();
  readonly alerts = new AlertSettings();
  readonly embeddings = new EmbeddingSettings();
  readonly tracing = new TracingSettings();
  readonly firstStart = new FirstStartSettings();

  /** The process runs its own nats-server. */
  get isEmbedded(): boolean {
    return this.nats.natsUrl === undefined;
  }

  /** The processes that share this configuration, and limits of clients with it; `auto` is decided before. */
  get sharedBy(): number {
    return this.process.workers === 'auto' ? 1 : this.process.workers;
  }
}
