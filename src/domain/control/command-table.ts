/**
 * The commands of the control actor, those of the management API among them: one row each. The actor, the codec, the
 * gateway and the mailbox know of a command what its row says.
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
import {
  decideAudited,
  decideListAudit,
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
import { decideGetAccount, decideListQueues, decideMoveQueue, decidePlan } from './decide-management-queues.js';
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
import { decideEndSession, decideFold, decideLease, decideReturn } from './decide-quota.js';
import { decideDeleteUser, decideIssueToken, decideSetUser } from './decide-users.js';

type ControlTable = { readonly [Type in ControlCommand['type']]: ControlRow<ControlCommandOf<Type>> };

/** What a command without lists costs a mailbox; and what each row of a list does, and each name in one. */
const CONTROL_COMMAND_BYTES = 1024;
const ROW_BYTES = 128;
const NAME_BYTES = 64;

const isRead = true;
const ofDatabase = { tenant: ({ database }: { readonly database: string }) => database };

export const CONTROL_COMMANDS: ControlTable = {
  FirstStart: { number: 1, decide: decideFirstStart },
  CreateDatabase: { number: 2, decide: decideCreate },
  ResetPassword: { number: 3, decide: decideReset, refuseForeign: refuseForeignDatabase },
  UpdateLimits: { number: 4, decide: decideLimits, refuseForeign: refuseForeignDatabase },
  DeleteDatabase: { number: 5, decide: decideDelete, refuseForeign: refuseForeignDatabase },
  ListDatabases: { number: 6, decide: decideListDatabases, isRead },
  LeaseQuota: { number: 7, decide: decideLease, ...ofDatabase },
  ReturnQuota: { number: 8, decide: decideReturn, ...ofDatabase },
  EndSession: { number: 9, decide: decideEndSession },
  FoldMeter: {
    number: 10,
    decide: decideFold,
    bytes: ({ records }) =>
      records.reduce((sum, { rows }) => sum + ROW_BYTES * (1 + rows.length), CONTROL_COMMAND_BYTES),
  },
  SetUser: { number: 11, decide: decideSetUser, bytes: ({ rules }) => CONTROL_COMMAND_BYTES + rules.length },
  DeleteUser: { number: 12, decide: decideDeleteUser },
  IssueUserToken: { number: 13, decide: decideIssueToken },
  CreateAccount: { number: 14, decide: decideCreateAccount },
  SetAccountLimits: { number: 15, decide: decideAccountLimits },
  SetAccountState: { number: 16, decide: decideAccountState },
  ResetQueueTokens: { number: 17, decide: decideQueueTokens, refuseForeign: refuseForeignQueue },
  RotateSigningKeys: { number: 18, decide: decideRotateKeys },
  ListAccounts: { number: 19, decide: decideListAccounts, isRead },

  Audited: {
    number: 20,
    decide: (audited, state, nowMs) => decideAudited(audited, rowOfControl(audited.command), state, nowMs),
    bytes: ({ command }) => CONTROL_COMMAND_BYTES + bytesOfControl(command),
  },
  ListOwnDatabases: { number: 21, decide: decideListOwn, isRead },
  GetDatabase: { number: 22, decide: decideGet, isRead },
  ChangeDatabase: {
    number: 23,
    decide: decideChange,
    bytes: ({ change: { settings } }) => {
      const { readRegions = [], allowedIps = [] } = settings ?? {};
      return CONTROL_COMMAND_BYTES + NAME_BYTES * (readRegions.length + allowedIps.length);
    },
  },
  MoveDatabase: { number: 24, decide: decideMove },
  GetAccount: { number: 25, decide: decideGetAccount, isRead },
  ChangeAccountPlan: { number: 26, decide: decidePlan, refuseForeign: refuseForeignQueue },
  ListQueues: { number: 27, decide: decideListQueues, isRead },
  MoveQueue: { number: 28, decide: decideMoveQueue },

  CreateTeam: { number: 29, decide: decideCreateTeam },
  AddMember: { number: 30, decide: decideAddMember },
  RemoveMember: { number: 31, decide: decideRemoveMember },
  DeleteTeam: { number: 32, decide: decideDeleteTeam },
  ListTeams: { number: 33, decide: decideListTeams, isRead },
  CreateApiKey: { number: 34, decide: decideCreateKey },
  DeleteApiKey: { number: 35, decide: decideDeleteKey },
  ListApiKeys: { number: 36, decide: decideListKeys, isRead },
  SignOut: { number: 48, decide: decideSignOut },

  CreateSearchIndex: { number: 37, decide: decideCreateIndex },
  ListSearchIndexes: { number: 38, decide: decideListIndexes, isRead },
  GetSearchIndex: { number: 39, decide: decideGetIndex, isRead },
  ChangeSearchIndex: { number: 40, decide: decideChangeIndex },
  DeleteSearchIndex: { number: 41, decide: decideDeleteIndex },

  StartBackup: { number: 42, decide: decideStartBackup },
  EndBackup: {
    number: 43,
    decide: decideEndBackup,
    bytes: ({ manifests }) => CONTROL_COMMAND_BYTES + NAME_BYTES * manifests.length,
  },
  DeleteBackup: { number: 44, decide: decideDeleteBackup },
  ListBackups: { number: 45, decide: decideListBackups, isRead },
  GetBackup: { number: 46, decide: decideGetBackup, isRead },
  ListAudit: { number: 47, decide: decideListAudit, isRead },
};

export function rowOfControl(command: ControlCommand): ControlRow {
  return CONTROL_COMMANDS[command.type] as ControlRow;
}

export function bytesOfControl(command: ControlCommand): number {
  return rowOfControl(command).bytes?.(command) ?? CONTROL_COMMAND_BYTES;
}
