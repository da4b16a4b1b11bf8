/**
 * What the management API keeps of databases, accounts, teams, keys, search indexes and backups. People are known by
 * their e-mail, lower case. Instants are milliseconds since the Unix epoch.
 */
import type { AccountId, ApiKeyId, BackupId, DatabaseId } from '../../kernel/index.js';
import type { SealedSecret } from './sealed-secret.js';

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
export interface DatabaseSettings {
  /** `aws`, `gcp` or nothing, as it was asked for; places nothing. */
  readonly platform: string;
  /** `global`, or the plain region of a request without replicas. */
  readonly region: string;
  readonly primaryRegion: string;
  readonly readRegions: readonly string[];
  readonly plan: DatabasePlan;
  /** Dollars a month; 0: no limit. */
  readonly budgetDollars: number;
  /** A full database drops keys of its own choice, rather than refusing writes. */
  readonly isEvicting: boolean;
  /** Moves to the next plan when a limit is reached. */
  readonly isAutoUpgrading: boolean;
  readonly hasProdPack: boolean;
  /** IPv4 addresses and CIDR blocks; empty: everybody may connect. */
  readonly allowedIps: readonly string[];
  readonly hasDailyBackup: boolean;
  /** Opens the account's scrape endpoint for this database; undefined: it is off. */
  readonly prometheusToken: SealedSecret | undefined;
  readonly isSuspended: boolean;
  /** 0: never. */
  readonly lastPlanUpgradeAtMs: number;
}

/** Of a database that the management API has never touched. */
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

export const RESERVED_PLANS = ['msgq_fixed_1m', 'msgq_fixed_10m', 'msgq_fixed_100m'] as const;
export type ReservedPlan = (typeof RESERVED_PLANS)[number];
export const QUEUE_REGIONS = ['eu-central-1', 'us-east-1'] as const;
type QueueRegion = (typeof QUEUE_REGIONS)[number];

/** The commercial side of an account's queue; its limits are `AccountLimits`. */
export interface AccountPlan {
  readonly type: 'free' | 'paid';
  /** '' without a reserved tier. */
  readonly reserved: ReservedPlan | '';
  readonly hasProdPack: boolean;
  readonly region: QueueRegion;
  /** Dollars a month; 0: no limit. What limits messages is `AccountLimits.budgetCents`. */
  readonly budgetDollars: number;
  /** 0: never. */
  readonly lastPlanUpgradeAtMs: number;
  /** Opens the scrape endpoint for this queue and the databases of its owner; undefined: it is off. */
  readonly prometheusToken?: SealedSecret | undefined;
}

/** Of an account that nobody gave a plan. */
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

export interface TeamMember {
  readonly email: string;
  readonly role: TeamRole;
}

/** Makes an account a team: many people act for it. The owner is its first member, for ever. */
export interface Team {
  readonly members: readonly TeamMember[];
  /** Kept and shown; no card is charged here. */
  readonly copiesCard: boolean;
}

/** What a person signs in with to act for one account. The secret itself is shown once and kept nowhere. */
export interface ApiKey {
  readonly id: ApiKeyId;
  readonly account: AccountId;
  readonly email: string;
  /** Unique among the keys of this person. */
  readonly name: string;
  /** Of the secret, 64 lower-case hex digits. */
  readonly sha256: string;
  readonly isReadOnly: boolean;
  readonly createdAtMs: number;
}

export const SEARCH_REGIONS = ['eu-west-1', 'us-central1'] as const;
export type SearchRegion = (typeof SEARCH_REGIONS)[number];
export const SEARCH_TYPES = ['free', 'payg', 'fixed'] as const;
export type SearchType = (typeof SEARCH_TYPES)[number];

/** -1 where it says so: no limit. */
export interface SearchLimits {
  /** Documents of all its indexes together. */
  readonly maxVectorCount: number;
  /** -1: no limit. */
  readonly maxMonthlyReranks: number;
  /** Upserted documents a UTC day; -1: no limit. */
  readonly maxDailyUpdates: number;
  /** -1: no limit. */
  readonly maxDailyQueries: number;
  /** Bytes; -1: no limit. */
  readonly maxMonthlyBandwidth: number;
  readonly maxWritesPerSecond: number;
  readonly maxQueryPerSecond: number;
  /** Results of a query, ids of a fetch. */
  readonly maxReadsPerRequest: number;
  /** Documents of an upsert. */
  readonly maxWritesPerRequest: number;
}

export interface SearchTokens {
  readonly token: SealedSecret;
  readonly readOnlyToken: SealedSecret;
}

/** A search database: any number of named indexes. Its documents are keys of the kv partition of its id. */
export interface SearchIndex {
  readonly id: DatabaseId;
  readonly name: string;
  readonly account: AccountId;
  readonly region: SearchRegion;
  readonly type: SearchType;
  readonly limits: SearchLimits;
  /** Undefined once deleted. */
  readonly tokens: SearchTokens | undefined;
  readonly createdAtMs: number;
  readonly deletedAtMs: number | undefined;
}

export type BackupState = 'pending' | 'completed' | 'failed';

/** A moment of a database, kept in the object store. */
export interface Backup {
  readonly id: BackupId;
  readonly database: DatabaseId;
  readonly account: AccountId;
  readonly name: string;
  readonly isDaily: boolean;
  readonly state: BackupState;
  readonly createdAtMs: number;
  /** 0 until it is completed. */
  readonly bytes: number;
  /** Names of the manifests of its partitions, in order of index; none until it is completed. */
  readonly manifests: readonly string[];
  /** Why it failed; '' otherwise. */
  readonly reason: string;
}

/** What is written into the audit log about a mutating call. */
export interface AuditNote {
  /** E-mail of the person, or `operator` on the command line. */
  readonly actor: string;
  /** Number of the kind of call (audit-actions.ts). */
  readonly action: number;
  /** `API_KEY - <name of the key>`, `CONSOLE`, `COMMAND LINE`. */
  readonly source: string;
  /** Name of what was changed; '' when there is none. */
  readonly entity: string;
  readonly secondaryEntity: string;
  readonly thirdEntity: string;
  /** '' where there is none. */
  readonly ip: string;
  readonly reason: string;
}

export interface AuditEntry extends AuditNote {
  /** Position among the entries of this installation: 1, 2, 3 … */
  readonly number: number;
  readonly account: AccountId;
  readonly atMs: number;
}
