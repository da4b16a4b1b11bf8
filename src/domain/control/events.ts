/**
 * What happened to databases, accounts and quotas. A shape that was written once is kept for ever
 * (test/fixtures/journals/control-events.json); codec/control gives each its bytes.
 *
 * The last group is found in snapshots only: it says in absolute terms what many events led to.
 */
import type { AccountId, ApiKeyId, BackupId, DatabaseId, SessionId } from '../../kernel/index.js';
import type { AccountLimits, AccountState } from '../queue/index.js';
import type {
  AccountPlan,
  ApiKey,
  AuditEntry,
  Backup,
  BackupState,
  DatabaseSettings,
  SearchIndex,
  SearchLimits,
  SearchTokens,
  Team,
} from './management.js';
import type {
  Account,
  AclUserRecord,
  DatabaseLimits,
  DatabaseSecrets,
  MeterMark,
  QueueTokens,
  Usage,
  UsageRow,
  UserToken,
  UtcDay,
} from './records.js';
import type { SealedSecret } from './sealed-secret.js';
import type { SignedOutSession } from './signed-out.js';

export type ControlEvent =
  | ({ readonly type: 'AccountCreated' } & Omit<
      Account,
      'readOnlyToken' | 'limits' | 'state' | 'plan' | 'team' | 'queueOwner'
    >)
  | {
      readonly type: 'AccountLimitsSet';
      readonly account: AccountId;
      readonly limits: AccountLimits;
      readonly atMs: number;
    }
  | {
      readonly type: 'AccountStateSet';
      readonly account: AccountId;
      readonly state: AccountState;
      readonly atMs: number;
    }
  /** The old tokens of its queue are worth nothing from here on. */
  | ({ readonly type: 'QueueTokensSet'; readonly account: AccountId; readonly atMs: number } & QueueTokens)
  | {
      readonly type: 'SigningKeysRotated';
      readonly account: AccountId;
      readonly current: SealedSecret;
      readonly next: SealedSecret;
      readonly atMs: number;
    }
  | {
      readonly type: 'DatabaseCreated';
      readonly id: DatabaseId;
      readonly name: string;
      readonly account: AccountId;
      readonly partitions: number;
      readonly limits: DatabaseLimits;
      readonly secrets: DatabaseSecrets;
      readonly createdAtMs: number;
    }
  /** Which account and database the first start made: there is one first start. */
  | { readonly type: 'FirstStarted'; readonly account: AccountId; readonly database: DatabaseId; readonly atMs: number }
  /** The old password and both old tokens are worth nothing from here on. */
  | {
      readonly type: 'PasswordReset';
      readonly database: DatabaseId;
      readonly secrets: DatabaseSecrets;
      readonly atMs: number;
    }
  | {
      readonly type: 'LimitsUpdated';
      readonly database: DatabaseId;
      readonly limits: DatabaseLimits;
      readonly atMs: number;
    }
  /** Made, or changed; tokens of passwords that it no longer has are worth nothing from here on. */
  | ({ readonly type: 'UserSet'; readonly database: DatabaseId; readonly atMs: number } & AclUserRecord)
  | { readonly type: 'UserDeleted'; readonly database: DatabaseId; readonly name: string; readonly atMs: number }
  | ({ readonly type: 'UserTokenIssued'; readonly atMs: number } & UserToken)
  | { readonly type: 'DatabaseDeleted'; readonly database: DatabaseId; readonly atMs: number }
  /** The share of a day's limit that a process holds or has used, in all. */
  | {
      readonly type: 'QuotaReserved';
      readonly database: DatabaseId;
      readonly day: UtcDay;
      readonly session: SessionId;
      readonly reserved: number;
    }
  /** A process is gone: of what it held, only what it was seen using stays used. */
  | { readonly type: 'SessionEnded'; readonly session: SessionId; readonly atMs: number }
  | {
      readonly type: 'MeterFolded';
      /** In the meter's log: everything up to it is counted. */
      readonly position: number;
      readonly marks: readonly MeterMark[];
      /** To be added. One for each database, day and process. */
      readonly rows: readonly UsageRow[];
    }
  // ── of the management API ──
  | {
      readonly type: 'DatabaseSettingsSet';
      readonly database: DatabaseId;
      readonly settings: DatabaseSettings;
      readonly atMs: number;
    }
  | { readonly type: 'DatabaseRenamed'; readonly database: DatabaseId; readonly name: string; readonly atMs: number }
  | {
      readonly type: 'DatabaseMoved';
      readonly database: DatabaseId;
      readonly account: AccountId;
      readonly atMs: number;
    }
  | {
      readonly type: 'AccountPlanSet';
      readonly account: AccountId;
      readonly plan: AccountPlan;
      readonly atMs: number;
    }
  /** The account is a team from here on, with just these members. */
  | { readonly type: 'TeamSet'; readonly account: AccountId; readonly team: Team; readonly atMs: number }
  /** The queue of this account belongs to that one: its owner sees it, pays for it and changes it. */
  | { readonly type: 'QueueMoved'; readonly account: AccountId; readonly owner: AccountId; readonly atMs: number }
  /** A team that owned nothing, or what was only a queue of it; its tokens and keys are worth nothing from here on. */
  | { readonly type: 'AccountDeleted'; readonly account: AccountId; readonly atMs: number }
  | ({ readonly type: 'ApiKeyCreated' } & ApiKey)
  | { readonly type: 'ApiKeyDeleted'; readonly id: ApiKeyId; readonly atMs: number }
  | {
      readonly type: 'SearchIndexCreated';
      readonly index: Omit<SearchIndex, 'tokens' | 'deletedAtMs'> & { readonly tokens: SearchTokens };
    }
  /** In absolute form: all that can change of one. The old tokens are worth nothing from here on. */
  | {
      readonly type: 'SearchIndexSet';
      readonly index: DatabaseId;
      readonly name: string;
      readonly account: AccountId;
      readonly limits: SearchLimits;
      readonly tokens: SearchTokens;
      readonly atMs: number;
    }
  | { readonly type: 'SearchIndexDeleted'; readonly index: DatabaseId; readonly atMs: number }
  | ({ readonly type: 'BackupStarted' } & Pick<
      Backup,
      'id' | 'database' | 'account' | 'name' | 'isDaily' | 'createdAtMs'
    >)
  | {
      readonly type: 'BackupEnded';
      readonly backup: BackupId;
      readonly state: Exclude<BackupState, 'pending'>;
      readonly bytes: number;
      readonly manifests: readonly string[];
      readonly reason: string;
      readonly atMs: number;
    }
  | { readonly type: 'BackupDeleted'; readonly backup: BackupId; readonly atMs: number }
  | ({ readonly type: 'AuditNoted' } & AuditEntry)
  | ({ readonly type: 'SignedOut'; readonly atMs: number } & SignedOutSession)
  // ── in snapshots only ──
  | {
      readonly type: 'SearchTombstoneRestored';
      readonly index: Omit<SearchIndex, 'tokens' | 'deletedAtMs'> & { readonly deletedAtMs: number };
    }
  | {
      readonly type: 'TombstoneRestored';
      readonly id: DatabaseId;
      readonly name: string;
      readonly account: AccountId;
      readonly partitions: number;
      readonly limits: DatabaseLimits;
      readonly createdAtMs: number;
      readonly deletedAtMs: number;
    }
  | {
      readonly type: 'QuotaRestored';
      readonly database: DatabaseId;
      readonly day: UtcDay;
      readonly settled: number;
      readonly shares: readonly {
        readonly session: SessionId;
        readonly reserved: number;
        readonly metered: number;
      }[];
    }
  | ({ readonly type: 'UsageRestored'; readonly database: DatabaseId; readonly day: UtcDay } & Usage)
  | {
      readonly type: 'MeterRestored';
      readonly position: number;
      readonly marks: readonly MeterMark[];
      readonly latestDay: UtcDay;
    };

export type ControlEventOf<Type extends ControlEvent['type']> = Extract<ControlEvent, { readonly type: Type }>;
