/**
 * What happened to databases, accounts and quotas. Types keep their numbers and fields their places for ever; anything
 * but a new optional last field is a new type (test/fixtures/journals/control-events.json).
 *
 * The last group is found in snapshots only: it says in absolute terms what many events led to.
 */
import { integer, listOf, looseText, openKind, openRecord, type UnionOf } from '../../kernel/schema/index.js';
import { accountLimits, accountState } from '../queue/index.js';
import { accountId, apiKeyId, backupId, databaseId, sessionId } from './ids.js';
import {
  accountPlan,
  apiKeyFields,
  auditEntryFields,
  databaseSettings,
  endedState,
  newBackupFields,
  newSearchIndexFields,
  searchLimits,
  searchTokens,
  team,
} from './management.js';
import {
  accountSecrets,
  aclUserFields,
  databaseLimits,
  databaseSecrets,
  meterMarks,
  usageFields,
  usageRow,
  userTokenFields,
} from './records.js';
import { sealedSecret } from './sealed-secret.js';
import { signedOutFields } from './signed-out.js';

export const controlEvents = {
  AccountCreated: openKind(1, {
    id: accountId,
    name: looseText(),
    email: looseText(),
    secrets: accountSecrets,
    createdAtMs: integer,
  }),
  AccountLimitsSet: openKind(17, { account: accountId, limits: accountLimits, atMs: integer }),
  AccountStateSet: openKind(18, { account: accountId, state: accountState, atMs: integer }),
  /** The old tokens of its queue are worth nothing from here on. */
  QueueTokensSet: openKind(19, {
    account: accountId,
    queueToken: sealedSecret,
    readOnlyToken: sealedSecret,
    atMs: integer,
  }),
  SigningKeysRotated: openKind(20, { account: accountId, current: sealedSecret, next: sealedSecret, atMs: integer }),
  DatabaseCreated: openKind(2, {
    id: databaseId,
    name: looseText(),
    account: accountId,
    partitions: integer,
    limits: databaseLimits,
    secrets: databaseSecrets,
    createdAtMs: integer,
  }),
  /** Which account and database the first start made: there is one first start. */
  FirstStarted: openKind(3, { account: accountId, database: databaseId, atMs: integer }),
  /** The old password and both old tokens are worth nothing from here on. */
  PasswordReset: openKind(4, { database: databaseId, secrets: databaseSecrets, atMs: integer }),
  LimitsUpdated: openKind(5, { database: databaseId, limits: databaseLimits, atMs: integer }),
  /** Made, or changed; tokens of passwords that it no longer has are worth nothing from here on. */
  UserSet: openKind(14, { database: databaseId, atMs: integer, ...aclUserFields }),
  UserDeleted: openKind(15, { database: databaseId, name: looseText(), atMs: integer }),
  UserTokenIssued: openKind(16, { ...userTokenFields, atMs: integer }),
  DatabaseDeleted: openKind(6, { database: databaseId, atMs: integer }),
  /** The share of a day's limit that a process holds or has used, in all. */
  QuotaReserved: openKind(7, { database: databaseId, day: integer, session: sessionId, reserved: integer }),
  /** A process is gone: of what it held, only what it was seen using stays used. */
  SessionEnded: openKind(8, { session: sessionId, atMs: integer }),
  MeterFolded: openKind(9, {
    /** In the meter's log: everything up to it is counted. */
    position: integer,
    marks: meterMarks,
    /** They are added. There is one for each database, day and process. */
    rows: listOf(usageRow),
  }),
  // ── of the management API ──
  DatabaseSettingsSet: openKind(21, { database: databaseId, settings: databaseSettings, atMs: integer }),
  DatabaseRenamed: openKind(22, { database: databaseId, name: looseText(), atMs: integer }),
  DatabaseMoved: openKind(23, { database: databaseId, account: accountId, atMs: integer }),
  AccountPlanSet: openKind(24, { account: accountId, plan: accountPlan, atMs: integer }),
  /** The account is a team from here on, with just these members. */
  TeamSet: openKind(25, { account: accountId, team, atMs: integer }),
  /** The queue of this account belongs to that one: its owner sees it, pays for it and changes it. */
  QueueMoved: openKind(26, { account: accountId, owner: accountId, atMs: integer }),
  /** A team that owned nothing, or what was only a queue of it; its tokens and keys are worth nothing from here on. */
  AccountDeleted: openKind(27, { account: accountId, atMs: integer }),
  ApiKeyCreated: openKind(28, apiKeyFields),
  ApiKeyDeleted: openKind(29, { id: apiKeyId, atMs: integer }),
  SearchIndexCreated: openKind(30, {
    index: openRecord({ ...newSearchIndexFields, tokens: searchTokens, createdAtMs: integer }),
  }),
  /** In absolute form: all that can change of one. The old tokens are worth nothing from here on. */
  SearchIndexSet: openKind(31, {
    index: databaseId,
    name: looseText(),
    account: accountId,
    limits: searchLimits,
    tokens: searchTokens,
    atMs: integer,
  }),
  SearchIndexDeleted: openKind(32, { index: databaseId, atMs: integer }),
  BackupStarted: openKind(33, { ...newBackupFields, createdAtMs: integer }),
  BackupEnded: openKind(34, {
    backup: backupId,
    state: endedState,
    bytes: integer,
    manifests: listOf(looseText()),
    reason: looseText(),
    atMs: integer,
  }),
  BackupDeleted: openKind(35, { backup: backupId, atMs: integer }),
  AuditNoted: openKind(36, auditEntryFields),
  SignedOut: openKind(38, { ...signedOutFields, atMs: integer }),
  /** From here on forms of this level may be stored, here and in every other journal. */
  FormatRaised: openKind(39, { level: integer, by: looseText(), atMs: integer }),
  // ── in snapshots only ──
  SearchTombstoneRestored: openKind(37, {
    index: openRecord({ ...newSearchIndexFields, createdAtMs: integer, deletedAtMs: integer }),
  }),
  TombstoneRestored: openKind(10, {
    id: databaseId,
    name: looseText(),
    account: accountId,
    partitions: integer,
    limits: databaseLimits,
    createdAtMs: integer,
    deletedAtMs: integer,
  }),
  QuotaRestored: openKind(11, {
    database: databaseId,
    day: integer,
    settled: integer,
    shares: listOf(openRecord({ session: sessionId, reserved: integer, metered: integer })),
  }),
  UsageRestored: openKind(12, { database: databaseId, day: integer, ...usageFields }),
  MeterRestored: openKind(13, { position: integer, marks: meterMarks, latestDay: integer }),
};
export type ControlEvent = UnionOf<'type', typeof controlEvents>;

export type ControlEventOf<Type extends ControlEvent['type']> = Extract<ControlEvent, { readonly type: Type }>;
