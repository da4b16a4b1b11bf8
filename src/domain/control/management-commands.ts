/**
 * Commands of the management API to the control actor. Each names the account that it acts for; records of other
 * accounts are answered as unknown.
 */

import {
  absent,
  flag,
  integer,
  listOf,
  looseText,
  named,
  nullable,
  openKind,
  openRecord,
  type TypeOf,
  trailing,
  wordOf,
} from '../../kernel/schema/index.js';
import { accountLimitFields } from '../queue/index.js';
import { alert, alertRule, firingSubject, noticeState } from './alerts.js';
import { auditExportFields } from './audit-exports.js';
import { accountId, alertRuleId, apiKeyId, backupId, databaseId, triggerId } from './ids.js';
import {
  accountPlanFields,
  apiKey,
  auditEntry,
  backup,
  databaseSettingsFields,
  endedState,
  newSearchIndexFields,
  QUEUE_REGIONS,
  SEARCH_TYPES,
  searchIndex,
  searchLimitFields,
  searchTokens,
  teamMember,
  vectorShape,
} from './management.js';
import { providerPersonFields } from './provider-people.js';
import { account, databaseLimitFields, formerLayout, newAccount } from './records.js';
import { ownRole, roleAssignment } from './roles.js';
import { type SealedSecret, sealedSecret } from './sealed-secret.js';
import { signInSession, signInSessionFields } from './sign-in-sessions.js';
import { signedOutFields } from './signed-out.js';
import { trigger } from './triggers.js';
import { label, labelsFields, usageReportFields } from './usage-records.js';

const newSearchIndex = openRecord({ ...newSearchIndexFields, tokens: searchTokens, vectors: trailing(vectorShape) });
const tokenOrOff = nullable<SealedSecret | undefined>(sealedSecret);

/** Undefined and missing values stay unchanged. */
const databaseChange = openRecord({
  name: absent(looseText()),
  /** `prometheusToken` null: switched off. */
  settings: absent(named({ ...databaseSettingsFields, prometheusToken: tokenOrOff })),
  limits: absent(named(databaseLimitFields)),
});
export type DatabaseChange = TypeOf<typeof databaseChange>;

const ofAccount = { account: accountId };
const ofDatabase = { account: accountId, database: databaseId };
const ofIndex = { account: accountId, index: databaseId };

export const managementCommands = {
  /** Existing databases, oldest first, with today's use. Answered with `Databases`. */
  ListOwnDatabases: openKind(21, ofAccount),
  GetDatabase: openKind(22, ofDatabase),
  ChangeDatabase: openKind(23, { account: accountId, database: databaseId, change: databaseChange }),
  MoveDatabase: openKind(24, { account: accountId, database: databaseId, to: accountId }),
  GetAccount: openKind(25, ofAccount),
  /** Answered with `OneAccount`. */
  ChangeAccountPlan: openKind(26, {
    account: accountId,
    /** `prometheusToken` null: switched off. */
    plan: named({ ...accountPlanFields, prometheusToken: tokenOrOff }),
    limits: named(accountLimitFields),
  }),
  /** Queues of an account: its own unless moved away, and those moved to it. Answered with `Accounts`. */
  ListQueues: openKind(27, ofAccount),
  /**
   * Moves a queue with its contents to another account. An account without another queue gets `replacement`, which is
   * empty. Answered with `OneAccount`, the moved queue.
   */
  MoveQueue: openKind(28, { account: accountId, queue: accountId, to: accountId, replacement: newAccount }),
  /**
   * Creates another, empty queue of the account in a region without one. Plan and limits are those of its oldest
   * queue. Answered with `OneAccount`.
   */
  CreateQueue: openKind(50, { account: accountId, queue: newAccount, region: wordOf(...QUEUE_REGIONS) }),
  CreateTeam: openKind(29, { account: newAccount, copiesCard: flag }),
  AddMember: openKind(30, { team: accountId, member: teamMember }),
  RemoveMember: openKind(31, { team: accountId, email: looseText() }),
  DeleteTeam: openKind(32, { team: accountId }),
  /** Teams with this person as a member, oldest first. Answered with `Accounts`. */
  ListTeams: openKind(33, { email: looseText() }),
  CreateApiKey: openKind(34, { key: apiKey }),
  DeleteApiKey: openKind(35, { email: looseText(), id: apiKeyId }),
  ListApiKeys: openKind(36, { email: looseText() }),
  /** Answered with `SignedOut`. */
  SignOut: openKind(48, signedOutFields),
  /** Answered with `SessionIs`, when the session is valid in every process. */
  BeginSession: openKind(61, {
    session: openRecord(signInSessionFields),
    /** With a provider: the roles that the person has now. */
    person: absent(openRecord(providerPersonFields)),
  }),
  /** Sets the roles from the provider; sessions without their role end. Answered with `SignedOut`. */
  SetPersonRoles: openKind(62, { email: looseText(), roles: providerPersonFields.roles }),
  /** Answered with `SessionIs`. */
  SetSessionTokens: openKind(63, { session: looseText(), tokens: looseText() }),
  /** Sessions of the person; of everyone who acts for the account if the e-mail is ''. Answered with `SessionsAre`. */
  ListSessions: openKind(64, { account: accountId, email: looseText() }),
  /** Creates the role, or changes an existing one. Answered with `RolesAre`, as the next four. */
  SetRole: openKind(65, { role: ownRole, isNew: flag }),
  DeleteRole: openKind(66, { account: accountId, name: looseText() }),
  AssignRole: openKind(67, { assignment: roleAssignment }),
  UnassignRole: openKind(68, { account: accountId, id: looseText() }),
  ListRoles: openKind(69, ofAccount),
  CreateSearchIndex: openKind(37, {
    index: newSearchIndex,
  }),
  ListSearchIndexes: openKind(38, ofAccount),
  GetSearchIndex: openKind(39, ofIndex),
  ChangeSearchIndex: openKind(40, {
    account: accountId,
    index: databaseId,
    name: absent(looseText()),
    tokens: absent(searchTokens),
    limits: absent(named(searchLimitFields)),
    /** Moves the index to this account. */
    to: absent(accountId),
    /** Sets the plan, with `limits`. */
    plan: trailing(wordOf(...SEARCH_TYPES)),
  }),
  DeleteSearchIndex: openKind(41, ofIndex),
  StartBackup: openKind(42, {
    account: accountId,
    database: databaseId,
    backup: backupId,
    name: looseText(),
    isDaily: flag,
  }),
  EndBackup: openKind(43, {
    backup: backupId,
    state: endedState,
    bytes: integer,
    manifests: listOf(looseText()),
    reason: looseText(),
  }),
  DeleteBackup: openKind(44, { account: accountId, database: databaseId, backup: backupId }),
  /** Backups of one database, newest first. */
  ListBackups: openKind(45, ofDatabase),
  /** A backup of any database of the account, because it may be restored into another one. */
  GetBackup: openKind(46, { account: accountId, backup: backupId }),
  /** Newest first, at most `count` (up to MAX_AUDIT_PAGE). */
  ListAudit: openKind(47, { account: accountId, count: integer }),
  /** Creates the rule, or replaces an existing one. */
  SetAlertRule: openKind(51, { rule: alertRule, isNew: flag }),
  /** Answered with the deleted rule. */
  DeleteAlertRule: openKind(52, { account: accountId, rule: alertRuleId }),
  /** All rules, all open alerts, and ended ones up to `count` alerts. */
  ListAlerts: openKind(53, { account: accountId, count: integer }),
  /** Creates the trigger, or replaces an existing one. Answered with `OneTrigger`. */
  SetTrigger: openKind(56, { trigger, isNew: flag }),
  /** Answered with the deleted trigger. */
  DeleteTrigger: openKind(57, { account: accountId, trigger: triggerId }),
  /** Answered with `TriggersAre`. */
  ListTriggers: openKind(58, ofAccount),
  /** Of one of the three. Labels without a value are removed, others of the object stay. Answered with `LabelsAre`. */
  SetLabels: openKind(70, {
    account: accountId,
    database: absent(databaseId),
    index: absent(databaseId),
    queue: absent(accountId),
    labels: listOf(label),
  }),
  /** Answered with `LabelsAre`. */
  ListLabels: openKind(71, ofAccount),
  /** `month`: the last one without a report. Answered with `UsageReportIs`. */
  SetUsageReport: openKind(72, usageReportFields),
  GetUsageReport: openKind(73, ofAccount),
  /** `position`: of a new export. Answered with `AuditExportIs`. */
  SetAuditExport: openKind(75, auditExportFields),
  GetAuditExport: openKind(76, ofAccount),
  // ── sent by the owner of the control shard itself ──
  /** The queue has accepted the report of the month. */
  EndUsageReport: openKind(74, { account: accountId, month: integer }),
  /** All present subjects of each of these rules. */
  ObserveAlerts: openKind(54, {
    observed: listOf(openRecord({ account: accountId, rule: alertRuleId, firing: listOf(firingSubject) })),
  }),
  EndAlertNotice: openKind(55, { number: integer, place: integer, state: noticeState, answer: looseText() }),
};
export const managementReplies = {
  OneTeam: openKind(14, { team: account }),
  TeamIsGone: openKind(15, {}),
  ApiKeys: openKind(16, { keys: listOf(apiKey) }),
  SignedOut: openKind(22, {}),
  SessionIs: openKind(29, { name: looseText() }),
  /** Newest first, without their tokens. */
  SessionsAre: openKind(30, { sessions: listOf(signInSession) }),
  RolesAre: openKind(31, { roles: listOf(ownRole), assignments: listOf(roleAssignment) }),
  OneSearchIndex: openKind(17, { index: searchIndex }),
  SearchIndexes: openKind(18, { indexes: listOf(searchIndex) }),
  Backups: openKind(19, { backups: listOf(backup) }),
  OneBackup: openKind(20, { backup }),
  AuditEntries: openKind(21, { entries: listOf(auditEntry) }),
  OneAlertRule: openKind(24, { rule: alertRule }),
  /** Alerts newest first. */
  AlertsAre: openKind(25, { rules: listOf(alertRule), alerts: listOf(alert) }),
  AlertsNoted: openKind(26, {}),
  LabelsAre: openKind(32, { labels: listOf(openRecord(labelsFields)) }),
  /** An empty URL: no reports. */
  UsageReportIs: openKind(33, usageReportFields),
  /** An empty URL: no export. */
  AuditExportIs: openKind(34, auditExportFields),
  OneTrigger: openKind(27, { trigger }),
  /** Both oldest first; `databases` are those that the account may name in a trigger. */
  TriggersAre: openKind(28, {
    triggers: listOf(trigger),
    databases: listOf(
      openRecord({
        id: databaseId,
        name: looseText(),
        partitions: integer,
        firstPartition: absent(integer),
        former: absent(formerLayout),
      }),
    ),
  }),
};
