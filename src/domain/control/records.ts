/**
 * Records of the control state. A secret is stored as a hash for comparison and as sealed text for display, never in
 * clear. The order of fields is the stored format: SHP1 (a field is never moved or removed; a new one comes last) and
 * SHP4 (open records write no last fields without a value).
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
import { accountLimits, accountState } from '../queue/index.js';
import { accountId, databaseId, sessionId } from './ids.js';
import { accountPlan, databaseSettings, team } from './management.js';
import { sealedSecret } from './sealed-secret.js';
import { triggerStart } from './triggers.js';

/** The rights of a presented token. */
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
  /** Commands per UTC day; 0: no limit. */
  maxRequestsPerDay: integer,
  /** Bytes of keys and values of all partitions; undefined or 0: the engine's own bound. */
  maxDataBytes: absent(integer),
  /** Commands above this wait; undefined or 0: no limit. */
  maxCommandsPerSecond: absent(integer),
  /** Bytes in and out per UTC month; above this commands are slowed down. Undefined or 0: no limit. */
  maxBytesPerMonth: absent(integer),
  /** Connections of the native protocol in one process; undefined or 0: the process's own bound. */
  maxConnections: absent(integer),
};
export const databaseLimits = openRecord(databaseLimitFields);
export type DatabaseLimits = TypeOf<typeof databaseLimits>;

/** A database that begins with the data of another one. */
export const branch = openRecord({
  origin: databaseId,
  /** The moment of its first data. */
  atMs: integer,
  /** Then it is deleted. */
  expiresAtMs: integer,
  /** Messages that its commands publish are sent; otherwise they are held. */
  isLive: flag,
});
export type Branch = TypeOf<typeof branch>;
/** The layout that a database has besides its present one, while its number of partitions is changed. */
export const layoutChange = openRecord({
  /**
   * copying: the other layout is filled. switched: the other layout is the old one and is emptied. abandoning: the
   * present layout goes on, and the other one is emptied. failed: it ended so, for the reason.
   */
  phase: wordOf('copying', 'switched', 'abandoning', 'failed'),
  firstPartition: integer,
  partitions: integer,
  startedAtMs: integer,
  /** The number of the present copy; it grows with each one, so that partitions refuse steps of earlier ones. */
  attempt: integer,
  /** The copied part. */
  percent: integer,
  reason: looseText(),
});
export type LayoutChange = TypeOf<typeof layoutChange>;

/** The layout before the present one, for those who read its journals. */
export const formerLayout = openRecord({
  firstPartition: integer,
  partitions: integer,
  /** Its journals were its own after these positions; none: from the beginning. */
  starts: listOf(triggerStart),
  /** Up to these positions its journals were its own, and after them the present layout's are. */
  ends: listOf(triggerStart),
});
export type FormerLayout = TypeOf<typeof formerLayout>;

export const database = openRecord({
  id: databaseId,
  name: looseText(),
  account: accountId,
  /** Keys are placed by it, so it changes only with a copy of all keys. */
  partitions: integer,
  limits: databaseLimits,
  /** Undefined after deletion: no token or password is valid then. */
  secrets: optional(databaseSecrets),
  createdAtMs: integer,
  /** After deletion the name may be used again, the id never. */
  deletedAtMs: optional(integer),
  /** Undefined: DEFAULT_DATABASE_SETTINGS. */
  settings: absent(databaseSettings),
  /** Cluster clients of Redis are told the owners of its slots; undefined: it is one node to them. Never changes. */
  isCluster: absent(flag),
  /** Undefined: it began empty. Never changes. */
  branch: absent(branch),
  /** The number of its first partition; undefined: 0. Earlier layouts had lower numbers. */
  firstPartition: absent(integer),
  /** Undefined: the number of partitions is not being changed, and the last change has not failed. */
  layoutChange: absent(layoutChange),
  /** Undefined: the number of partitions was never changed. */
  former: absent(formerLayout),
});
export type Database = TypeOf<typeof database>;

/** The number after those of all its partitions. */
export function endOfPartitions({ firstPartition = 0, partitions, layoutChange }: Database): number {
  const other = layoutChange === undefined ? 0 : layoutChange.firstPartition + layoutChange.partitions;
  return Math.max(firstPartition + partitions, other);
}

/** Its number of partitions is being changed. */
export function isChangingLayout({ layoutChange }: Database): boolean {
  return layoutChange !== undefined && layoutChange.phase !== 'failed';
}

/**
 * An ACL user of a database. `default` and `default_ro` have no records: they are derived from the database's
 * secrets.
 */
export const aclUserFields = {
  name: looseText(),
  /** The text form of domain/kv/acl without passwords; not parsed here. */
  rules: looseText(),
  /** SHA-256 of each password, 64 lower-case hex digits. */
  passwords: listOf(looseText()),
  /** Random hex digits, set once: makes the user's REST tokens unique. */
  salt: looseText(),
  /** Starts at 1 and grows with every change; a change names the revision that its caller read. */
  revision: integer,
};
export const aclUser = openRecord(aclUserFields);
export type AclUserRecord = TypeOf<typeof aclUser>;

/** A REST token of a user, valid as long as the user has that password. */
export const userTokenFields = {
  database: databaseId,
  user: looseText(),
  /** SHA-256 of the password that the token was issued for. */
  password: looseText(),
  /** The digest of the token. */
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
  /** Read-only access to the queue; accounts of older releases have none until their tokens are reset. */
  readOnlyToken: absent(sealedSecret),
  /** Limits of the queue; undefined: the installation's defaults. */
  limits: absent(accountLimits),
  /** Undefined: active. */
  state: absent(accountState),
  /** Undefined: DEFAULT_ACCOUNT_PLAN. */
  plan: absent(accountPlan),
  /** Undefined: a person's own account, or only a queue. */
  team: absent(team),
  /** The account that owns the queue; undefined: this one. An account created as another's queue has no people. */
  queueOwner: absent(accountId),
});
export type Account = TypeOf<typeof account>;

/** The tokens of an account's queue. */
export const queueTokens = openRecord({ queueToken: sealedSecret, readOnlyToken: sealedSecret });
export type QueueTokens = TypeOf<typeof queueTokens>;

/** Days since 1970-01-01 UTC. */
export type UtcDay = number;

/** Metered use of a database on one day. */
export const usageFields = { commands: integer, writes: integer, errors: integer, bytesIn: integer, bytesOut: integer };
export const usage = openRecord(usageFields);
export type DayUsage = TypeOf<typeof usage>;

export const NO_USAGE: DayUsage = { commands: 0, writes: 0, errors: 0, bytesIn: 0, bytesOut: 0 };

/** One process's use of one database on one day. */
export const usageRow = openRecord({ database: databaseId, day: integer, session: sessionId, ...usageFields });
export type UsageRow = TypeOf<typeof usageRow>;

/** The number of a process's last counted record, so that a repeated record is counted once. */
const meterMark = openRecord({ session: sessionId, number: integer, day: integer });
export type MeterMark = TypeOf<typeof meterMark>;
export const meterMarks = listOf(meterMark);

const DAY_MS = 86_400_000;

export function utcDayOf(atMs: number): UtcDay {
  return Math.floor(atMs / DAY_MS);
}

/** The form of a new record within commands; it is not journaled as such. */
export const newDatabase = openRecord({
  id: databaseId,
  name: looseText(),
  /** Undefined: the first account. */
  account: optional(accountId),
  partitions: integer,
  limits: databaseLimits,
  secrets: databaseSecrets,
  settings: absent(databaseSettings),
  isCluster: absent(flag),
  branch: absent(branch),
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
