/**
 * The events of the control state: one row each, with the number that it has in stored bytes, what it does to the state,
 * and who has to hear of it. Its shape is in `codec/control`; both are for ever.
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
  queueMoved,
  queueTokensSet,
  signingKeysRotated,
  teamSet,
} from './evolve-accounts.js';
import { backupDeleted, backupEnded, backupStarted } from './evolve-backups.js';
import {
  meterFolded,
  meterRestored,
  quotaReserved,
  quotaRestored,
  sessionEnded,
  usageRestored,
} from './evolve-counts.js';
import {
  databaseCreated,
  databaseDeleted,
  databaseMoved,
  databaseRenamed,
  databaseSettingsSet,
  firstStarted,
  limitsUpdated,
  passwordReset,
  tombstoneRestored,
  userDeleted,
  userSet,
  userTokenIssued,
} from './evolve-databases.js';
import { searchIndexCreated, searchIndexDeleted, searchIndexSet, searchTombstoneRestored } from './evolve-search.js';
import type { ControlState } from './state.js';

export interface ControlEventRow<Event extends ControlEvent = ControlEvent> {
  /** Of the event in stored bytes: never given twice. */
  readonly number: number;
  /** Total over what was ever journaled: it judges nothing, and asserts where the event cannot fit. */
  evolve(event: Event, state: ControlState): void;
  /**
   * It takes away, or gives, what somebody may do: its command is answered when it is in force at every live edge, or a
   * second later (CP2).
   */
  readonly isAwaited?: true;
  /** It says nothing about who may do what: a copy of the state need not look its grants up again. */
  readonly leavesAccess?: true;
}

type EventTable = { readonly [Type in ControlEvent['type']]: ControlEventRow<ControlEventOf<Type>> };

const isAwaited = true;
const leavesAccess = true;

export const CONTROL_EVENTS: EventTable = {
  AccountCreated: { number: 1, evolve: accountCreated, isAwaited },
  DatabaseCreated: { number: 2, evolve: databaseCreated, isAwaited },
  FirstStarted: { number: 3, evolve: firstStarted },
  PasswordReset: { number: 4, evolve: passwordReset, isAwaited },
  LimitsUpdated: { number: 5, evolve: limitsUpdated },
  DatabaseDeleted: { number: 6, evolve: databaseDeleted, isAwaited },

  QuotaReserved: { number: 7, evolve: quotaReserved, leavesAccess },
  SessionEnded: { number: 8, evolve: sessionEnded, leavesAccess },
  MeterFolded: { number: 9, evolve: meterFolded, leavesAccess },
  TombstoneRestored: { number: 10, evolve: tombstoneRestored },
  QuotaRestored: { number: 11, evolve: quotaRestored, leavesAccess },
  UsageRestored: { number: 12, evolve: usageRestored, leavesAccess },
  MeterRestored: { number: 13, evolve: meterRestored, leavesAccess },

  UserSet: { number: 14, evolve: userSet, isAwaited },
  UserDeleted: { number: 15, evolve: userDeleted, isAwaited },
  UserTokenIssued: { number: 16, evolve: userTokenIssued, isAwaited },
  AccountLimitsSet: { number: 17, evolve: accountLimitsSet },
  AccountStateSet: { number: 18, evolve: accountStateSet, isAwaited },
  QueueTokensSet: { number: 19, evolve: queueTokensSet, isAwaited },
  SigningKeysRotated: { number: 20, evolve: signingKeysRotated, isAwaited },
  DatabaseSettingsSet: { number: 21, evolve: databaseSettingsSet, isAwaited },
  DatabaseRenamed: { number: 22, evolve: databaseRenamed },
  DatabaseMoved: { number: 23, evolve: databaseMoved },
  AccountPlanSet: { number: 24, evolve: accountPlanSet },
  TeamSet: { number: 25, evolve: teamSet, isAwaited },
  QueueMoved: { number: 26, evolve: queueMoved },
  AccountDeleted: { number: 27, evolve: accountDeleted, isAwaited },
  ApiKeyCreated: { number: 28, evolve: apiKeyCreated, isAwaited },
  ApiKeyDeleted: { number: 29, evolve: apiKeyDeleted, isAwaited },

  SearchIndexCreated: { number: 30, evolve: searchIndexCreated, isAwaited },
  SearchIndexSet: { number: 31, evolve: searchIndexSet, isAwaited },
  SearchIndexDeleted: { number: 32, evolve: searchIndexDeleted, isAwaited },
  SearchTombstoneRestored: { number: 37, evolve: searchTombstoneRestored },

  BackupStarted: { number: 33, evolve: backupStarted, leavesAccess },
  BackupEnded: { number: 34, evolve: backupEnded, leavesAccess },
  BackupDeleted: { number: 35, evolve: backupDeleted, leavesAccess },
  AuditNoted: { number: 36, evolve: ({ type: _, ...entry }, { audit }) => audit.add(entry), leavesAccess },
  SignedOut: {
    number: 38,
    evolve: (event, { signedOut }) => signedOut.add(event, event.atMs),
    isAwaited,
    leavesAccess,
  },
};

export function rowOfControlEvent(event: ControlEvent): ControlEventRow {
  return CONTROL_EVENTS[event.type] as ControlEventRow;
}
