/**
 * What can be asked of the control actor, and what it answers. Ids, tokens and sealed texts are made
 * by whoever asks: the same command asked twice gets the same answer.
 */
import type { AccountId, DatabaseId, SessionId } from '../../kernel/index.js';
import type { AccountLimits, AccountState } from '../queue/index.js';
import type { AuditNote } from './management.js';
import type { ManagementCommand, ManagementRejection, ManagementReply } from './management-commands.js';
import type {
  Account,
  AclUserRecord,
  Database,
  DatabaseSecrets,
  NewAccount,
  NewDatabase,
  QueueTokens,
  Usage,
  UserToken,
  UtcDay,
} from './records.js';
import type { SealedSecret } from './sealed-secret.js';

/** One record of the meter's log, as far as the control state counts it. */
export interface MeteredRecord {
  readonly position: number;
  readonly session: SessionId;
  /** 1, 2, 3 … within the session. */
  readonly number: number;
  readonly day: UtcDay;
  readonly rows: readonly ({ readonly database: DatabaseId } & Usage)[];
}

export type ControlCommand =
  | ManagementCommand
  /**
   * The command, and a line of the audit log in the same entry when it changed anything. Not nested. A database or queue
   * that the command names without an account is refused unless it belongs to this one.
   */
  | {
      readonly type: 'Audited';
      readonly account: AccountId;
      readonly note: AuditNote;
      readonly command: NotedCommand;
      /** Also when it changes nothing here: for what is changed elsewhere because of it. */
      readonly always?: boolean | undefined;
    }
  | { readonly type: 'FirstStart'; readonly account: NewAccount; readonly database: NewDatabase }
  | { readonly type: 'CreateDatabase'; readonly database: NewDatabase }
  | { readonly type: 'ResetPassword'; readonly database: DatabaseId; readonly secrets: DatabaseSecrets }
  | {
      readonly type: 'UpdateLimits';
      readonly database: DatabaseId;
      /** Undefined: as it was. */
      readonly maxCommandBytes: number | undefined;
      readonly maxRequestsPerDay: number | undefined;
    }
  | { readonly type: 'DeleteDatabase'; readonly database: DatabaseId }
  /** Void unless the user is as it was seen (0: not there). The same again, with the same salt and rules, is answered alike. */
  | {
      readonly type: 'SetUser';
      readonly database: DatabaseId;
      readonly seenRevision: number;
      readonly name: string;
      readonly rules: string;
      readonly passwords: readonly string[];
      /** The user's own, as it was seen; of a new user a random one. */
      readonly salt: string;
    }
  | { readonly type: 'DeleteUser'; readonly database: DatabaseId; readonly name: string }
  | { readonly type: 'IssueUserToken'; readonly token: UserToken }
  | { readonly type: 'ListDatabases' }
  | { readonly type: 'CreateAccount'; readonly account: NewAccount }
  /** What is not named stays as it was. */
  | { readonly type: 'SetAccountLimits'; readonly account: AccountId; readonly limits: Partial<AccountLimits> }
  | { readonly type: 'SetAccountState'; readonly account: AccountId; readonly state: AccountState }
  | { readonly type: 'ResetQueueTokens'; readonly account: AccountId; readonly tokens: QueueTokens }
  /** The next key becomes the current one. Asked again with the same fresh key it changes nothing more. */
  | { readonly type: 'RotateSigningKeys'; readonly account: AccountId; readonly next: SealedSecret }
  | { readonly type: 'ListAccounts' }
  /** `known`: what this process has been granted for the day as far as it heard; a reply may have been lost. */
  | {
      readonly type: 'LeaseQuota';
      readonly session: SessionId;
      readonly database: DatabaseId;
      readonly day: UtcDay;
      readonly known: number;
      readonly wanted: number;
    }
  /** Void once this process has been granted anything more: what arrives late must not take that away. */
  | {
      readonly type: 'ReturnQuota';
      readonly session: SessionId;
      readonly database: DatabaseId;
      readonly day: UtcDay;
      /** All that it has been granted, and what of it was not used. */
      readonly known: number;
      readonly unused: number;
    }
  | { readonly type: 'EndSession'; readonly session: SessionId }
  /** Everything of the meter's log behind `after`, up to `position`. */
  | {
      readonly type: 'FoldMeter';
      readonly after: number;
      readonly position: number;
      readonly records: readonly MeteredRecord[];
    };

/** What may be noted: anything but a note. */
export type NotedCommand = Exclude<ControlCommand, { readonly type: 'Audited' }>;

export type ControlCommandOf<Type extends ControlCommand['type']> = Extract<ControlCommand, { readonly type: Type }>;

export type RejectionReason =
  | ManagementRejection
  | 'UNKNOWN_DATABASE'
  | 'UNKNOWN_ACCOUNT'
  | 'NAME_TAKEN'
  | 'ID_TAKEN'
  | 'SECRET_TAKEN'
  | 'BAD_NAME'
  | 'BAD_PARTITIONS'
  | 'BAD_LIMITS'
  | 'TOO_MANY_DATABASES'
  | 'DAY_CLOSED'
  | 'UNKNOWN_USER'
  | 'BAD_USER'
  | 'TOO_MANY_USERS'
  | 'TOO_MANY_ACCOUNTS';

/** A database as it is shown: with what was used of it on the owner's day. */
export interface DatabaseView {
  readonly database: Database;
  readonly today: Usage;
}

export type ControlReply =
  | ManagementReply
  | { readonly type: 'Rejected'; readonly reason: RejectionReason; readonly message: string }
  /** `isNew` false: somebody was first, and these are theirs. */
  | { readonly type: 'FirstStarted'; readonly isNew: boolean; readonly account: Account; readonly database: Database }
  | { readonly type: 'OneDatabase'; readonly database: Database }
  | { readonly type: 'OneAccount'; readonly account: Account }
  | { readonly type: 'Accounts'; readonly accounts: readonly Account[] }
  /** The user as it is. `isSet` false: it was changed by somebody else since it was seen, or is gone (undefined). */
  | { readonly type: 'UserIs'; readonly isSet: boolean; readonly user: AclUserRecord | undefined }
  | { readonly type: 'UserIsGone'; readonly wasThere: boolean }
  | { readonly type: 'UserTokenIsIssued' }
  | { readonly type: 'Databases'; readonly databases: readonly DatabaseView[] }
  /** 0: nothing is left of the day's limit, as far as is known now. */
  | { readonly type: 'QuotaLeased'; readonly granted: number }
  /** What the process is still charged with. */
  | { readonly type: 'QuotaReturned'; readonly reserved: number }
  | { readonly type: 'SessionIsOver' }
  /** Up to where the meter's log is counted. */
  | { readonly type: 'MeterIsFolded'; readonly position: number };
