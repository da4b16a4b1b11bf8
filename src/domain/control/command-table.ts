/**
 * The table of commands of the control actor, those of the management API included: one row each. The actor, codec,
 * gateway and mailbox read the properties of a command here.
 */

import type { ControlRow } from './command-row.js';
import type { ControlCommand, ControlCommandOf } from './commands.js';
import {
  decideAccountLimits,
  decideAccountState,
  decideCreateAccount,
  decideListAccounts,
  decideQueueTokens,
  decideRotateKeys,
} from './decide-accounts.js';
import {
  decideCreate,
  decideDelete,
  decideFirstStart,
  decideLimits,
  decideListDatabases,
  decideReset,
} from './decide-databases.js';
import { decideRaiseFormat } from './decide-format.js';
import { decideAdvancePartitions, decideChangePartitions } from './decide-layouts.js';
import {
  decideDeleteAlertRule,
  decideEndNotice,
  decideListAlerts,
  decideObserveAlerts,
  decideSetAlertRule,
} from './decide-management-alerts.js';
import {
  decideAudited,
  decideGetAuditExport,
  decideListAudit,
  decideSetAuditExport,
  refuseForeignDatabase,
  refuseForeignQueue,
} from './decide-management-audit.js';
import {
  decideDeleteBackup,
  decideEndBackup,
  decideGetBackup,
  decideListBackups,
  decideStartBackup,
} from './decide-management-backups.js';
import { decideChange, decideGet, decideListOwn, decideMove } from './decide-management-databases.js';
import { decideCreateKey, decideDeleteKey, decideListKeys, decideSignOut } from './decide-management-keys.js';
import {
  decideCreateQueue,
  decideGetAccount,
  decideListQueues,
  decideMoveQueue,
  decidePlan,
} from './decide-management-queues.js';
import {
  decideAssignRole,
  decideDeleteRole,
  decideListRoles,
  decideSetRole,
  decideUnassignRole,
} from './decide-management-roles.js';
import {
  decideChangeIndex,
  decideCreateIndex,
  decideDeleteIndex,
  decideGetIndex,
  decideListIndexes,
} from './decide-management-search.js';
import {
  decideAddMember,
  decideCreateTeam,
  decideDeleteTeam,
  decideListTeams,
  decideRemoveMember,
} from './decide-management-teams.js';
import { decideDeleteTrigger, decideListTriggers, decideSetTrigger } from './decide-management-triggers.js';
import { decideEndSession, decideFold, decideLease, decideReturn } from './decide-quota.js';
import { decideBeginSession, decideListSessions, decideSessionTokens, decideSetPersonRoles } from './decide-sign-in.js';
import {
  decideEndUsageReport,
  decideGetUsageReport,
  decideListLabels,
  decideSetLabels,
  decideSetUsageReport,
} from './decide-usage.js';
import { decideDeleteUser, decideIssueToken, decideSetUser } from './decide-users.js';
import type { Decision } from './decision.js';
import type { ControlState } from './state.js';

type ControlTable = { readonly [Type in ControlCommand['type']]: ControlRow<ControlCommandOf<Type>> };

/** Memory of a command without lists, of each row in a list, and of each name in a list. */
const CONTROL_COMMAND_BYTES = 1024;
const ROW_BYTES = 128;
const NAME_BYTES = 64;

const isRead = true;
const ofDatabase = { tenant: ({ database }: { readonly database: string }) => database };

export const CONTROL_COMMANDS: ControlTable = {
  FirstStart: { decide: decideFirstStart },
  CreateDatabase: { decide: decideCreate },
  ResetPassword: { decide: decideReset, refuseForeign: refuseForeignDatabase },
  UpdateLimits: { decide: decideLimits, refuseForeign: refuseForeignDatabase },
  DeleteDatabase: { decide: decideDelete, refuseForeign: refuseForeignDatabase },
  ChangePartitions: { decide: decideChangePartitions, refuseForeign: refuseForeignDatabase, ...ofDatabase },
  AdvancePartitions: { decide: decideAdvancePartitions, refuseForeign: refuseForeignDatabase, ...ofDatabase },
  ListDatabases: { decide: decideListDatabases, isRead },
  LeaseQuota: { decide: decideLease, ...ofDatabase },
  ReturnQuota: { decide: decideReturn, ...ofDatabase },
  EndSession: { decide: decideEndSession },
  RaiseFormat: { decide: decideRaiseFormat },
  FoldMeter: {
    decide: decideFold,
    bytes: ({ records }) =>
      records.reduce((sum, { rows }) => sum + ROW_BYTES * (1 + rows.length), CONTROL_COMMAND_BYTES),
  },
  SetUser: { decide: decideSetUser, bytes: ({ rules }) => CONTROL_COMMAND_BYTES + rules.length },
  DeleteUser: { decide: decideDeleteUser },
  IssueUserToken: { decide: decideIssueToken },
  CreateAccount: { decide: decideCreateAccount },
  SetAccountLimits: { decide: decideAccountLimits },
  SetAccountState: { decide: decideAccountState },
  ResetQueueTokens: { decide: decideQueueTokens, refuseForeign: refuseForeignQueue },
  RotateSigningKeys: { decide: decideRotateKeys },
  ListAccounts: { decide: decideListAccounts, isRead },

  Audited: {
    decide: (audited, state, nowMs) => decideAudited(audited, rowOfControl(audited.command), state, nowMs),
    bytes: ({ command }) => CONTROL_COMMAND_BYTES + bytesOfControl(command),
  },
  ListOwnDatabases: { decide: decideListOwn, isRead },
  GetDatabase: { decide: decideGet, isRead },
  ChangeDatabase: {
    decide: decideChange,
    bytes: ({ change: { settings } }) => {
      const { readRegions = [], allowedIps = [] } = settings ?? {};
      return CONTROL_COMMAND_BYTES + NAME_BYTES * (readRegions.length + allowedIps.length);
    },
  },
  MoveDatabase: { decide: decideMove },
  GetAccount: { decide: decideGetAccount, isRead },
  ChangeAccountPlan: { decide: decidePlan, refuseForeign: refuseForeignQueue },
  ListQueues: { decide: decideListQueues, isRead },
  MoveQueue: { decide: decideMoveQueue },
  CreateQueue: { decide: decideCreateQueue },

  CreateTeam: { decide: decideCreateTeam },
  AddMember: { decide: decideAddMember },
  RemoveMember: { decide: decideRemoveMember },
  DeleteTeam: { decide: decideDeleteTeam },
  ListTeams: { decide: decideListTeams, isRead },
  CreateApiKey: { decide: decideCreateKey },
  DeleteApiKey: { decide: decideDeleteKey },
  ListApiKeys: { decide: decideListKeys, isRead },
  SignOut: { decide: decideSignOut },
  BeginSession: {
    decide: decideBeginSession,
    tenant: ({ session }) => session.account,
    bytes: ({ session, person }) =>
      CONTROL_COMMAND_BYTES + session.tokens.length + NAME_BYTES * (person?.roles.length ?? 0),
  },
  SetPersonRoles: {
    decide: decideSetPersonRoles,
    bytes: ({ roles }) => CONTROL_COMMAND_BYTES + NAME_BYTES * roles.length,
  },
  SetSessionTokens: { decide: decideSessionTokens, bytes: ({ tokens }) => CONTROL_COMMAND_BYTES + tokens.length },
  ListSessions: { decide: decideListSessions, isRead },
  SetRole: {
    decide: decideSetRole,
    tenant: ({ role }) => role.account,
    bytes: ({ role: { rights, description } }) =>
      CONTROL_COMMAND_BYTES + NAME_BYTES * rights.length + description.length,
  },
  DeleteRole: { decide: decideDeleteRole },
  AssignRole: { decide: decideAssignRole, tenant: ({ assignment }) => assignment.account },
  UnassignRole: { decide: decideUnassignRole },
  ListRoles: { decide: decideListRoles, isRead },

  CreateSearchIndex: { decide: decideCreateIndex },
  ListSearchIndexes: { decide: decideListIndexes, isRead },
  GetSearchIndex: { decide: decideGetIndex, isRead },
  ChangeSearchIndex: { decide: decideChangeIndex },
  DeleteSearchIndex: { decide: decideDeleteIndex },

  StartBackup: { decide: decideStartBackup },
  EndBackup: {
    decide: decideEndBackup,
    bytes: ({ manifests }) => CONTROL_COMMAND_BYTES + NAME_BYTES * manifests.length,
  },
  DeleteBackup: { decide: decideDeleteBackup },
  ListBackups: { decide: decideListBackups, isRead },
  GetBackup: { decide: decideGetBackup, isRead },
  ListAudit: { decide: decideListAudit, isRead },
  SetAlertRule: {
    decide: decideSetAlertRule,
    tenant: ({ rule }) => rule.account,
    bytes: ({ rule }) => CONTROL_COMMAND_BYTES + ROW_BYTES * rule.channels.length,
  },
  DeleteAlertRule: { decide: decideDeleteAlertRule },
  ListAlerts: { decide: decideListAlerts, isRead },
  ObserveAlerts: {
    decide: decideObserveAlerts,
    bytes: ({ observed }) =>
      observed.reduce((sum, { firing }) => sum + ROW_BYTES * (1 + firing.length), CONTROL_COMMAND_BYTES),
  },
  EndAlertNotice: { decide: decideEndNotice },
  SetTrigger: {
    decide: decideSetTrigger,
    tenant: ({ trigger }) => trigger.account,
    bytes: ({ trigger: { patterns, options, starts } }) =>
      CONTROL_COMMAND_BYTES + ROW_BYTES * (patterns.length + options.length + starts.length),
  },
  DeleteTrigger: { decide: decideDeleteTrigger },
  ListTriggers: { decide: decideListTriggers, isRead },
  SetLabels: {
    decide: decideSetLabels,
    bytes: ({ labels }) => CONTROL_COMMAND_BYTES + ROW_BYTES * labels.length,
  },
  ListLabels: { decide: decideListLabels, isRead },
  SetUsageReport: { decide: decideSetUsageReport },
  GetUsageReport: { decide: decideGetUsageReport, isRead },
  SetAuditExport: { decide: decideSetAuditExport },
  GetAuditExport: { decide: decideGetAuditExport, isRead },
  EndUsageReport: { decide: decideEndUsageReport },
};

export function rowOfControl(command: ControlCommand): ControlRow {
  return CONTROL_COMMANDS[command.type] as ControlRow;
}

export function bytesOfControl(command: ControlCommand): number {
  return rowOfControl(command).bytes?.(command) ?? CONTROL_COMMAND_BYTES;
}

/**
 * Decides a command of the control state. Pure: time, ids, hashes and sealed texts are arguments, and the result is
 * an answer with events; the state is not changed.
 */
export interface DecisionContext {
  /** The clock of the turn, never earlier than that of the last entry. */
  readonly nowMs: number;
}

export function decide(command: ControlCommand, state: ControlState, { nowMs }: DecisionContext): Decision {
  return rowOfControl(command).decide(command, state, nowMs);
}
