/**
 * What the control state is made of. Secrets are here as a hash to compare and as sealed text to show again, never clear.
 * The order of fields is the format (S1 and S4 of kernel/schema): it is only added to.
 */
import { absent, integer, listOf, looseText, openRecord, optional, type TypeOf } from '../../kernel/schema/index.js';
import { accountLimits, accountState } from '../queue/index.js';
import { accountId, databaseId, sessionId } from './ids.js';
import { accountPlan, databaseSettings, team } from './management.js';
import { sealedSecret } from './sealed-secret.js';

/** It is what a token that calls present may do. */
export type TokenRole = 'standard' | 'read-only';

export const databaseSecrets = openRecord({
  standardToken: sealedSecret,
  readOnlyToken: sealedSecret,
  password: sealedSecret,
});
export type DatabaseSecrets = TypeOf<typeof databaseSecrets>;

export const databaseLimitFields = {
  /** Bytes of one command's words, and of one reply. */
  maxCommandBytes: integer,
  /** Commands a day (UTC); 0: no limit. */
  maxRequestsPerDay: integer,
  /** Bytes of keys and values, of all partitions; undefined or 0: the engine's own bound. */
  maxDataBytes: absent(integer),
  /** Beyond it commands wait; undefined or 0: no limit. */
  maxCommandsPerSecond: absent(integer),
  /** In and out, a UTC month; beyond it commands are slowed down. Undefined or 0: no limit. */
  maxBytesPerMonth: absent(integer),
  /** They are those of the native protocol, in one process; undefined or 0: the process's own bound. */
  maxConnections: absent(integer),
};
export const databaseLimits = openRecord(databaseLimitFields);
export type DatabaseLimits = TypeOf<typeof databaseLimits>;

export const database = openRecord({
  id: databaseId,
  name: looseText(),
  account: accountId,
  /** Fixed for ever: keys are placed by it. */
  partitions: integer,
  limits: databaseLimits,
  /** Undefined once deleted: nothing opens it any more. */
  secrets: optional(databaseSecrets),
  createdAtMs: integer,
  /** Its name is free again; its id never is. */
  deletedAtMs: optional(integer),
  /** Undefined: DEFAULT_DATABASE_SETTINGS. */
  settings: absent(databaseSettings),
});
export type Database = TypeOf<typeof database>;

/** An ACL user of a database. `default` and `default_ro` are not records: they follow from the database's own. */
export const aclUserFields = {
  name: looseText(),
  /** They stand as domain/kv/acl shows them, without passwords; nothing here reads them. */
  rules: looseText(),
  /** SHA-256 of each password, 64 lower-case hex digits. */
  passwords: listOf(looseText()),
  /** Random, given once: makes the user's REST tokens unlike anybody else's. Hex digits. */
  salt: looseText(),
  /** Grows with every change; whoever changes the user says which one was seen. 1 at first. */
  revision: integer,
};
export const aclUser = openRecord(aclUserFields);
export type AclUserRecord = TypeOf<typeof aclUser>;

/** A REST token of a user; good for as long as the user has that password. */
export const userTokenFields = {
  database: databaseId,
  user: looseText(),
  /** SHA-256 of the password it was asked for with. */
  password: looseText(),
  /** It is the digest of the token. */
  sha256: looseText(),
};
export const userToken = openRecord(userTokenFields);
export type UserToken = TypeOf<typeof userToken>;

export const ACCOUNT_SECRETS = ['queueToken', 'mgmtKey', 'signingKeyCurrent', 'signingKeyNext'] as const;
export type AccountSecret = (typeof ACCOUNT_SECRETS)[number];

export const accountSecrets = openRecord({
  queueToken: sealedSecret,
  mgmtKey: sealedSecret,
  signingKeyCurrent: sealedSecret,
  signingKeyNext: sealedSecret,
});

export const account = openRecord({
  id: accountId,
  name: looseText(),
  email: looseText(),
  secrets: accountSecrets,
  createdAtMs: integer,
  /** It opens its queue to those who only look; accounts of older releases have none until their tokens are reset. */
  readOnlyToken: absent(sealedSecret),
  /** They are those of its queue; undefined: the installation's defaults. */
  limits: absent(accountLimits),
  /** Undefined: active. */
  state: absent(accountState),
  /** Undefined: DEFAULT_ACCOUNT_PLAN. */
  plan: absent(accountPlan),
  /** Undefined: a person's own account, or only a queue. */
  team: absent(team),
  /** Whose its queue is; undefined: its own. An account whose queue was made for another has no people of its own. */
  queueOwner: absent(accountId),
});
export type Account = TypeOf<typeof account>;

/** What opens an account's queue. */
export const queueTokens = openRecord({ queueToken: sealedSecret, readOnlyToken: sealedSecret });
export type QueueTokens = TypeOf<typeof queueTokens>;

/** Days since 1970-01-01 UTC. */
export type UtcDay = number;

/** What was used of a database on one day, by the meter. */
export const usageFields = { commands: integer, writes: integer, errors: integer, bytesIn: integer, bytesOut: integer };
export const usage = openRecord(usageFields);
export type DayUsage = TypeOf<typeof usage>;

export const NO_USAGE: DayUsage = { commands: 0, writes: 0, errors: 0, bytesIn: 0, bytesOut: 0 };

/** One process's use of one database on one day. */
export const usageRow = openRecord({ database: databaseId, day: integer, session: sessionId, ...usageFields });
export type UsageRow = TypeOf<typeof usageRow>;

/** The number of the last record that was counted of a process; what it sends twice is counted once. */
const meterMark = openRecord({ session: sessionId, number: integer, day: integer });
export type MeterMark = TypeOf<typeof meterMark>;
export const meterMarks = listOf(meterMark);

const DAY_MS = 86_400_000;

export function utcDayOf(atMs: number): UtcDay {
  return Math.floor(atMs / DAY_MS);
}

/** What a command makes; it never gets into the journal as such. */
export const newDatabase = openRecord({
  id: databaseId,
  name: looseText(),
  /** Undefined: the first account. */
  account: optional(accountId),
  partitions: integer,
  limits: databaseLimits,
  secrets: databaseSecrets,
  settings: absent(databaseSettings),
});
export type NewDatabase = TypeOf<typeof newDatabase>;

export const newAccount = openRecord({
  id: accountId,
  name: looseText(),
  email: looseText(),
  secrets: accountSecrets,
  readOnlyToken: absent(sealedSecret),
  limits: absent(accountLimits),
});
export type NewAccount = TypeOf<typeof newAccount>;
