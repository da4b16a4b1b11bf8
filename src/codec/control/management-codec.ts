/** The management API's commands and answers, as parts of the unions of command-codec.ts. */
import type {
  ControlCommand,
  DatabaseChange,
  DatabaseLimits,
  ManagementCommand,
  ManagementReply,
  NewSearchIndex,
  SearchLimits,
} from '../../domain/control/index.js';
import type { AccountLimits } from '../../domain/queue/index.js';
import {
  account,
  accountId,
  accountLimitFields,
  databaseId,
  databaseLimitFields,
  newAccount,
  sealedSecret,
} from './control-shapes.js';
import {
  accountPlanFields,
  apiKey,
  auditEntry,
  auditNote,
  backup,
  databaseSettingsFields,
  endedState,
  newSearchIndexFields,
  searchIndex,
  searchLimitFields,
  searchTokens,
  teamMember,
} from './management-shapes.js';
import { apiKeyId, backupId } from './plain-shapes.js';
import {
  absent,
  flag,
  later,
  listOf,
  nullable,
  record,
  type Shape,
  some,
  text,
  type UnionCases,
  whole,
} from './shapes.js';

type SettingsChange = NonNullable<DatabaseChange['settings']>;

const databaseChange = record<DatabaseChange>({
  name: absent(text()),
  settings: absent(
    some<Required<SettingsChange>>({
      ...databaseSettingsFields,
      prometheusToken: nullable(sealedSecret),
    }) as Shape<SettingsChange>,
  ),
  limits: absent(some<DatabaseLimits>(databaseLimitFields)),
});

type PlanChange = Extract<ControlCommand, { readonly type: 'ChangeAccountPlan' }>['plan'];

const ofAccount = record({ account: accountId });
const ofDatabase = record({ account: accountId, database: databaseId });
const ofIndex = record({ account: accountId, index: databaseId });

/** @param every the shape of every command: one of these contains another */
export function managementCommands(every: () => Shape<ControlCommand>): UnionCases<ManagementCommand> {
  return {
    Audited: [
      20,
      record({
        account: accountId,
        note: auditNote,
        command: later(every as () => Shape<Exclude<ControlCommand, { readonly type: 'Audited' }>>),
        always: absent(flag),
      }),
    ],
    ListOwnDatabases: [21, ofAccount],
    GetDatabase: [22, ofDatabase],
    ChangeDatabase: [23, record({ account: accountId, database: databaseId, change: databaseChange })],
    MoveDatabase: [24, record({ account: accountId, database: databaseId, to: accountId })],
    GetAccount: [25, ofAccount],
    ChangeAccountPlan: [
      26,
      record({
        account: accountId,
        plan: some<Required<PlanChange>>({
          ...accountPlanFields,
          prometheusToken: nullable(sealedSecret),
        }) as Shape<PlanChange>,
        limits: some<AccountLimits>(accountLimitFields),
      }),
    ],
    ListQueues: [27, ofAccount],
    MoveQueue: [28, record({ account: accountId, queue: accountId, to: accountId, replacement: newAccount })],
    CreateTeam: [29, record({ account: newAccount, copiesCard: flag })],
    AddMember: [30, record({ team: accountId, member: teamMember })],
    RemoveMember: [31, record({ team: accountId, email: text() })],
    DeleteTeam: [32, record({ team: accountId })],
    ListTeams: [33, record({ email: text() })],
    CreateApiKey: [34, record({ key: apiKey })],
    DeleteApiKey: [35, record({ email: text(), id: apiKeyId })],
    ListApiKeys: [36, record({ email: text() })],
    CreateSearchIndex: [
      37,
      record({ index: record<NewSearchIndex>({ ...newSearchIndexFields, tokens: searchTokens }) }),
    ],
    ListSearchIndexes: [38, ofAccount],
    GetSearchIndex: [39, ofIndex],
    ChangeSearchIndex: [
      40,
      record({
        account: accountId,
        index: databaseId,
        name: absent(text()),
        tokens: absent(searchTokens),
        limits: absent(some<SearchLimits>(searchLimitFields)),
        to: absent(accountId),
      }),
    ],
    DeleteSearchIndex: [41, ofIndex],
    StartBackup: [
      42,
      record({ account: accountId, database: databaseId, backup: backupId, name: text(), isDaily: flag }),
    ],
    EndBackup: [
      43,
      record({ backup: backupId, state: endedState, bytes: whole, manifests: listOf(text()), reason: text() }),
    ],
    DeleteBackup: [44, record({ account: accountId, database: databaseId, backup: backupId })],
    ListBackups: [45, ofDatabase],
    GetBackup: [46, record({ account: accountId, backup: backupId })],
    ListAudit: [47, record({ account: accountId, count: whole })],
    SignOut: [48, record({ session: text(), untilMs: whole })],
  };
}

export const managementReplies: UnionCases<ManagementReply> = {
  OneTeam: [14, record({ team: account })],
  TeamIsGone: [15, record({})],
  ApiKeys: [16, record({ keys: listOf(apiKey) })],
  OneSearchIndex: [17, record({ index: searchIndex })],
  SearchIndexes: [18, record({ indexes: listOf(searchIndex) })],
  Backups: [19, record({ backups: listOf(backup) })],
  OneBackup: [20, record({ backup })],
  AuditEntries: [21, record({ entries: listOf(auditEntry) })],
  SignedOut: [22, record({})],
};
