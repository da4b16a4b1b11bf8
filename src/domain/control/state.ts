/**
 * The control state: a fold of the control journal. The owner decides on it; every process keeps a copy.
 *
 *  CST1 a name finds the oldest database of its account that has it and is not deleted; the command line gives each
 *       name once, the management API as often as it is asked to
 *  CST2 a secret opens one database, and is in the indexes exactly as long as it is in the record
 *  CST3 what is remembered by day (day-counts.ts) is bounded in days (limits.ts)
 *  CST4 a user's token is there exactly as long as the user has the password it was issued for
 *  CST5 a token opens one account's queue, and is in the index exactly as long as it is in the account
 *  CST6 a person's key for an account is there exactly as long as the person acts for the account
 *  CST7 a backup is there no longer than its database, and belongs to whom the database belongs to
 */
import type { AccountId, DatabaseId } from '../../kernel/index.js';
import { ApiKeys } from './api-keys.js';
import { AuditLog } from './audit-log.js';
import { BackupRecords } from './backups.js';
import { DayCounts } from './day-counts.js';
import type { ControlEventOf } from './events.js';
import { Owned } from './owned.js';
import { People } from './people.js';
import type { Account, AclUserRecord, Database, TokenRole, UserToken } from './records.js';
import { SearchIndexRecords } from './search-indexes.js';
import { SignedOutSessions } from './signed-out.js';

export interface TokenOwner {
  readonly database: DatabaseId;
  readonly role: TokenRole;
}

export interface QueueTokenOwner {
  readonly account: AccountId;
  readonly role: TokenRole;
}

export interface ControlStateOptions {
  /** False for a copy that nobody asks for the audit log. */
  readonly keepsAudit?: boolean;
}

export class ControlState extends DayCounts {
  readonly accounts = new Map<AccountId, Account>();
  /** They are keyed by SHA-256 of the token. */
  readonly queueTokens = new Map<string, QueueTokenOwner>();
  readonly people = new People();
  /** Teams and queues that are gone, and when: their ids are not given again. */
  readonly deletedAccounts = new Map<AccountId, number>();
  readonly apiKeys = new ApiKeys();
  readonly search = new SearchIndexRecords();
  readonly backups = new BackupRecords();
  readonly signedOut = new SignedOutSessions();
  readonly audit: AuditLog;
  /** Deleted ones too. */
  readonly databases = new Map<DatabaseId, Database>();
  /** The level of the forms in which things are stored, once it was raised. */
  format: Omit<ControlEventOf<'FormatRaised'>, 'type'> | undefined;
  firstStart: { readonly account: AccountId; readonly database: DatabaseId } | undefined;
  /** They are keyed by SHA-256 of the token. */
  readonly tokens = new Map<string, TokenOwner>();
  /** They are keyed by SHA-256 of the password. */
  readonly passwords = new Map<string, DatabaseId>();
  /** They are keyed by name. */
  readonly users = new Map<DatabaseId, Map<string, AclUserRecord>>();
  /** They are keyed by SHA-256 of the token. */
  readonly userTokens = new Map<string, UserToken>();
  /** They are keyed by SHA-256 of the token. */
  readonly scrapeTokens = new Map<string, DatabaseId>();
  /** The same of queues. */
  readonly queueScrapeTokens = new Map<string, AccountId>();
  readonly #idsByName = new Owned<string, DatabaseId>();
  readonly #owned = new Owned<AccountId, DatabaseId>();
  #liveCount = 0;

  constructor({ keepsAudit = true }: ControlStateOptions = {}) {
    super();
    this.audit = new AuditLog(keepsAudit);
  }

  /** Undefined for one that is deleted or never was. */
  live(id: DatabaseId): Database | undefined {
    const database = this.databases.get(id);
    return database?.deletedAtMs === undefined ? database : undefined;
  }

  named(account: AccountId, name: string): Database | undefined {
    return this.#oldest(this.#idsByName.of(nameKey(account, name)))[0];
  }

  /** Not deleted, oldest first. */
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

  /** Puts the account in place of what is there (CST5). For `evolve` alone. */
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

  /** Its keys go with it (CST6). For `evolve` alone. */
  deleteAccount(id: AccountId, atMs: number): void {
    const before = this.accounts.get(id);
    if (before !== undefined) this.#unindexAccount(before);
    this.accounts.delete(id);
    this.deletedAccounts.set(id, atMs);
    this.apiKeys.dropOf(id, () => false);
  }

  #unindexAccount(account: Account): void {
    for (const token of queueTokensOf(account)) this.queueTokens.delete(token.sha256);
    const scrapeToken = account.plan?.prometheusToken;
    if (scrapeToken !== undefined) this.queueScrapeTokens.delete(scrapeToken.sha256);
    this.people.remove(account);
  }

  /** Puts the record in place of what is there (CST1, CST2). For `evolve` alone. */
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

  /** CST4. */
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
