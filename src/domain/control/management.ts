/**
 * What the management API keeps of databases, accounts, teams, keys, search indexes and backups. People are known by
 * their e-mail, lower case. Instants are milliseconds since the Unix epoch. The order of fields is the format.
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
  wordOf,
} from '../../kernel/schema/index.js';
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

/** What is said about a database beside its name, limits and secrets. */
export const databaseSettingsFields = {
  /** `aws`, `gcp` or nothing, as it was asked for; places nothing. */
  platform: looseText(),
  /** `global`, or the plain region of a request without replicas. */
  region: looseText(),
  primaryRegion: looseText(),
  readRegions: listOf(looseText()),
  plan: wordOf(...DATABASE_PLANS),
  /** Dollars a month; 0: no limit. */
  budgetDollars: integer,
  /** A full database drops keys of its own choice, rather than refusing writes. */
  isEvicting: flag,
  /** Moves to the next plan when a limit is reached. */
  isAutoUpgrading: flag,
  hasProdPack: flag,
  /** IPv4 addresses and CIDR blocks; empty: everybody may connect. */
  allowedIps: listOf(looseText()),
  hasDailyBackup: flag,
  /** Opens the account's scrape endpoint for this database; undefined: it is off. */
  prometheusToken: optional(sealedSecret),
  isSuspended: flag,
  /** 0: never. */
  lastPlanUpgradeAtMs: integer,
};
export const databaseSettings = openRecord(databaseSettingsFields);
export type DatabaseSettings = TypeOf<typeof databaseSettings>;

/** A database that the management API has never touched has these. */
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

/** The commercial side of an account's queue; its limits are `AccountLimits`. */
export const accountPlanFields = {
  type: wordOf('free', 'paid'),
  /** '' without a reserved tier. */
  reserved: wordOf('', ...RESERVED_PLANS),
  hasProdPack: flag,
  region: wordOf(...QUEUE_REGIONS),
  /** Dollars a month; 0: no limit. What limits messages is `AccountLimits.budgetCents`. */
  budgetDollars: integer,
  /** 0: never. */
  lastPlanUpgradeAtMs: integer,
  /** Opens the scrape endpoint for this queue and the databases of its owner; undefined: it is off. */
  prometheusToken: absent(sealedSecret),
};
export const accountPlan = openRecord(accountPlanFields);
export type AccountPlan = TypeOf<typeof accountPlan>;

/** An account that nobody gave a plan has this one. */
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

/** Makes an account a team: many people act for it. The owner is its first member, for ever. */
export const team = openRecord({
  members: listOf(teamMember),
  /** Kept and shown; no card is charged here. */
  copiesCard: flag,
});
export type Team = TypeOf<typeof team>;

/** What a person signs in with to act for one account. The secret itself is shown once and kept nowhere. */
export const apiKeyFields = {
  id: apiKeyId,
  account: accountId,
  email: looseText(),
  /** Unique among the keys of this person. */
  name: looseText(),
  /** It is the digest of the secret, 64 lower-case hex digits. */
  sha256: looseText(),
  isReadOnly: flag,
  createdAtMs: integer,
};
export const apiKey = openRecord(apiKeyFields);
export type ApiKey = TypeOf<typeof apiKey>;

export const SEARCH_REGIONS = ['eu-west-1', 'us-central1'] as const;
export type SearchRegion = (typeof SEARCH_REGIONS)[number];
export const SEARCH_TYPES = ['free', 'payg', 'fixed'] as const;
export type SearchType = (typeof SEARCH_TYPES)[number];

/** -1 where it says so: no limit. */
export const searchLimitFields = {
  /** Documents of all its indexes together. */
  maxVectorCount: integer,
  /** -1: no limit. */
  maxMonthlyReranks: integer,
  /** Upserted documents a UTC day; -1: no limit. */
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

export const newSearchIndexFields = {
  id: databaseId,
  name: looseText(),
  account: accountId,
  region: wordOf(...SEARCH_REGIONS),
  type: wordOf(...SEARCH_TYPES),
  limits: searchLimits,
};

/** A search database: any number of named indexes. Its documents are keys of the kv partition of its id. */
export const searchIndex = openRecord({
  ...newSearchIndexFields,
  /** Undefined once deleted. */
  tokens: optional(searchTokens),
  createdAtMs: integer,
  deletedAtMs: optional(integer),
});
export type SearchIndex = TypeOf<typeof searchIndex>;

const backupState = wordOf('pending', 'completed', 'failed');
export type BackupState = TypeOf<typeof backupState>;
export const endedState = wordOf('completed', 'failed');
export const newBackupFields = {
  id: backupId,
  database: databaseId,
  account: accountId,
  name: looseText(),
  isDaily: flag,
};

/** A moment of a database, kept in the object store. */
export const backup = openRecord({
  ...newBackupFields,
  state: backupState,
  createdAtMs: integer,
  /** 0 until it is completed. */
  bytes: integer,
  /** Names of the manifests of its partitions, in order of index; none until it is completed. */
  manifests: listOf(looseText()),
  /** Why it failed; '' otherwise. */
  reason: looseText(),
});
export type Backup = TypeOf<typeof backup>;

/** What is written into the audit log about a mutating call. */
const auditNoteFields = {
  /** E-mail of the person, or `operator` on the command line. */
  actor: looseText(),
  /** Number of the kind of call (audit-actions.ts). */
  action: integer,
  /** `API_KEY - <name of the key>`, `CONSOLE`, `COMMAND LINE`. */
  source: looseText(),
  /** Name of what was changed; '' when there is none. */
  entity: looseText(),
  secondaryEntity: looseText(),
  thirdEntity: looseText(),
  /** '' where there is none. */
  ip: looseText(),
  reason: looseText(),
};
export const auditNote = openRecord(auditNoteFields);
export type AuditNote = TypeOf<typeof auditNote>;

export const auditEntryFields = {
  /** Position among the entries of this installation: 1, 2, 3 … */
  number: integer,
  account: accountId,
  atMs: integer,
  ...auditNoteFields,
};
export const auditEntry = openRecord(auditEntryFields);
export type AuditEntry = TypeOf<typeof auditEntry>;
