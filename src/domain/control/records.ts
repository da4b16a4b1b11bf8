/** What the control state is made of. Secrets are here as a hash to compare and as sealed text to show again, never clear. */
import type { AccountId, DatabaseId, SessionId } from '../../kernel/index.js';
import type { AccountLimits, AccountState } from '../queue/index.js';
import type { AccountPlan, DatabaseSettings, Team } from './management.js';
import type { SealedSecret } from './sealed-secret.js';

/** Of a token that calls present. */
export type TokenRole = 'standard' | 'read-only';

export interface DatabaseSecrets {
  readonly standardToken: SealedSecret;
  readonly readOnlyToken: SealedSecret;
  readonly password: SealedSecret;
}

export interface DatabaseLimits {
  /** Bytes of one command's words, and of one reply. */
  readonly maxCommandBytes: number;
  /** Commands a day (UTC); 0: no limit. */
  readonly maxRequestsPerDay: number;
  /** Bytes of keys and values, of all partitions; undefined or 0: the engine's own bound. */
  readonly maxDataBytes?: number | undefined;
  /** Beyond it commands wait; undefined or 0: no limit. */
  readonly maxCommandsPerSecond?: number | undefined;
  /** In and out, a UTC month; beyond it commands are slowed down. Undefined or 0: no limit. */
  readonly maxBytesPerMonth?: number | undefined;
  /** Of the native protocol, in one process; undefined or 0: the process's own bound. */
  readonly maxConnections?: number | undefined;
}

export interface Database {
  readonly id: DatabaseId;
  readonly name: string;
  readonly account: AccountId;
  /** Fixed for ever: keys are placed by it. */
  readonly partitions: number;
  readonly limits: DatabaseLimits;
  /** Undefined once deleted: nothing opens it any more. */
  readonly secrets: DatabaseSecrets | undefined;
  readonly createdAtMs: number;
  /** Its name is free again; its id never is. */
  readonly deletedAtMs: number | undefined;
  /** Undefined: DEFAULT_DATABASE_SETTINGS. */
  readonly settings?: DatabaseSettings | undefined;
}

/** An ACL user of a database. `default` and `default_ro` are not records: they follow from the database's own. */
export interface AclUserRecord {
  readonly name: string;
  /** As domain/kv/acl shows them, without passwords; nothing here reads them. */
  readonly rules: string;
  /** SHA-256 of each password, 64 lower-case hex digits. */
  readonly passwords: readonly string[];
  /** Random, given once: makes the user's REST tokens unlike anybody else's. Hex digits. */
  readonly salt: string;
  /** Grows with every change; whoever changes the user says which one was seen. 1 at first. */
  readonly revision: number;
}

/** A REST token of a user; good for as long as the user has that password. */
export interface UserToken {
  readonly database: DatabaseId;
  readonly user: string;
  /** SHA-256 of the password it was asked for with. */
  readonly password: string;
  /** Of the token. */
  readonly sha256: string;
}

export const ACCOUNT_SECRETS = ['queueToken', 'mgmtKey', 'signingKeyCurrent', 'signingKeyNext'] as const;
export type AccountSecret = (typeof ACCOUNT_SECRETS)[number];

export interface Account {
  readonly id: AccountId;
  readonly name: string;
  readonly email: string;
  readonly secrets: Readonly<Record<AccountSecret, SealedSecret>>;
  readonly createdAtMs: number;
  /** Of its queue, for those who only look; accounts of older releases have none until their tokens are reset. */
  readonly readOnlyToken?: SealedSecret | undefined;
  /** Of its queue; undefined: the installation's defaults. */
  readonly limits?: AccountLimits | undefined;
  /** Undefined: active. */
  readonly state?: AccountState | undefined;
  /** Undefined: DEFAULT_ACCOUNT_PLAN. */
  readonly plan?: AccountPlan | undefined;
  /** Undefined: a person's own account, or only a queue. */
  readonly team?: Team | undefined;
  /** Whose its queue is; undefined: its own. An account whose queue was made for another has no people of its own. */
  readonly queueOwner?: AccountId | undefined;
}

/** What opens an account's queue. */
export interface QueueTokens {
  readonly queueToken: SealedSecret;
  readonly readOnlyToken: SealedSecret;
}

/** Days since 1970-01-01 UTC. */
export type UtcDay = number;

/** What was used of a database on one day, by the meter. */
export interface Usage {
  readonly commands: number;
  readonly writes: number;
  readonly errors: number;
  readonly bytesIn: number;
  readonly bytesOut: number;
}

export const NO_USAGE: Usage = { commands: 0, writes: 0, errors: 0, bytesIn: 0, bytesOut: 0 };

/** One process's use of one database on one day. */
export interface UsageRow extends Usage {
  readonly database: DatabaseId;
  readonly day: UtcDay;
  readonly session: SessionId;
}

/** The number of the last record that was counted of a process; what it sends twice is counted once. */
export interface MeterMark {
  readonly session: SessionId;
  readonly number: number;
  readonly day: UtcDay;
}

const DAY_MS = 86_400_000;

export function utcDayOf(atMs: number): UtcDay {
  return Math.floor(atMs / DAY_MS);
}

export interface NewDatabase {
  readonly id: DatabaseId;
  readonly name: string;
  /** Undefined: the first account. */
  readonly account: AccountId | undefined;
  readonly partitions: number;
  readonly limits: DatabaseLimits;
  readonly secrets: DatabaseSecrets;
  readonly settings?: DatabaseSettings | undefined;
}

export interface NewAccount {
  readonly id: AccountId;
  readonly name: string;
  readonly email: string;
  readonly secrets: Readonly<Record<AccountSecret, SealedSecret>>;
  readonly readOnlyToken?: SealedSecret | undefined;
  readonly limits?: AccountLimits | undefined;
}
