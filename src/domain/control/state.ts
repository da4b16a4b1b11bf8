/**
 * The control state: the fold of the control journal. The owner decides on it; every process keeps a copy.
 *
 *  CST1 a name finds the oldest existing database of its account with that name; on the command line a name is
 *       unique, in the management API it may be used several times
 *  CST2 a secret opens one database, and is in the indexes exactly as long as it is in the record
 *  CST3 daily counts (day-counts.ts) are bounded in days (limits.ts)
 *  CST4 a user's token exists exactly as long as the user has the password it was issued for
 *  CST5 a token opens one account's queue, and is in the index exactly as long as it is in the account
 *  CST6 a person's key for an account exists exactly as long as the person acts for the account
 *  CST7 a backup exists no longer than its database, and belongs to the account of the database
 */
import type { AccountId, ApiKeyId, BackupId, DatabaseId } from '../../kernel/index.js';
import { AlertRecords } from './alerts.js';
import type { AuditExport } from './audit-exports.js';
import { AuditLog } from './audit-log.js';
import { DayCounts } from './day-counts.js';
import type { ControlEventOf } from './events.js';
import { BACKUP_TIMEOUT_MS } from './limits.js';
import type { ApiKey, Backup } from './management.js';
import { Owned } from './owned.js';
import { People } from './people.js';
import { ProviderPeople } from './provider-people.js';
import type { Account, AclUserRecord, Database, TokenRole, UserToken } from './records.js';
import { RoleRecords } from './roles.js';
import { SearchIndexRecords } from './search-indexes.js';
import { SignInSessions } from './sign-in-sessions.js';
import { SignedOutSessions } from './signed-out.js';
import { TriggerRecords } from './triggers.js';
import { UsageRecords } from './usage-records.js';

/** Records of database backups; their contents are in the object store. */
class BackupRecords {
  readonly byId = new Map<BackupId, Backup>();
  readonly #byDatabase = new Owned<DatabaseId, BackupId>();

  put(backup: Backup): void {
    this.byId.set(backup.id, backup);
    this.#byDatabase.add(backup.database, backup.id);
  }

  delete(id: BackupId): void {
    const backup = this.byId.get(id);
    if (backup === undefined) return;
    this.byId.delete(id);
    this.#byDatabase.remove(backup.database, id);
  }

  /** Newest first. */
  of(database: DatabaseId): Backup[] {
    const backups = [...this.#byDatabase.of(database)].flatMap((id) => this.byId.get(id) ?? []);
    return backups.sort((a, b) => b.createdAtMs - a.createdAtMs || (a.id < b.id ? -1 : 1));
  }

  /** A backup that a crash interrupted counts as in progress for `BACKUP_TIMEOUT_MS`. */
  isUnderWay(database: DatabaseId, nowMs: number): boolean {
    return this.of(database).some(
      ({ state, createdAtMs }) => state === 'pending' && nowMs - createdAtMs < BACKUP_TIMEOUT_MS,
    );
  }
}

/** API keys that people created to sign in. */
class ApiKeys {
  readonly byId = new Map<ApiKeyId, ApiKey>();
  /** Keyed by SHA-256 of the secret. */
  readonly bySecret = new Map<string, ApiKey>();
  readonly #byEmail = new Owned<string, ApiKeyId>();

  put(key: ApiKey): void {
    this.byId.set(key.id, key);
    this.bySecret.set(key.sha256, key);
    this.#byEmail.add(key.email, key.id);
  }

  delete(id: ApiKeyId): void {
    const key = this.byId.get(id);
    if (key === undefined) return;
    this.byId.delete(id);
    this.bySecret.delete(key.sha256);
    this.#byEmail.remove(key.email, id);
  }

  /** Deletes the keys of one account that `isKept` does not keep. */
  dropOf(account: AccountId, isKept: (key: ApiKey) => boolean): void {
    for (const key of [...this.byId.values()]) if (key.account === account && !isKept(key)) this.delete(key.id);
  }

  /** Oldest first. */
  of(email: string): ApiKey[] {
    const keys = [...this.#byEmail.of(email)].flatMap((id) => this.byId.get(id) ?? []);
    return keys.sort((a, b) => a.createdAtMs - b.createdAtMs || (a.id < b.id ? -1 : 1));
  }
}

export interface TokenOwner {
  readonly database: DatabaseId;
  readonly role: TokenRole;
}

export interface QueueTokenOwner {
  readonly account: AccountId;
  readonly role: TokenRole;
}

export interface ControlStateOptions {
  /** False for a copy that is never asked for the audit log. */
  readonly keepsAudit?: boolean;
}

export class ControlState extends DayCounts {
  readonly accounts = new Map<AccountId, Account>();
  /** Keyed by SHA-256 of the token. */
  readonly queueTokens = new Map<string, QueueTokenOwner>();
  readonly people = new People();
  /** Deleted teams and queues with the time of deletion: their ids are not reused. */
  readonly deletedAccounts = new Map<AccountId, number>();
  readonly apiKeys = new ApiKeys();
  readonly search = new SearchIndexRecords();
  readonly backups = new BackupRecords();
  readonly signedOut = new SignedOutSessions();
  readonly sessions = new SignInSessions();
  readonly providerPeople = new ProviderPeople();
  readonly roles = new RoleRecords();
  readonly usageRecords = new UsageRecords();
  readonly auditExports = new Map<AccountId, AuditExport>();
  readonly alerts = new AlertRecords();
  readonly triggers = new TriggerRecords();
  readonly audit: AuditLog;
  /** Includes deleted ones. */
  readonly databases = new Map<DatabaseId, Database>();
  /** The level of stored forms; undefined until it is first raised. */
  format: Omit<ControlEventOf<'FormatRaised'>, 'type'> | undefined;
  firstStart: { readonly account: AccountId; readonly database: DatabaseId } | undefined;
  /** Keyed by SHA-256 of the token. */
  readonly tokens = new Map<string, TokenOwner>();
  /** Keyed by SHA-256 of the password. */
  readonly passwords = new Map<string, DatabaseId>();
  /** Keyed by name. */
  readonly users = new Map<DatabaseId, Map<string, AclUserRecord>>();
  /** Keyed by SHA-256 of the token. */
  readonly userTokens = new Map<string, UserToken>();
  /** Keyed by SHA-256 of the token. */
  readonly scrapeTokens = new Map<string, DatabaseId>();
  /** The same for queues. */
  readonly queueScrapeTokens = new Map<string, AccountId>();
  readonly #idsByName = new Owned<string, DatabaseId>();
  readonly #owned = new Owned<AccountId, DatabaseId>();
  #liveCount = 0;

  constructor({ keepsAudit = true }: ControlStateOptions = {}) {
    super();
    this.audit = new AuditLog(keepsAudit);
  }

  /** Undefined for a deleted or unknown database. */
  live(id: DatabaseId): Database | undefined {
    const database = this.databases.get(id);
    return database?.deletedAtMs === undefined ? database : undefined;
  }

  named(account: AccountId, name: string): Database | undefined {
    return this.#oldest(this.#idsByName.of(nameKey(account, name)))[0];
  }

  /** Existing databases, oldest first. */
  databasesOf(account: AccountId): Database[] {
    return this.#oldest(this.#owned.of(account));
  }

  get liveCount(): number {
    return this.#liveCount;
  }

  #oldest(ids: ReadonlySet<DatabaseId>): Database[] {
    const databases = [...ids].flatMap((id) => this.databases.get(id) ?? []);
    return databases.sort((a, b) => a.createdAtMs - b.createdAtMs || (a.id < b.id ? -1 : 1));
  }

  /**
   * Sets or replaces the account: CST5 (a token is in the index exactly as long as it is in the account). Only
   * `evolve` calls this.
   */
  putAccount(account: Account): void {
    const before = this.accounts.get(account.id);
    if (before !== undefined) this.#unindexAccount(before);
    this.accounts.set(account.id, account);
    this.people.add(account);
    const { id, secrets, readOnlyToken, plan } = account;
    if (plan?.prometheusToken !== undefined) this.queueScrapeTokens.set(plan.prometheusToken.sha256, id);
    this.queueTokens.set(secrets.queueToken.sha256, { account: id, role: 'standard' });
    if (readOnlyToken !== undefined) this.queueTokens.set(readOnlyToken.sha256, { account: id, role: 'read-only' });
  }

  /**
   * Also deletes the account's keys: CST6 (a person's key exists as long as the person acts for the account). Only
   * `evolve` calls this.
   */
  deleteAccount(id: AccountId, atMs: number): void {
    const before = this.accounts.get(id);
    if (before !== undefined) this.#unindexAccount(before);
    this.accounts.delete(id);
    this.deletedAccounts.set(id, atMs);
    this.apiKeys.dropOf(id, () => false);
    this.alerts.dropOf(id);
    this.triggers.dropOf(id);
    this.roles.dropOf(id);
    this.usageRecords.drop(id);
    this.auditExports.delete(id);
  }

  #unindexAccount(account: Account): void {
    for (const token of queueTokensOf(account)) this.queueTokens.delete(token.sha256);
    const scrapeToken = account.plan?.prometheusToken;
    if (scrapeToken !== undefined) this.queueScrapeTokens.delete(scrapeToken.sha256);
    this.people.remove(account);
  }

  /**
   * Sets or replaces the record: CST1 (a name finds the oldest database) and CST2 (a secret is in the indexes exactly
   * as long as in the record). Only `evolve` calls this.
   */
  put(database: Database): void {
    const before = this.databases.get(database.id);
    if (before !== undefined) this.#unindex(before);
    this.databases.set(database.id, database);
    const { id, account, name, secrets, settings } = database;
    if (database.deletedAtMs === undefined) {
      this.#liveCount += 1;
      this.#idsByName.add(nameKey(account, name), id);
      this.#owned.add(account, id);
      if (settings?.prometheusToken !== undefined) this.scrapeTokens.set(settings.prometheusToken.sha256, id);
    }
    if (secrets === undefined) return;
    this.tokens.set(secrets.standardToken.sha256, { database: id, role: 'standard' });
    this.tokens.set(secrets.readOnlyToken.sha256, { database: id, role: 'read-only' });
    this.passwords.set(secrets.password.sha256, id);
  }

  usersOf(database: DatabaseId): AclUserRecord[] {
    return [...(this.users.get(database)?.values() ?? [])];
  }

  userOf(database: DatabaseId, name: string): AclUserRecord | undefined {
    return this.users.get(database)?.get(name);
  }

  /** @param password its SHA-256 */
  isPasswordOf(database: DatabaseId, user: string, password: string): boolean {
    if (user === 'default') return this.live(database)?.secrets?.password.sha256 === password;
    return this.userOf(database, user)?.passwords.includes(password) === true;
  }

  /** Only `evolve` calls this. */
  putUser(database: DatabaseId, user: AclUserRecord): void {
    const users = this.users.get(database) ?? new Map<string, AclUserRecord>();
    users.set(user.name, user);
    this.users.set(database, users);
    this.dropVoidTokens(database, user.name);
  }

  deleteUser(database: DatabaseId, name: string): void {
    const users = this.users.get(database);
    users?.delete(name);
    if (users?.size === 0) this.users.delete(database);
    this.dropVoidTokens(database, name);
  }

  dropUsers(database: DatabaseId): void {
    this.users.delete(database);
    for (const [sha256, token] of this.userTokens) if (token.database === database) this.userTokens.delete(sha256);
  }

  putToken(token: UserToken): void {
    this.userTokens.set(token.sha256, token);
  }

  /** CST4 (a user's token exists exactly as long as the user has the password it was issued for). */
  dropVoidTokens(database: DatabaseId, user: string): void {
    for (const [sha256, token] of this.userTokens) {
      if (token.database !== database || token.user !== user) continue;
      if (!this.isPasswordOf(database, user, token.password)) this.userTokens.delete(sha256);
    }
  }

  #unindex({ id, account, name, secrets, settings, deletedAtMs }: Database): void {
    if (deletedAtMs === undefined) {
      this.#liveCount -= 1;
      this.#idsByName.remove(nameKey(account, name), id);
      this.#owned.remove(account, id);
      if (settings?.prometheusToken !== undefined) this.scrapeTokens.delete(settings.prometheusToken.sha256);
    }
    if (secrets === undefined) return;
    this.tokens.delete(secrets.standardToken.sha256);
    this.tokens.delete(secrets.readOnlyToken.sha256);
    this.passwords.delete(secrets.password.sha256);
  }
}

function queueTokensOf({ secrets, readOnlyToken }: Account) {
  return readOnlyToken === undefined ? [secrets.queueToken] : [secrets.queueToken, readOnlyToken];
}

function nameKey(account: AccountId, name: string): string {
  return `${account} ${name}`;
}
