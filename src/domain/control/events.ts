/**
 * Events of databases, accounts and quotas. Types keep their numbers and fields their places for ever; a change
 * beyond a new optional last field is a new type (test/fixtures/journals/control-events.json).
 * Events of the last group occur in snapshots only: each states a result of many events in absolute form.
 */

import {
  absent,
  flag,
  integer,
  listOf,
  looseText,
  openKind,
  openRecord,
  trailing,
  type UnionOf,
  wordOf,
} from '../../kernel/schema/index.js';
import { accountLimits, accountState } from '../queue/index.js';
import { alert, alertChannel, alertPhase, alertRule, noticeState, raisedAlertFields } from './alerts.js';
import { auditExportFields } from './audit-exports.js';
import { accountId, alertRuleId, apiKeyId, backupId, databaseId, sessionId, triggerId } from './ids.js';
import {
  accountPlan,
  apiKeyFields,
  auditEntryFields,
  databaseSettings,
  endedState,
  newBackupFields,
  newSearchIndexFields,
  SEARCH_TYPES,
  searchLimits,
  searchTokens,
  team,
  vectorShape,
} from './management.js';
import { providerPersonFields } from './provider-people.js';
import {
  accountSecrets,
  aclUserFields,
  branch,
  databaseLimits,
  databaseSecrets,
  formerLayout,
  layoutChange,
  meterMarks,
  usageFields,
  usageRow,
  userTokenFields,
} from './records.js';
import { ownRole, roleAssignment } from './roles.js';
import { sealedSecret } from './sealed-secret.js';
import { signInSessionFields } from './sign-in-sessions.js';
import { signedOutFields } from './signed-out.js';
import { trigger } from './triggers.js';
import { labelsFields, usageReportFields } from './usage-records.js';

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
  /** The old tokens of the queue become invalid. */
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
    isCluster: absent(flag),
    branch: absent(branch),
  }),
  /** The account and database of the first start, of which there is one. */
  FirstStarted: openKind(3, { account: accountId, database: databaseId, atMs: integer }),
  /** The old password and both old tokens become invalid. */
  PasswordReset: openKind(4, { database: databaseId, secrets: databaseSecrets, atMs: integer }),
  LimitsUpdated: openKind(5, { database: databaseId, limits: databaseLimits, atMs: integer }),
  /** Creates or changes a user; tokens of removed passwords become invalid. */
  UserSet: openKind(14, { database: databaseId, atMs: integer, ...aclUserFields }),
  UserDeleted: openKind(15, { database: databaseId, name: looseText(), atMs: integer }),
  UserTokenIssued: openKind(16, { ...userTokenFields, atMs: integer }),
  DatabaseDeleted: openKind(6, { database: databaseId, atMs: integer }),
  /** The total share of a daily limit that a process holds or has used. */
  QuotaReserved: openKind(7, { database: databaseId, day: integer, session: sessionId, reserved: integer }),
  /** A process has ended: of its shares, only the metered use stays charged. */
  SessionEnded: openKind(8, { session: sessionId, atMs: integer }),
  MeterFolded: openKind(9, {
    /** All records of the meter's log up to this position are counted. */
    position: integer,
    marks: meterMarks,
    /** Added to the counts; one row for each database, day and process. */
    rows: listOf(usageRow),
  }),
  // ── of the management API ──
  DatabaseSettingsSet: openKind(21, { database: databaseId, settings: databaseSettings, atMs: integer }),
  DatabaseRenamed: openKind(22, { database: databaseId, name: looseText(), atMs: integer }),
  DatabaseMoved: openKind(23, { database: databaseId, account: accountId, atMs: integer }),
  AccountPlanSet: openKind(24, { account: accountId, plan: accountPlan, atMs: integer }),
  /** Makes the account a team with exactly these members. */
  TeamSet: openKind(25, { account: accountId, team, atMs: integer }),
  /** The queue of `account` belongs to `owner`, which sees, pays for and changes it. */
  QueueMoved: openKind(26, { account: accountId, owner: accountId, atMs: integer }),
  /**
   * Deletes a team without possessions, or an account that was only a queue of it; its tokens and keys become
   * invalid.
   */
  AccountDeleted: openKind(27, { account: accountId, atMs: integer }),
  ApiKeyCreated: openKind(28, apiKeyFields),
  ApiKeyDeleted: openKind(29, { id: apiKeyId, atMs: integer }),
  SearchIndexCreated: openKind(30, {
    index: openRecord({
      ...newSearchIndexFields,
      tokens: searchTokens,
      createdAtMs: integer,
      vectors: trailing(vectorShape),
    }),
  }),
  /** All changeable fields in absolute form. The old tokens become invalid. */
  SearchIndexSet: openKind(31, {
    index: databaseId,
    name: looseText(),
    account: accountId,
    limits: searchLimits,
    tokens: searchTokens,
    atMs: integer,
    /** The plan, if it has changed. */
    plan: trailing(wordOf(...SEARCH_TYPES)),
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
  /** From here on forms of this level may be stored in every journal. */
  FormatRaised: openKind(39, { level: integer, by: looseText(), atMs: integer }),
  /** The whole rule; also the first change of a built-in one. */
  AlertRuleSet: openKind(40, { rule: alertRule, atMs: integer }),
  AlertRuleDeleted: openKind(41, { rule: alertRuleId, atMs: integer }),
  AlertRaised: openKind(42, { ...raisedAlertFields, atMs: integer }),
  AlertResolved: openKind(43, { number: integer, atMs: integer }),
  /** Notices to these channels are to be sent. */
  AlertAnnounced: openKind(44, { number: integer, phase: alertPhase, channels: listOf(alertChannel), atMs: integer }),
  /** `place` of the notice among those of its alert. */
  AlertNoticeEnded: openKind(45, {
    number: integer,
    place: integer,
    state: noticeState,
    answer: looseText(),
    atMs: integer,
  }),
  /** The whole trigger. */
  TriggerSet: openKind(47, { trigger, atMs: integer }),
  TriggerDeleted: openKind(48, { trigger: triggerId, atMs: integer }),
  /** The layout in absolute form. Numbers of partitions are used once, except those of a failed change. */
  DatabaseLayoutSet: openKind(49, {
    database: databaseId,
    firstPartition: integer,
    partitions: integer,
    atMs: integer,
    layoutChange: absent(layoutChange),
    former: absent(formerLayout),
  }),
  /** The person's roles in absolute form; none: the person is removed, with the keys of the lost accounts. */
  ProviderPersonSet: openKind(50, { ...providerPersonFields, atMs: integer }),
  SessionBegan: openKind(51, { ...signInSessionFields, beganAtMs: integer }),
  SessionTokensSet: openKind(52, { name: looseText(), tokens: looseText(), atMs: integer }),
  /** The whole role; it is new, or has other rights now. */
  RoleSet: openKind(53, { role: ownRole, atMs: integer }),
  /** Its assignments, and keys with the role, end. */
  RoleDeleted: openKind(54, { account: accountId, name: looseText(), atMs: integer }),
  RoleAssigned: openKind(55, { assignment: roleAssignment }),
  RoleUnassigned: openKind(56, { id: looseText(), account: accountId, atMs: integer }),
  /** All labels of a database, queue or index. */
  LabelsSet: openKind(57, { ...labelsFields, atMs: integer }),
  /** The report in absolute form; an empty URL: none. */
  UsageReportSet: openKind(58, { ...usageReportFields, atMs: integer }),
  /** The export in absolute form; an empty URL: none. */
  AuditExportSet: openKind(59, { ...auditExportFields, atMs: integer }),
  // ── in snapshots only ──
  AlertRestored: openKind(46, { alert }),
  SearchTombstoneRestored: openKind(37, {
    index: openRecord({
      ...newSearchIndexFields,
      createdAtMs: integer,
      deletedAtMs: integer,
      vectors: trailing(vectorShape),
    }),
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
