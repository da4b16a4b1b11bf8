/**
 * The table of events of the control state: one row each, with its change to the state and its effect on access.
 * Numbers and shapes of stored events are in `events.ts` and never change.
 */
import type { ControlEvent, ControlEventOf } from './events.js';
import {
  accountCreated,
  accountDeleted,
  accountLimitsSet,
  accountPlanSet,
  accountStateSet,
  apiKeyCreated,
  apiKeyDeleted,
  providerPersonSet,
  queueMoved,
  queueTokensSet,
  sessionBegan,
  sessionTokensSet,
  signedOut,
  signingKeysRotated,
  teamSet,
} from './evolve-accounts.js';
import {
  alertAnnounced,
  alertNoticeEnded,
  alertRaised,
  alertResolved,
  alertRestored,
  alertRuleDeleted,
  alertRuleSet,
} from './evolve-alerts.js';
import {
  meterFolded,
  meterRestored,
  quotaReserved,
  quotaRestored,
  sessionEnded,
  usageRestored,
} from './evolve-counts.js';
import {
  backupDeleted,
  backupEnded,
  backupStarted,
  databaseCreated,
  databaseDeleted,
  databaseLayoutSet,
  databaseMoved,
  databaseRenamed,
  databaseSettingsSet,
  firstStarted,
  limitsUpdated,
  passwordReset,
  searchIndexCreated,
  searchIndexDeleted,
  searchIndexSet,
  searchTombstoneRestored,
  tombstoneRestored,
  userDeleted,
  userSet,
  userTokenIssued,
} from './evolve-databases.js';
import { roleDeleted, roleUnassigned } from './evolve-roles.js';
import type { ControlState } from './state.js';

export interface ControlEventRow<Event extends ControlEvent = ControlEvent> {
  /**
   * Applies the event. It accepts every event that was ever journaled, judges none, and asserts when one cannot fit.
   */
  evolve(event: Event, state: ControlState): void;
  /**
   * The event gives or takes access. Its command is answered when every live edge has applied it, or a second later:
   * CP2 (the answer to a revocation leaves after every live edge has it, or a second later).
   */
  readonly isAwaited?: true;
  /** The event does not affect access, so a copy of the state need not look up its grants again. */
  readonly leavesAccess?: true;
}

type EventTable = { readonly [Type in ControlEvent['type']]: ControlEventRow<ControlEventOf<Type>> };

const isAwaited = true;
const leavesAccess = true;

const CONTROL_EVENTS: EventTable = {
  AccountCreated: { evolve: accountCreated, isAwaited },
  DatabaseCreated: { evolve: databaseCreated, isAwaited },
  FirstStarted: { evolve: firstStarted },
  PasswordReset: { evolve: passwordReset, isAwaited },
  LimitsUpdated: { evolve: limitsUpdated },
  DatabaseDeleted: { evolve: databaseDeleted, isAwaited },

  QuotaReserved: { evolve: quotaReserved, leavesAccess },
  SessionEnded: { evolve: sessionEnded, leavesAccess },
  MeterFolded: { evolve: meterFolded, leavesAccess },
  TombstoneRestored: { evolve: tombstoneRestored },
  QuotaRestored: { evolve: quotaRestored, leavesAccess },
  UsageRestored: { evolve: usageRestored, leavesAccess },
  MeterRestored: { evolve: meterRestored, leavesAccess },

  UserSet: { evolve: userSet, isAwaited },
  UserDeleted: { evolve: userDeleted, isAwaited },
  UserTokenIssued: { evolve: userTokenIssued, isAwaited },
  AccountLimitsSet: { evolve: accountLimitsSet },
  AccountStateSet: { evolve: accountStateSet, isAwaited },
  QueueTokensSet: { evolve: queueTokensSet, isAwaited },
  SigningKeysRotated: { evolve: signingKeysRotated, isAwaited },
  DatabaseSettingsSet: { evolve: databaseSettingsSet, isAwaited },
  DatabaseLayoutSet: { evolve: databaseLayoutSet, isAwaited },
  DatabaseRenamed: { evolve: databaseRenamed },
  DatabaseMoved: { evolve: databaseMoved },
  AccountPlanSet: { evolve: accountPlanSet },
  TeamSet: { evolve: teamSet, isAwaited },
  QueueMoved: { evolve: queueMoved },
  AccountDeleted: { evolve: accountDeleted, isAwaited },
  ApiKeyCreated: { evolve: apiKeyCreated, isAwaited },
  ApiKeyDeleted: { evolve: apiKeyDeleted, isAwaited },

  SearchIndexCreated: { evolve: searchIndexCreated, isAwaited },
  SearchIndexSet: { evolve: searchIndexSet, isAwaited },
  SearchIndexDeleted: { evolve: searchIndexDeleted, isAwaited },
  SearchTombstoneRestored: { evolve: searchTombstoneRestored },

  BackupStarted: { evolve: backupStarted, leavesAccess },
  BackupEnded: { evolve: backupEnded, leavesAccess },
  BackupDeleted: { evolve: backupDeleted, leavesAccess },
  AuditNoted: { evolve: ({ type: _, ...entry }, { audit }) => audit.add(entry), leavesAccess },
  FormatRaised: {
    evolve: ({ type: _, ...raised }, state) => {
      state.format = raised;
    },
    leavesAccess,
  },
  AlertRuleSet: { evolve: alertRuleSet, leavesAccess },
  AlertRuleDeleted: { evolve: alertRuleDeleted, leavesAccess },
  AlertRaised: { evolve: alertRaised, leavesAccess },
  AlertResolved: { evolve: alertResolved, leavesAccess },
  AlertAnnounced: { evolve: alertAnnounced, leavesAccess },
  AlertNoticeEnded: { evolve: alertNoticeEnded, leavesAccess },
  AlertRestored: { evolve: alertRestored, leavesAccess },
  TriggerSet: { evolve: ({ trigger }, { triggers }) => triggers.put(trigger) },
  TriggerDeleted: { evolve: ({ trigger }, { triggers }) => triggers.delete(trigger) },
  RoleSet: { evolve: ({ role }, { roles }) => roles.put(role), isAwaited, leavesAccess },
  RoleDeleted: { evolve: roleDeleted, isAwaited, leavesAccess },
  RoleAssigned: { evolve: ({ assignment }, { roles }) => roles.assign(assignment), isAwaited, leavesAccess },
  RoleUnassigned: { evolve: roleUnassigned, isAwaited, leavesAccess },
  SignedOut: { evolve: signedOut, isAwaited, leavesAccess },
  ProviderPersonSet: { evolve: providerPersonSet, isAwaited, leavesAccess },
  SessionBegan: { evolve: sessionBegan, isAwaited, leavesAccess },
  SessionTokensSet: { evolve: sessionTokensSet, leavesAccess },
  LabelsSet: { evolve: ({ id, labels }, { usageRecords }) => usageRecords.putLabels({ id, labels }), leavesAccess },
  AuditExportSet: {
    evolve: ({ type: _, atMs: __, ...one }, { auditExports }) => {
      if (one.url === '') auditExports.delete(one.account);
      else auditExports.set(one.account, one);
    },
    leavesAccess,
  },
  UsageReportSet: {
    evolve: ({ type: _, atMs: __, ...report }, { usageRecords }) => usageRecords.putReport(report),
    leavesAccess,
  },
};

export function rowOfControlEvent(event: ControlEvent): ControlEventRow {
  return CONTROL_EVENTS[event.type] as ControlEventRow;
}

/** Applies an event to the control state in place. It accepts every journaled event and judges none. */
export function evolve(state: ControlState, event: ControlEvent): void {
  rowOfControlEvent(event).evolve(event, state);
}
