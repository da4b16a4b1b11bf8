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
  listOf,
  nullable,
  record,
  type Shape,
  type ShapesByType,
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

export const managementCommands: ShapesByType<ManagementCommand> = {
  ListOwnDatabases: ofAccount,
  GetDatabase: ofDatabase,
  ChangeDatabase: record({ account: accountId, database: databaseId, change: databaseChange }),
  MoveDatabase: record({ account: accountId, database: databaseId, to: accountId }),
  GetAccount: ofAccount,
  ChangeAccountPlan: record({
    account: accountId,
    plan: some<Required<PlanChange>>({
      ...accountPlanFields,
      prometheusToken: nullable(sealedSecret),
    }) as Shape<PlanChange>,
    limits: some<AccountLimits>(accountLimitFields),
  }),
  ListQueues: ofAccount,
  MoveQueue: record({ account: accountId, queue: accountId, to: accountId, replacement: newAccount }),
  CreateTeam: record({ account: newAccount, copiesCard: flag }),
  AddMember: record({ team: accountId, member: teamMember }),
  RemoveMember: record({ team: accountId, email: text() }),
  DeleteTeam: record({ team: accountId }),
  ListTeams: record({ email: text() }),
  CreateApiKey: record({ key: apiKey }),
  DeleteApiKey: record({ email: text(), id: apiKeyId }),
  ListApiKeys: record({ email: text() }),
  CreateSearchIndex: record({ index: record<NewSearchIndex>({ ...newSearchIndexFields, tokens: searchTokens }) }),
  ListSearchIndexes: ofAccount,
  GetSearchIndex: ofIndex,
  ChangeSearchIndex: record({
    account: accountId,
    index: databaseId,
    name: absent(text()),
    tokens: absent(searchTokens),
    limits: absent(some<SearchLimits>(searchLimitFields)),
    to: absent(accountId),
  }),
  DeleteSearchIndex: ofIndex,
  StartBackup: record({ account: accountId, database: databaseId, backup: backupId, name: text(), isDaily: flag }),
  EndBackup: record({ backup: backupId, state: endedState, bytes: whole, manifests: listOf(text()), reason: text() }),
  DeleteBackup: record({ account: accountId, database: databaseId, backup: backupId }),
  ListBackups: ofDatabase,
  GetBackup: record({ account: accountId, backup: backupId }),
  ListAudit: record({ account: accountId, count: whole }),
  SignOut: record({ session: text(), untilMs: whole }),
};

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
