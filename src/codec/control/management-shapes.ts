/** Parts of the management API's events, commands and answers. The order of fields is the format: it is only added to. */
import {
  type AccountPlan,
  type ApiKey,
  type AuditEntry,
  type AuditNote,
  type Backup,
  type BackupState,
  DATABASE_PLANS,
  type DatabaseSettings,
  QUEUE_REGIONS,
  RESERVED_PLANS,
  SEARCH_REGIONS,
  SEARCH_TYPES,
  type SearchIndex,
  type SearchLimits,
  type SearchTokens,
  TEAM_ROLES,
  type Team,
  type TeamMember,
} from '../../domain/control/index.js';
import { accountId, apiKeyId, backupId, databaseId, sealedSecret } from './plain-shapes.js';
import { absent, flag, listOf, oneOf, optional, record, type Shape, text, whole } from './shapes.js';

export const databaseSettingsFields = {
  platform: text(),
  region: text(),
  primaryRegion: text(),
  readRegions: listOf(text()),
  plan: oneOf(...DATABASE_PLANS),
  budgetDollars: whole,
  isEvicting: flag,
  isAutoUpgrading: flag,
  hasProdPack: flag,
  allowedIps: listOf(text()),
  hasDailyBackup: flag,
  prometheusToken: optional(sealedSecret),
  isSuspended: flag,
  lastPlanUpgradeAtMs: whole,
};
export const databaseSettings: Shape<DatabaseSettings> = record<DatabaseSettings>(databaseSettingsFields);

export const accountPlanFields = {
  type: oneOf<AccountPlan['type']>('free', 'paid'),
  reserved: oneOf<AccountPlan['reserved']>('', ...RESERVED_PLANS),
  hasProdPack: flag,
  region: oneOf(...QUEUE_REGIONS),
  budgetDollars: whole,
  lastPlanUpgradeAtMs: whole,
  prometheusToken: absent(sealedSecret),
};
export const accountPlan: Shape<AccountPlan> = record<AccountPlan>(accountPlanFields);

export const teamMember = record<TeamMember>({ email: text(), role: oneOf(...TEAM_ROLES) });
export const team: Shape<Team> = record<Team>({ members: listOf(teamMember), copiesCard: flag });

export const apiKeyFields = {
  id: apiKeyId,
  account: accountId,
  email: text(),
  name: text(),
  sha256: text(),
  isReadOnly: flag,
  createdAtMs: whole,
};
export const apiKey = record<ApiKey>(apiKeyFields);

export const searchLimitFields = {
  maxVectorCount: whole,
  maxMonthlyReranks: whole,
  maxDailyUpdates: whole,
  maxDailyQueries: whole,
  maxMonthlyBandwidth: whole,
  maxWritesPerSecond: whole,
  maxQueryPerSecond: whole,
  maxReadsPerRequest: whole,
  maxWritesPerRequest: whole,
};
export const searchLimits = record<SearchLimits>(searchLimitFields);
export const searchTokens = record<SearchTokens>({ token: sealedSecret, readOnlyToken: sealedSecret });

export const newSearchIndexFields = {
  id: databaseId,
  name: text(),
  account: accountId,
  region: oneOf(...SEARCH_REGIONS),
  type: oneOf(...SEARCH_TYPES),
  limits: searchLimits,
};
export const searchIndex = record<SearchIndex>({
  ...newSearchIndexFields,
  tokens: optional(searchTokens),
  createdAtMs: whole,
  deletedAtMs: optional(whole),
});

export const endedState = oneOf<Exclude<BackupState, 'pending'>>('completed', 'failed');
export const newBackupFields = { id: backupId, database: databaseId, account: accountId, name: text(), isDaily: flag };
export const backup = record<Backup>({
  ...newBackupFields,
  state: oneOf<BackupState>('pending', 'completed', 'failed'),
  createdAtMs: whole,
  bytes: whole,
  manifests: listOf(text()),
  reason: text(),
});

const auditNoteFields = {
  actor: text(),
  action: whole,
  source: text(),
  entity: text(),
  secondaryEntity: text(),
  thirdEntity: text(),
  ip: text(),
  reason: text(),
};
export const auditNote = record<AuditNote>(auditNoteFields);
export const auditEntryFields = { number: whole, account: accountId, atMs: whole, ...auditNoteFields };
export const auditEntry = record<AuditEntry>(auditEntryFields);
