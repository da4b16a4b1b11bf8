/** Types of ids that the records of the control state contain. */
import type {
  AccountId,
  AlertRuleId,
  ApiKeyId,
  BackupId,
  DatabaseId,
  SessionId,
  ShardName,
  TriggerId,
} from '../../kernel/index.js';
import { text } from '../../kernel/schema/index.js';

export const accountId = text<AccountId>();
export const databaseId = text<DatabaseId>();
/** Of a database, a search index or a queue. */
export const labeledId = text<DatabaseId | AccountId>();
export const sessionId = text<SessionId>();
export const apiKeyId = text<ApiKeyId>();
export const backupId = text<BackupId>();
export const alertRuleId = text<AlertRuleId>();
export const triggerId = text<TriggerId>();
export const shardName = text<ShardName>();
