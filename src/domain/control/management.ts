/**
 * Records that the management API keeps of databases, accounts, teams, keys, search indexes and backups. People are
 * identified by their e-mail in lower case. Instants are milliseconds since the Unix epoch. The order of fields is
 * the stored format.
 */
import {
  absent,
  flag,
  integer,
  listOf,
  looseText,
  openRecord,
  optional,
  type TypeOf,
  trailing,
  wordOf,
} from '../../kernel/schema/index.js';
import { VECTOR_KINDS, VECTOR_PRECISIONS, VECTOR_SIMILARITIES } from '../search/index.js';
import { accountId, apiKeyId, backupId, databaseId } from './ids.js';
import { sealedSecret } from './sealed-secret.js';

export const DATABASE_PLANS = [
  'free',
  'payg',
  'fixed_250mb',
  'fixed_1gb',
  'fixed_5gb',
  'fixed_10gb',
  'fixed_50gb',
  'fixed_100gb',
  'fixed_500gb',
] as const;
export type DatabasePlan = (typeof DATABASE_PLANS)[number];

/** Settings of a database in addition to its name, limits and secrets. */
export const databaseSettingsFields = {
  /** `aws`, `gcp` or empty, as requested; it does not affect the placement. */
  platform: looseText(),
  /** `global`, or the region of a request without replicas. */
  region: looseText(),
  primaryRegion: looseText(),
  readRegions: listOf(looseText()),
  plan: wordOf(...DATABASE_PLANS),
  /** Dollars per month; 0: no limit. */
  budgetDollars: integer,
  /** A full database evicts keys instead of refusing writes. */
  isEvicting: flag,
  /** Moves to the next plan when a limit is reached. */
  isAutoUpgrading: flag,
  hasProdPack: flag,
  /** IPv4 addresses and CIDR blocks; empty: all clients may connect. */
  allowedIps: listOf(looseText()),
  hasDailyBackup: flag,
  /** Grants the account's scrape endpoint for this database; undefined: off. */
  prometheusToken: optional(sealedSecret),
  isSuspended: flag,
  /** 0: never. */
  lastPlanUpgradeAtMs: integer,
};
export const databaseSettings = openRecord(databaseSettingsFields);
export type DatabaseSettings = TypeOf<typeof databaseSettings>;

/** Settings of a database that the management API has never changed. */
export const DEFAULT_DATABASE_SETTINGS: DatabaseSettings = {
  platform: '',
  region: 'global',
  primaryRegion: 'us-east-1',
  readRegions: [],
  plan: 'payg',
  budgetDollars: 0,
  isEvicting: false,
  isAutoUpgrading: false,
  hasProdPack: false,
  allowedIps: [],
  hasDailyBackup: false,
  prometheusToken: undefined,
  isSuspended: false,
  lastPlanUpgradeAtMs: 0,
};

const RESERVED_PLANS = ['msgq_fixed_1m', 'msgq_fixed_10m', 'msgq_fixed_100m'] as const;
export type ReservedPlan = (typeof RESERVED_PLANS)[number];
export const QUEUE_REGIONS = ['eu-central-1', 'us-east-1'] as const;

/** The commercial plan of an account's queue; its limits are `AccountLimits`. */
export const accountPlanFields = {
  type: wordOf('free', 'paid'),
  /** Empty without a reserved tier. */
  reserved: wordOf('', ...RESERVED_PLANS),
  hasProdPack: flag,
  region: wordOf(...QUEUE_REGIONS),
  /** Dollars per month; 0: no limit. The limit on messages is `AccountLimits.budgetCents`. */
  budgetDollars: integer,
  /** 0: never. */
  lastPlanUpgradeAtMs: integer,
  /** Grants the scrape endpoint for this queue and the databases of its owner; undefined: off. */
  prometheusToken: absent(sealedSecret),
};
export const accountPlan = openRecord(accountPlanFields);
export type AccountPlan = TypeOf<typeof accountPlan>;

/** The plan of an account without a set plan. */
export const DEFAULT_ACCOUNT_PLAN: AccountPlan = {
  type: 'paid',
  reserved: '',
  hasProdPack: false,
  region: 'eu-central-1',
  budgetDollars: 0,
  lastPlanUpgradeAtMs: 0,
};

export const TEAM_ROLES = ['owner', 'admin', 'dev', 'finance'] as const;
export type TeamRole = (typeof TEAM_ROLES)[number];

export const teamMember = openRecord({ email: looseText(), role: wordOf(...TEAM_ROLES) });
export type TeamMember = TypeOf<typeof teamMember>;

/** Makes an account a team of several people. The owner is always its first member. */
export const team = openRecord({
  members: listOf(teamMember),
  /** Kept and shown; this program charges no card. */
  copiesCard: flag,
});
export type Team = TypeOf<typeof team>;

/** A key by which a person signs in to act for one account. The secret is shown once and not stored. */
export const apiKeyFields = {
  id: apiKeyId,
  account: accountId,
  email: looseText(),
  /** Unique among the keys of this person. */
  name: looseText(),
  /** The digest of the secret, 64 lower-case hex digits. */
  sha256: looseText(),
  isReadOnly: flag,
  createdAtMs: integer,
  /** The role that limits the key; undefined: all rights of the person. */
  role: absent(looseText()),
  /** The id of the only resource that the role is for, as it is shown. */
  on: absent(looseText()),
};
export const apiKey = openRecord(apiKeyFields);
export type ApiKey = TypeOf<typeof apiKey>;

export const SEARCH_REGIONS = ['eu-west-1', 'us-central1'] as const;
export const VECTOR_REGIONS = ['eu-west-1', 'us-east-1', 'us-central1'] as const;
export type VectorRegion = (typeof VECTOR_REGIONS)[number];
export type SearchRegion = (typeof SEARCH_REGIONS)[number];
export const SEARCH_TYPES = ['free', 'payg', 'fixed'] as const;
export type SearchType = (typeof SEARCH_TYPES)[number];

/** -1 means no limit only where a field says so. */
export const searchLimitFields = {
  /** Documents of all indexes together. */
  maxVectorCount: integer,
  /** -1: no limit. */
  maxMonthlyReranks: integer,
  /** Upserted documents per UTC day; -1: no limit. */
  maxDailyUpdates: integer,
  /** -1: no limit. */
  maxDailyQueries: integer,
  /** Bytes; -1: no limit. */
  maxMonthlyBandwidth: integer,
  maxWritesPerSecond: integer,
  maxQueryPerSecond: integer,
  /** Results of a query, ids of a fetch. */
  maxReadsPerRequest: integer,
  /** Documents of an upsert. */
  maxWritesPerRequest: integer,
};
export const searchLimits = openRecord(searchLimitFields);
export type SearchLimits = TypeOf<typeof searchLimits>;

export const searchTokens = openRecord({ token: sealedSecret, readOnlyToken: sealedSecret });
export type SearchTokens = TypeOf<typeof searchTokens>;

/** The kind of an index of vectors, which never changes. */
export const vectorShape = openRecord({
  kind: wordOf(...VECTOR_KINDS),
  metric: wordOf(...VECTOR_SIMILARITIES),
  /** Of dense vectors; 0 for a sparse index. */
  dimension: integer,
  /** Embeds texts; '': texts are refused. */
  denseModel: looseText(),
  sparseModel: looseText(),
  /** Here, because earlier releases know only the regions of search indexes. */
  region: wordOf(...VECTOR_REGIONS),
  /** Undefined: that of the installation. Earlier releases ignore it: only their scores differ. */
  precision: absent(wordOf(...VECTOR_PRECISIONS)),
});
export type VectorIndexShape = TypeOf<typeof vectorShape>;

export const newSearchIndexFields = {
  id: databaseId,
  name: looseText(),
  account: accountId,
  region: wordOf(...SEARCH_REGIONS),
  type: wordOf(...SEARCH_TYPES),
  limits: searchLimits,
};

/** A search database: any number of named indexes. Its documents are keys of the kv partition with its id. */
export const searchIndex = openRecord({
  ...newSearchIndexFields,
  /** Undefined after deletion. */
  tokens: optional(searchTokens),
  createdAtMs: integer,
  deletedAtMs: optional(integer),
  /** Only of an index of vectors, which is a database of the same kind with other documents. */
  vectors: trailing(vectorShape),
});
export type SearchIndex = TypeOf<typeof searchIndex>;

const backupState = wordOf('pending', 'completed', 'failed');
export const endedState = wordOf('completed', 'failed');
export const newBackupFields = {
  id: backupId,
  database: databaseId,
  account: accountId,
  name: looseText(),
  isDaily: flag,
};

/** The state of a database at one moment, kept in the object store. */
export const backup = openRecord({
  ...newBackupFields,
  state: backupState,
  createdAtMs: integer,
  /** 0 until it is completed. */
  bytes: integer,
  /** Names of its partitions' manifests, in order of index; empty until it is completed. */
  manifests: listOf(looseText()),
  /** The reason of a failure; otherwise empty. */
  reason: looseText(),
});
export type Backup = TypeOf<typeof backup>;

/** The audit log's description of a mutating call. */
const auditNoteFields = {
  /** E-mail of the person, or `operator` on the command line. */
  actor: looseText(),
  /** Number of the action (audit-actions.ts). */
  action: integer,
  /** `API_KEY - <name of the key>`, `CONSOLE`, `COMMAND LINE`. */
  source: looseText(),
  /** Name of the changed record; empty if it has none. */
  entity: looseText(),
  secondaryEntity: looseText(),
  thirdEntity: looseText(),
  /** Empty if unknown. */
  ip: looseText(),
  reason: looseText(),
};
export const auditNote = openRecord(auditNoteFields);
export type AuditNote = TypeOf<typeof auditNote>;

export const auditEntryFields = {
  /** Number among the entries of this installation: 1, 2, 3 … */
  number: integer,
  account: accountId,
  atMs: integer,
  ...auditNoteFields,
};
export const auditEntry = openRecord(auditEntryFields);
export type AuditEntry = TypeOf<typeof auditEntry>;
