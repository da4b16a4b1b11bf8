/**
 * What the management API asks of the control actor. Every command names the account that it is asked for: what belongs
 * to another account is answered like what does not exist.
 */
import type { AccountId, ApiKeyId, BackupId, DatabaseId } from '../../kernel/index.js';
import type { AccountLimits } from '../queue/index.js';
import type {
  AccountPlan,
  ApiKey,
  AuditEntry,
  Backup,
  BackupState,
  DatabaseSettings,
  SearchIndex,
  SearchLimits,
  SearchRegion,
  SearchTokens,
  SearchType,
  TeamMember,
} from './management.js';
import type { Account, DatabaseLimits, NewAccount } from './records.js';
import type { SignedOutSession } from './signed-out.js';

export interface NewSearchIndex {
  readonly id: DatabaseId;
  readonly name: string;
  readonly account: AccountId;
  readonly region: SearchRegion;
  readonly type: SearchType;
  readonly limits: SearchLimits;
  readonly tokens: SearchTokens;
}

/** What is `undefined` or left out stays as it was. */
export interface DatabaseChange {
  readonly name?: string | undefined;
  /** `prometheusToken` null: switched off. */
  readonly settings?:
    | (Partial<Omit<DatabaseSettings, 'prometheusToken'>> & {
        readonly prometheusToken?: DatabaseSettings['prometheusToken'] | null;
      })
    | undefined;
  readonly limits?: Partial<DatabaseLimits> | undefined;
}

export type ManagementCommand =
  /** What is not deleted, oldest first, with what was used today: answered as `Databases`. */
  | { readonly type: 'ListOwnDatabases'; readonly account: AccountId }
  | { readonly type: 'GetDatabase'; readonly account: AccountId; readonly database: DatabaseId }
  | {
      readonly type: 'ChangeDatabase';
      readonly account: AccountId;
      readonly database: DatabaseId;
      readonly change: DatabaseChange;
    }
  | {
      readonly type: 'MoveDatabase';
      readonly account: AccountId;
      readonly database: DatabaseId;
      readonly to: AccountId;
    }
  | { readonly type: 'GetAccount'; readonly account: AccountId }
  /** Answered as `OneAccount`. */
  | {
      readonly type: 'ChangeAccountPlan';
      readonly account: AccountId;
      /** `prometheusToken` null: switched off. */
      readonly plan: Partial<Omit<AccountPlan, 'prometheusToken'>> & {
        readonly prometheusToken?: AccountPlan['prometheusToken'] | null;
      };
      readonly limits: Partial<AccountLimits>;
    }
  /** Queues of an account: its own unless that was moved away, and those that were moved to it. Answered as `Accounts`. */
  | { readonly type: 'ListQueues'; readonly account: AccountId }
  /**
   * A queue, with all that it holds, belongs to another account from here on. An account that had no other keeps one:
   * `replacement` is made, empty, and belongs to it. Answered as `OneAccount`: the queue.
   */
  | {
      readonly type: 'MoveQueue';
      readonly account: AccountId;
      readonly queue: AccountId;
      readonly to: AccountId;
      readonly replacement: NewAccount;
    }
  | { readonly type: 'CreateTeam'; readonly account: NewAccount; readonly copiesCard: boolean }
  | { readonly type: 'AddMember'; readonly team: AccountId; readonly member: TeamMember }
  | { readonly type: 'RemoveMember'; readonly team: AccountId; readonly email: string }
  | { readonly type: 'DeleteTeam'; readonly team: AccountId }
  /** Teams of which this person is a member, oldest first: answered as `Accounts`. */
  | { readonly type: 'ListTeams'; readonly email: string }
  | { readonly type: 'CreateApiKey'; readonly key: ApiKey }
  | { readonly type: 'DeleteApiKey'; readonly email: string; readonly id: ApiKeyId }
  | { readonly type: 'ListApiKeys'; readonly email: string }
  /** Answered as `SignedOut`. */
  | ({ readonly type: 'SignOut' } & SignedOutSession)
  | { readonly type: 'CreateSearchIndex'; readonly index: NewSearchIndex }
  | { readonly type: 'ListSearchIndexes'; readonly account: AccountId }
  | { readonly type: 'GetSearchIndex'; readonly account: AccountId; readonly index: DatabaseId }
  | {
      readonly type: 'ChangeSearchIndex';
      readonly account: AccountId;
      readonly index: DatabaseId;
      readonly name?: string | undefined;
      readonly tokens?: SearchTokens | undefined;
      readonly limits?: Partial<SearchLimits> | undefined;
      /** Moves it there. */
      readonly to?: AccountId | undefined;
    }
  | { readonly type: 'DeleteSearchIndex'; readonly account: AccountId; readonly index: DatabaseId }
  | {
      readonly type: 'StartBackup';
      readonly account: AccountId;
      readonly database: DatabaseId;
      readonly backup: BackupId;
      readonly name: string;
      readonly isDaily: boolean;
    }
  | {
      readonly type: 'EndBackup';
      readonly backup: BackupId;
      readonly state: Exclude<BackupState, 'pending'>;
      readonly bytes: number;
      readonly manifests: readonly string[];
      readonly reason: string;
    }
  | {
      readonly type: 'DeleteBackup';
      readonly account: AccountId;
      readonly database: DatabaseId;
      readonly backup: BackupId;
    }
  /** Of one database, newest first. */
  | { readonly type: 'ListBackups'; readonly account: AccountId; readonly database: DatabaseId }
  /** Of any database of the account: one may be restored into another. */
  | { readonly type: 'GetBackup'; readonly account: AccountId; readonly backup: BackupId }
  /** Newest first, at most `count` (MAX_AUDIT_PAGE). */
  | { readonly type: 'ListAudit'; readonly account: AccountId; readonly count: number };

export type ManagementReply =
  | { readonly type: 'OneTeam'; readonly team: Account }
  | { readonly type: 'TeamIsGone' }
  | { readonly type: 'ApiKeys'; readonly keys: readonly ApiKey[] }
  | { readonly type: 'SignedOut' }
  | { readonly type: 'OneSearchIndex'; readonly index: SearchIndex }
  | { readonly type: 'SearchIndexes'; readonly indexes: readonly SearchIndex[] }
  | { readonly type: 'Backups'; readonly backups: readonly Backup[] }
  | { readonly type: 'OneBackup'; readonly backup: Backup }
  | { readonly type: 'AuditEntries'; readonly entries: readonly AuditEntry[] };

export type ManagementRejection =
  | 'UNKNOWN_SEARCH_INDEX'
  | 'UNKNOWN_TEAM'
  | 'UNKNOWN_MEMBER'
  | 'UNKNOWN_KEY'
  | 'UNKNOWN_BACKUP'
  /** The bound of the reason is in the message. */
  | 'TOO_MANY'
  /** Is not possible as things stand: a team that still owns something, a backup that is under way, the owner as a member. */
  | 'CONFLICTS'
  | 'BAD_VALUE';
