/**
 * The control state: a fold of the control journal. The owner decides on it; every process keeps a copy.
 *
 *  C1 a name belongs to one database of its account that is not deleted
 *  C2 a secret opens one database, and is in the indexes exactly as long as it is in the record
 *  C3 what is remembered by day is bounded in days (limits.ts)
 *  C4 a user's token is there exactly as long as the user has the password it was issued for
 *  C5 a token opens one account's queue, and is in the index exactly as long as it is in the account
 */
import type { AccountId, DatabaseId, SessionId } from '../../kernel/index.js';
import { QuotaDay } from './quota.js';
import {
  type Account,
  type AclUserRecord,
  type Database,
  type MeterMark,
  NO_USAGE,
  type Usage,
  type UserToken,
  type UtcDay,
} from './records.js';

export type TokenRole = 'standard' | 'read-only';

export interface TokenOwner {
  readonly database: DatabaseId;
  readonly role: TokenRole;
}

export interface QueueTokenOwner {
  readonly account: AccountId;
  readonly role: TokenRole;
}

export class ControlState {
  readonly accounts = new Map<AccountId, Account>();
  /** By SHA-256 of the token. */
  readonly queueTokens = new Map<string, QueueTokenOwner>();
  /** Deleted ones too. */
  readonly databases = new Map<DatabaseId, Database>();
  firstStart: { readonly account: AccountId; readonly database: DatabaseId } | undefined;
  /** By SHA-256 of the token. */
  readonly tokens = new Map<string, TokenOwner>();
  /** By SHA-256 of the password. */
  readonly passwords = new Map<string, DatabaseId>();
  /** By name. */
  readonly users = new Map<DatabaseId, Map<string, AclUserRecord>>();
  /** By SHA-256 of the token. */
  readonly userTokens = new Map<string, UserToken>();
  readonly #idsByName = new Map<string, DatabaseId>();
  readonly quotas = new Map<DatabaseId, Map<UtcDay, QuotaDay>>();
  readonly usage = new Map<DatabaseId, Map<UtcDay, Usage>>();
  /** In the meter's log: everything up to it is counted. */
  meterPosition = 0;
  readonly meterMarks = new Map<SessionId, MeterMark>();
  /** The latest day that anything was counted on; what is too old is judged by it. */
  latestDay: UtcDay = 0;

  /** Undefined for one that is deleted or never was. */
  live(id: DatabaseId): Database | undefined {
    const database = this.databases.get(id);
    return database?.deletedAtMs === undefined ? database : undefined;
  }

  named(account: AccountId, name: string): Database | undefined {
    const id = this.#idsByName.get(nameKey(account, name));
    return id === undefined ? undefined : this.databases.get(id);
  }

  get liveCount(): number {
    return this.#idsByName.size;
  }

  usageOf(database: DatabaseId, day: UtcDay): Usage {
    return this.usage.get(database)?.get(day) ?? NO_USAGE;
  }

  quotaOf(database: DatabaseId, day: UtcDay): QuotaDay | undefined {
    return this.quotas.get(database)?.get(day);
  }

  /** Processes that hold, or held today, a share of somebody's limit. */
  quotaSessions(): Set<SessionId> {
    const sessions = new Set<SessionId>();
    for (const days of this.quotas.values()) {
      for (const { shares } of days.values()) for (const session of shares.keys()) sessions.add(session);
    }
    return sessions;
  }

  /** Puts the account in place of what is there (C5). For `evolve` alone. */
  putAccount(account: Account): void {
    const before = this.accounts.get(account.id);
    if (before !== undefined) for (const token of queueTokensOf(before)) this.queueTokens.delete(token.sha256);
    this.accounts.set(account.id, account);
    const { id, secrets, readOnlyToken } = account;
    this.queueTokens.set(secrets.queueToken.sha256, { account: id, role: 'standard' });
    if (readOnlyToken !== undefined) this.queueTokens.set(readOnlyToken.sha256, { account: id, role: 'read-only' });
  }

  /** Puts the record in place of what is there (C1, C2). For `evolve` alone. */
  put(database: Database): void {
    const before = this.databases.get(database.id);
    if (before !== undefined) this.#unindex(before);
    this.databases.set(database.id, database);
    const { id, account, name, secrets } = database;
    if (database.deletedAtMs === undefined) this.#idsByName.set(nameKey(account, name), id);
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

  /** For `evolve` alone. */
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

  /** C4. */
  dropVoidTokens(database: DatabaseId, user: string): void {
    for (const [sha256, token] of this.userTokens) {
      if (token.database !== database || token.user !== user) continue;
      if (!this.isPasswordOf(database, user, token.password)) this.userTokens.delete(sha256);
    }
  }

  #unindex({ account, name, secrets, deletedAtMs }: Database): void {
    if (deletedAtMs === undefined) this.#idsByName.delete(nameKey(account, name));
    if (secrets === undefined) return;
    this.tokens.delete(secrets.standardToken.sha256);
    this.tokens.delete(secrets.readOnlyToken.sha256);
    this.passwords.delete(secrets.password.sha256);
  }

  quotaDay(database: DatabaseId, day: UtcDay): QuotaDay {
    const days = dayMap(this.quotas, database);
    let quota = days.get(day);
    if (quota === undefined) {
      quota = new QuotaDay();
      days.set(day, quota);
    }
    return quota;
  }

  setUsage(database: DatabaseId, day: UtcDay, usage: Usage): void {
    dayMap(this.usage, database).set(day, usage);
  }
}

function queueTokensOf({ secrets, readOnlyToken }: Account) {
  return readOnlyToken === undefined ? [secrets.queueToken] : [secrets.queueToken, readOnlyToken];
}

function nameKey(account: AccountId, name: string): string {
  return `${account} ${name}`;
}

function dayMap<T>(byDatabase: Map<DatabaseId, Map<UtcDay, T>>, database: DatabaseId): Map<UtcDay, T> {
  let days = byDatabase.get(database);
  if (days === undefined) {
    days = new Map();
    byDatabase.set(database, days);
  }
  return days;
}
