/** Ids and secrets, of which every record is made. */
import type { SealedSecret } from '../../domain/control/index.js';
import type { AccountId, ApiKeyId, BackupId, DatabaseId, SessionId } from '../../kernel/index.js';
import { record, text } from './shapes.js';

export const accountId = text<AccountId>();
export const databaseId = text<DatabaseId>();
export const sessionId = text<SessionId>();
export const apiKeyId = text<ApiKeyId>();
export const backupId = text<BackupId>();

export const sealedSecret = record<SealedSecret>({ sha256: text(), sealed: text() });
