/** Judges what the management API asks for, each subject in a file of its own. */
import { unreachable } from '../../kernel/index.js';
import type { ControlCommand } from './commands.js';
import { decideAudited, decideListAudit } from './decide-management-audit.js';
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
import type { Decision } from './decision.js';
import type { ManagementCommand } from './management-commands.js';
import type { ControlState } from './state.js';

/** @param inner judges any command: one of these contains another */
export function decideManagement(
  command: ManagementCommand,
  state: ControlState,
  nowMs: number,
  inner: (command: ControlCommand) => Decision,
): Decision {
  switch (command.type) {
    case 'Audited':
      return decideAudited(command, state, nowMs, inner);
    case 'ListOwnDatabases':
      return decideListOwn(command, state, nowMs);
    case 'GetDatabase':
      return decideGet(command, state);
    case 'ChangeDatabase':
      return decideChange(command, state, nowMs);
    case 'MoveDatabase':
      return decideMove(command, state, nowMs);
    case 'GetAccount':
      return decideGetAccount(command, state);
    case 'ChangeAccountPlan':
      return decidePlan(command, state, nowMs);
    case 'ListQueues':
      return decideListQueues(command, state);
    case 'MoveQueue':
      return decideMoveQueue(command, state, nowMs);
    case 'CreateTeam':
      return decideCreateTeam(command, state, nowMs);
    case 'AddMember':
      return decideAddMember(command, state, nowMs);
    case 'RemoveMember':
      return decideRemoveMember(command, state, nowMs);
    case 'DeleteTeam':
      return decideDeleteTeam(command, state, nowMs);
    case 'ListTeams':
      return decideListTeams(command, state);
    case 'CreateApiKey':
      return decideCreateKey(command, state, nowMs);
    case 'DeleteApiKey':
      return decideDeleteKey(command, state, nowMs);
    case 'ListApiKeys':
      return decideListKeys(command, state);
    case 'SignOut':
      return decideSignOut(command, state, nowMs);
    case 'CreateSearchIndex':
      return decideCreateIndex(command, state, nowMs);
    case 'ListSearchIndexes':
      return decideListIndexes(command, state);
    case 'GetSearchIndex':
      return decideGetIndex(command, state);
    case 'ChangeSearchIndex':
      return decideChangeIndex(command, state, nowMs);
    case 'DeleteSearchIndex':
      return decideDeleteIndex(command, state, nowMs);
    case 'StartBackup':
      return decideStartBackup(command, state, nowMs);
    case 'EndBackup':
      return decideEndBackup(command, state, nowMs);
    case 'DeleteBackup':
      return decideDeleteBackup(command, state, nowMs);
    case 'ListBackups':
      return decideListBackups(command, state);
    case 'GetBackup':
      return decideGetBackup(command, state);
    case 'ListAudit':
      return decideListAudit(command, state, nowMs);
    default:
      return unreachable(command);
  }
}
