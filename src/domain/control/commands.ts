/**
 * What can be asked of the control actor, and what it answers. Ids, tokens and sealed texts are made
 * by whoever asks: the same command asked twice gets the same answer.
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

/** One record of the meter's log, as far as the control state counts it. */
const meteredRecord = openRecord({
  position: integer,
  session: sessionId,
  /** 1, 2, 3 … within the session. */
  number: integer,
  day: integer,
  rows: listOf(openRecord({ database: databaseId, ...usageFields })),
});
export type MeteredRecord = TypeOf<typeof meteredRecord>;

/** What may be noted in the audit log: anything but a note. */
const notedCommands = {
  ...managementCommands,
  FirstStart: openKind(1, { account: newAccount, database: newDatabase }),
  CreateDatabase: openKind(2, { database: newDatabase }),
  ResetPassword: openKind(3, { database: databaseId, secrets: databaseSecrets }),
  UpdateLimits: openKind(4, {
    database: databaseId,
    /** Undefined: as it was. */
    maxCommandBytes: optional(integer),
    maxRequestsPerDay: optional(integer),
  }),
  DeleteDatabase: openKind(5, { database: databaseId }),
  /** Void unless the user is as it was seen (0: not there). The same again, with the same salt and rules, is answered alike. */
  SetUser: openKind(11, {
    database: databaseId,
    seenRevision: integer,
    name: looseText(),
    rules: looseText(),
    passwords: listOf(looseText()),
    /** The user's own, as it was seen; of a new user a random one. */
    salt: looseText(),
  }),
  DeleteUser: openKind(12, { database: databaseId, name: looseText() }),
  IssueUserToken: openKind(13, { token: userToken }),
  ListDatabases: openKind(6, {}),
  CreateAccount: openKind(14, { account: newAccount }),
  /** What is not named stays as it was. */
  SetAccountLimits: openKind(15, { account: accountId, limits: named(accountLimitFields) }),
  SetAccountState: openKind(16, { account: accountId, state: accountState }),
  ResetQueueTokens: openKind(17, { account: accountId, tokens: queueTokens }),
  /** The next key becomes the current one. Asked again with the same fresh key it changes nothing more. */
  RotateSigningKeys: openKind(18, { account: accountId, next: sealedSecret }),
  ListAccounts: openKind(19, {}),
  /** `known`: what this process has been granted for the day as far as it heard; a reply may have been lost. */
  LeaseQuota: openKind(7, { session: sessionId, database: databaseId, day: integer, known: integer, wanted: integer }),
  /** Void once this process has been granted anything more: what arrives late must not take that away. */
  ReturnQuota: openKind(8, {
    session: sessionId,
    database: databaseId,
    day: integer,
    /** All that it has been granted, and what of it was not used. */
    known: integer,
    unused: integer,
  }),
  EndSession: openKind(9, { session: sessionId }),
  /** Every process there is reads what may be written from here on; who asks has made sure of it. Answered as `FormatIs`. */
  RaiseFormat: openKind(49, { level: integer, by: looseText() }),
  /** Everything of the meter's log behind `after`, up to `position`. */
  FoldMeter: openKind(10, { after: integer, position: integer, records: listOf(meteredRecord) }),
};
export type NotedCommand = UnionOf<'type', typeof notedCommands>;

export const controlCommands = {
  ...notedCommands,
  /**
   * The command, and a line of the audit log in the same entry when it changed anything. Not nested. A database or queue
   * that the command names without an account is refused unless it belongs to this one.
   */
  Audited: openKind(20, {
    account: accountId,
    note: auditNote,
    command: union('type', notedCommands),
    /** Also when it changes nothing here: for what is changed elsewhere because of it. */
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
  /** The bound of the reason is in the message. */
  'TOO_MANY',
  /** Is not possible as things stand: a team that still owns something, a backup that is under way, the owner as a member. */
  'CONFLICTS',
  'BAD_VALUE',
);
export type RejectionReason = TypeOf<typeof rejectionReason>;

/** A database as it is shown: with what was used of it on the owner's day. */
const databaseView = openRecord({ database, today: usage });
export type DatabaseView = TypeOf<typeof databaseView>;

export const controlReplies = {
  ...managementReplies,
  Rejected: openKind(1, { reason: rejectionReason, message: looseText() }),
  /** `isNew` false: somebody was first, and these are theirs. */
  FirstStarted: openKind(2, { isNew: flag, account, database }),
  OneDatabase: openKind(3, { database }),
  OneAccount: openKind(12, { account }),
  Accounts: openKind(13, { accounts: listOf(account) }),
  /** The user as it is. `isSet` false: it was changed by somebody else since it was seen, or is gone (undefined). */
  UserIs: openKind(9, { isSet: flag, user: optional(aclUser) }),
  UserIsGone: openKind(10, { wasThere: flag }),
  UserTokenIsIssued: openKind(11, {}),
  Databases: openKind(4, { databases: listOf(databaseView) }),
  /** 0: nothing is left of the day's limit, as far as is known now. */
  QuotaLeased: openKind(5, { granted: integer }),
  /** What the process is still charged with. */
  QuotaReturned: openKind(6, { reserved: integer }),
  SessionIsOver: openKind(7, {}),
  /** Up to where the meter's log is counted. */
  MeterIsFolded: openKind(8, { position: integer }),
  FormatIs: openKind(23, { level: integer }),
};
export type ControlReply = UnionOf<'type', typeof controlReplies>;
