/** Parts that events, commands and answers have in common. The order of fields is the format: it is only added to. */
import type {
  Account,
  AccountSecret,
  AclUserRecord,
  Database,
  DatabaseLimits,
  DatabaseSecrets,
  MeterMark,
  QueueTokens,
  SealedSecret,
  Usage,
  UsageRow,
  UserToken,
} from '../../domain/control/index.js';
import type { AccountLimits, AccountState } from '../../domain/queue/index.js';
import type { AccountId, DatabaseId, SessionId } from '../../kernel/index.js';
import { listOf, oneOf, optional, record, type Shape, text, whole } from './shapes.js';

export const accountId = text<AccountId>();
export const databaseId = text<DatabaseId>();
export const sessionId = text<SessionId>();

export const sealedSecret = record<SealedSecret>({ sha256: text(), sealed: text() });

export const databaseSecrets = record<DatabaseSecrets>({
  standardToken: sealedSecret,
  readOnlyToken: sealedSecret,
  password: sealedSecret,
});

export const databaseLimits = record<DatabaseLimits>({ maxCommandBytes: whole, maxRequestsPerDay: whole });

export const accountSecrets = record<Record<AccountSecret, SealedSecret>>({
  queueToken: sealedSecret,
  mgmtKey: sealedSecret,
  signingKeyCurrent: sealedSecret,
  signingKeyNext: sealedSecret,
});

/** In the order in which they came to be; a new one is a new last field with the default that older bytes mean. */
export const accountLimits = record<AccountLimits>({
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
});

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
});

export const aclUserFields = { name: text(), rules: text(), passwords: listOf(text()), salt: text(), revision: whole };
export const aclUser = record<AclUserRecord>(aclUserFields);
export const userTokenFields = { database: databaseId, user: text(), password: text(), sha256: text() };
export const userToken = record<UserToken>(userTokenFields);

export const usageFields = { commands: whole, writes: whole, errors: whole, bytesIn: whole, bytesOut: whole };
export const usage = record<Usage>(usageFields);

export const usageRow = record<UsageRow>({ database: databaseId, day: whole, session: sessionId, ...usageFields });
export const meterMark = record<MeterMark>({ session: sessionId, number: whole, day: whole });
export const meterMarks = listOf(meterMark);
