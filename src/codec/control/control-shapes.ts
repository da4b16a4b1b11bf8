/** Parts that events, commands and answers have in common. The order of fields is the format: it is only added to. */
import type {
  Account,
  AccountSecret,
  AclUserRecord,
  Database,
  DatabaseLimits,
  DatabaseSecrets,
  MeterMark,
  NewAccount,
  NewDatabase,
  QueueTokens,
  SealedSecret,
  Usage,
  UsageRow,
  UserToken,
} from '../../domain/control/index.js';
import type { AccountLimits, AccountState } from '../../domain/queue/index.js';
import { accountPlan, databaseSettings, team } from './management-shapes.js';
import { accountId, databaseId, sealedSecret, sessionId } from './plain-shapes.js';
import { absent, listOf, oneOf, optional, record, type Shape, text, whole } from './shapes.js';

export { accountId, databaseId, sealedSecret, sessionId };

export const databaseSecrets = record<DatabaseSecrets>({
  standardToken: sealedSecret,
  readOnlyToken: sealedSecret,
  password: sealedSecret,
});

/** In the order in which they came to be. */
export const databaseLimitFields = {
  maxCommandBytes: whole,
  maxRequestsPerDay: whole,
  maxDataBytes: absent(whole),
  maxCommandsPerSecond: absent(whole),
  maxBytesPerMonth: absent(whole),
  maxConnections: absent(whole),
};
export const databaseLimits = record<DatabaseLimits>(databaseLimitFields);

export const accountSecrets = record<Record<AccountSecret, SealedSecret>>({
  queueToken: sealedSecret,
  mgmtKey: sealedSecret,
  signingKeyCurrent: sealedSecret,
  signingKeyNext: sealedSecret,
});

/** In the order in which they came to be; a new one is a new last field with the default that older bytes mean. */
export const accountLimitFields = {
  maxMessageBytes: whole,
  maxMessagesPerDay: whole,
  maxMessagesPerDayHard: whole,
  maxRequestsPerSecond: whole,
  maxEndpointsPerGroup: whole,
  maxDlqEntries: whole,
  maxRetries: whole,
  maxGroups: whole,
  maxSchedules: whole,
  maxEvents: whole,
  dlqRetentionMs: whole,
  maxDelaySeconds: whole,
  maxParallelism: whole,
  maxGlobalParallelism: whole,
  maxQueues: whole,
  timeoutSeconds: whole,
  budgetCents: whole,
};
export const accountLimits = record<AccountLimits>(accountLimitFields);

export const accountState = oneOf<AccountState>('active', 'passive');
export const queueTokens = record<QueueTokens>({ queueToken: sealedSecret, readOnlyToken: sealedSecret });

export const account: Shape<Account> = record<Account>({
  id: accountId,
  name: text(),
  email: text(),
  secrets: accountSecrets,
  createdAtMs: whole,
  readOnlyToken: optional(sealedSecret),
  limits: optional(accountLimits),
  state: optional(accountState),
  plan: absent(accountPlan),
  team: absent(team),
  queueOwner: absent(accountId),
});

export const database: Shape<Database> = record<Database>({
  id: databaseId,
  name: text(),
  account: accountId,
  partitions: whole,
  limits: databaseLimits,
  secrets: optional(databaseSecrets),
  createdAtMs: whole,
  deletedAtMs: optional(whole),
  settings: absent(databaseSettings),
});

/** What a command makes; it never gets into the journal as such. */
export const newDatabase = record<NewDatabase>({
  id: databaseId,
  name: text(),
  account: optional(accountId),
  partitions: whole,
  limits: databaseLimits,
  secrets: databaseSecrets,
  settings: absent(databaseSettings),
});
export const newAccount = record<NewAccount>({
  id: accountId,
  name: text(),
  email: text(),
  secrets: accountSecrets,
  readOnlyToken: optional(sealedSecret),
  limits: optional(accountLimits),
});

export const aclUserFields = { name: text(), rules: text(), passwords: listOf(text()), salt: text(), revision: whole };
export const aclUser = record<AclUserRecord>(aclUserFields);
export const userTokenFields = { database: databaseId, user: text(), password: text(), sha256: text() };
export const userToken = record<UserToken>(userTokenFields);

export const usageFields = { commands: whole, writes: whole, errors: whole, bytesIn: whole, bytesOut: whole };
export const usage = record<Usage>(usageFields);

export const usageRow = record<UsageRow>({ database: databaseId, day: whole, session: sessionId, ...usageFields });
const meterMark = record<MeterMark>({ session: sessionId, number: whole, day: whole });
export const meterMarks = listOf(meterMark);
