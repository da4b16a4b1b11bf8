/**
 * Commands and replies of the control actor. The caller makes ids, tokens and sealed texts, so the same command sent
 * twice gets the same answer.
 */
import {
  absent,
  flag,
  integer,
  listOf,
  looseText,
  named,
  openKind,
  openRecord,
  optional,
  type TypeOf,
  type UnionOf,
  union,
  wordOf,
} from '../../kernel/schema/index.js';
import { accountLimitFields, accountState } from '../queue/index.js';
import { accountId, databaseId, sessionId } from './ids.js';
import { auditNote } from './management.js';
import { managementCommands, managementReplies } from './management-commands.js';
import {
  account,
  aclUser,
  database,
  databaseSecrets,
  newAccount,
  newDatabase,
  queueTokens,
  usage,
  usageFields,
  userToken,
} from './records.js';
import { sealedSecret } from './sealed-secret.js';
import { triggerStart } from './triggers.js';

/** The part of a record of the meter's log that the control state counts. */
const meteredRecord = openRecord({
  position: integer,
  session: sessionId,
  /** 1, 2, 3 … within the session. */
  number: integer,
  day: integer,
  rows: listOf(openRecord({ database: databaseId, ...usageFields })),
});
export type MeteredRecord = TypeOf<typeof meteredRecord>;

/** Commands that can be noted in the audit log: all except `Audited` itself. */
const notedCommands = {
  ...managementCommands,
  FirstStart: openKind(1, { account: newAccount, database: newDatabase }),
  CreateDatabase: openKind(2, { database: newDatabase }),
  ResetPassword: openKind(3, { database: databaseId, secrets: databaseSecrets }),
  UpdateLimits: openKind(4, {
    database: databaseId,
    /** Undefined: unchanged. */
    maxCommandBytes: optional(integer),
    maxRequestsPerDay: optional(integer),
  }),
  DeleteDatabase: openKind(5, { database: databaseId }),
  /**
   * Changes the user only if its revision is `seenRevision` (0: it does not exist). A repetition with the same salt
   * and rules gets the same answer.
   */
  SetUser: openKind(11, {
    database: databaseId,
    seenRevision: integer,
    name: looseText(),
    rules: looseText(),
    passwords: listOf(looseText()),
    /** The salt of the user as read; a random one for a new user. */
    salt: looseText(),
  }),
  DeleteUser: openKind(12, { database: databaseId, name: looseText() }),
  IssueUserToken: openKind(13, { token: userToken }),
  ListDatabases: openKind(6, {}),
  CreateAccount: openKind(14, { account: newAccount }),
  /** Limits that are not named stay unchanged. */
  SetAccountLimits: openKind(15, { account: accountId, limits: named(accountLimitFields) }),
  SetAccountState: openKind(16, { account: accountId, state: accountState }),
  ResetQueueTokens: openKind(17, { account: accountId, tokens: queueTokens }),
  /** The next key becomes the current one. A repetition with the same fresh key changes no state. */
  RotateSigningKeys: openKind(18, { account: accountId, next: sealedSecret }),
  ListAccounts: openKind(19, {}),
  /** `known`: the sum of grants for the day that this process has received; a reply may have been lost. */
  LeaseQuota: openKind(7, { session: sessionId, database: databaseId, day: integer, known: integer, wanted: integer }),
  /** Ignored if this process has been granted more since, because a late command must not take that away. */
  ReturnQuota: openKind(8, {
    session: sessionId,
    database: databaseId,
    day: integer,
    /** The sum of its grants, and the unused part of it. */
    known: integer,
    unused: integer,
  }),
  EndSession: openKind(9, { session: sessionId }),
  /**
   * Raises the format level. The caller has checked that every process can read that level. Answered with `FormatIs`.
   */
  RaiseFormat: openKind(49, { level: integer, by: looseText() }),
  /** Begins to change the number of partitions. Answered with `OneDatabase`, as its steps are. */
  ChangePartitions: openKind(59, { database: databaseId, partitions: integer }),
  AdvancePartitions: openKind(60, {
    database: databaseId,
    /** The attempt that the caller knows; any other is refused. */
    attempt: integer,
    /** `attempt`: the copy begins, for the first time or again. */
    to: wordOf('attempt', 'copying', 'switched', 'abandoning', 'failed', 'ended'),
    percent: integer,
    reason: looseText(),
    /** With `switched`: the ends of the journals of both layouts, when the old partitions were closed and the new ones open. */
    ends: absent(listOf(triggerStart)),
  }),
  /** All records of the meter's log after `after` and up to `position`. */
  FoldMeter: openKind(10, { after: integer, position: integer, records: listOf(meteredRecord) }),
};
export const controlCommands = {
  ...notedCommands,
  /**
   * A command with a line for the audit log; if it changes the state, both are in one entry. Not nested. A database
   * or queue that the command names without an account must belong to this one.
   */
  Audited: openKind(20, {
    account: accountId,
    note: auditNote,
    command: union('type', notedCommands),
    /** Writes the line even without a change here, for changes made elsewhere because of the command. */
    always: absent(flag),
  }),
};
export type ControlCommand = UnionOf<'type', typeof controlCommands>;

export type ControlCommandOf<Type extends ControlCommand['type']> = Extract<ControlCommand, { readonly type: Type }>;

const rejectionReason = wordOf(
  'UNKNOWN_DATABASE',
  'UNKNOWN_ACCOUNT',
  'NAME_TAKEN',
  'ID_TAKEN',
  'SECRET_TAKEN',
  'BAD_NAME',
  'BAD_PARTITIONS',
  'BAD_LIMITS',
  'TOO_MANY_DATABASES',
  'DAY_CLOSED',
  'UNKNOWN_USER',
  'BAD_USER',
  'TOO_MANY_USERS',
  'TOO_MANY_ACCOUNTS',
  // ── of the management API ──
  'UNKNOWN_SEARCH_INDEX',
  'UNKNOWN_TEAM',
  'UNKNOWN_MEMBER',
  'UNKNOWN_KEY',
  'UNKNOWN_BACKUP',
  'UNKNOWN_ALERT_RULE',
  'UNKNOWN_TRIGGER',
  'UNKNOWN_ROLE',
  'UNKNOWN_ASSIGNMENT',
  /** The message names the bound. */
  'TOO_MANY',
  /**
   * Not possible in the present state: a team that still owns something, a backup in progress, the owner as a member.
   */
  'CONFLICTS',
  'BAD_VALUE',
);
export type RejectionReason = TypeOf<typeof rejectionReason>;

/** A database as it is shown, with its use on the owner's present day. */
const databaseView = openRecord({ database, today: usage });
export type DatabaseView = TypeOf<typeof databaseView>;

export const controlReplies = {
  ...managementReplies,
  Rejected: openKind(1, { reason: rejectionReason, message: looseText() }),
  /** `isNew` false: another process was first, and these are its records. */
  FirstStarted: openKind(2, { isNew: flag, account, database }),
  OneDatabase: openKind(3, { database }),
  OneAccount: openKind(12, { account }),
  Accounts: openKind(13, { accounts: listOf(account) }),
  /** The present user. `isSet` false: another change came first, or the user no longer exists (undefined). */
  UserIs: openKind(9, { isSet: flag, user: optional(aclUser) }),
  UserIsGone: openKind(10, { wasThere: flag }),
  UserTokenIsIssued: openKind(11, {}),
  Databases: openKind(4, { databases: listOf(databaseView) }),
  /** 0: the day's limit is used up, as far as known now. */
  QuotaLeased: openKind(5, { granted: integer }),
  /** The amount still charged to the process. */
  QuotaReturned: openKind(6, { reserved: integer }),
  SessionIsOver: openKind(7, {}),
  /** The position up to which the meter's log is counted. */
  MeterIsFolded: openKind(8, { position: integer }),
  FormatIs: openKind(23, { level: integer }),
};
export type ControlReply = UnionOf<'type', typeof controlReplies>;
