/**
 * Judges a command for databases, tokens, limits and quotas. Pure: time, ids, hashes and sealed texts
 * come in, events and an answer come out; the state is not touched.
 */
import type { ControlCommand, DatabaseView } from './commands.js';
import {
  decideAccountLimits,
  decideAccountState,
  decideCreateAccount,
  decideQueueTokens,
  decideRotateKeys,
  listAccounts,
} from './decide-accounts.js';
import { decideCreate, decideDelete, decideFirstStart, decideLimits, decideReset } from './decide-databases.js';
import { decideManagement } from './decide-management.js';
import { decideEndSession, decideFold, decideLease, decideReturn } from './decide-quota.js';
import { decideDeleteUser, decideIssueToken, decideSetUser } from './decide-users.js';
import { type Decision, decided } from './decision.js';
import { utcDayOf } from './records.js';
import type { ControlState } from './state.js';

export interface DecisionContext {
  /** The clock of the turn: never before that of the last entry. */
  readonly nowMs: number;
}

export function decide(command: ControlCommand, state: ControlState, { nowMs }: DecisionContext): Decision {
  switch (command.type) {
    case 'FirstStart':
      return decideFirstStart(command, state, nowMs);
    case 'CreateDatabase':
      return decideCreate(command, state, nowMs);
    case 'ResetPassword':
      return decideReset(command, state, nowMs);
    case 'UpdateLimits':
      return decideLimits(command, state, nowMs);
    case 'DeleteDatabase':
      return decideDelete(command, state, nowMs);
    case 'SetUser':
      return decideSetUser(command, state, nowMs);
    case 'DeleteUser':
      return decideDeleteUser(command, state, nowMs);
    case 'IssueUserToken':
      return decideIssueToken(command, state, nowMs);
    case 'ListDatabases':
      return decided({ type: 'Databases', databases: listDatabases(state, nowMs) });
    case 'CreateAccount':
      return decideCreateAccount(command, state, nowMs);
    case 'SetAccountLimits':
      return decideAccountLimits(command, state, nowMs);
    case 'SetAccountState':
      return decideAccountState(command, state, nowMs);
    case 'ResetQueueTokens':
      return decideQueueTokens(command, state, nowMs);
    case 'RotateSigningKeys':
      return decideRotateKeys(command, state, nowMs);
    case 'ListAccounts':
      return decided({ type: 'Accounts', accounts: listAccounts(state) });
    case 'LeaseQuota':
      return decideLease(command, state, nowMs);
    case 'ReturnQuota':
      return decideReturn(command, state);
    case 'EndSession':
      return decideEndSession(command, state, nowMs);
    case 'FoldMeter':
      return decideFold(command, state, nowMs);
    default:
      return decideManagement(command, state, nowMs, (inner) => decide(inner, state, { nowMs }));
  }
}

/** Deleted ones too, oldest first: their data may still have to be removed. */
function listDatabases(state: ControlState, nowMs: number): DatabaseView[] {
  const today = utcDayOf(nowMs);
  return [...state.databases.values()]
    .sort((a, b) => a.createdAtMs - b.createdAtMs || (a.id < b.id ? -1 : 1))
    .map((database) => ({ database, today: state.usageOf(database.id, today) }));
}
