/**
 * The accounts as the queue needs them: the grant of a token, the account's limits, and the keys that sign deliveries.
 * All are looked up in this process's copy of the control state, and again after each change.
 */
import { type Account, DEFAULT_ACCOUNT_LIMITS } from '../../domain/control/index.js';
import type { AccountTerms } from '../../domain/queue/index.js';
import {
  type AccountId,
  BoundedCache,
  type DatabaseId,
  getOrCreate,
  MillraceError,
  OUTBOX_FORMAT_LEVEL,
  type Random,
} from '../../kernel/index.js';
import type {
  AccountBook,
  OutboxAccount,
  OutboxAccounts,
  QueueAccess,
  QueueAdmin,
  QueueGrant,
  Sealing,
  SigningKeys,
} from '../../ports/index.js';
import { hashSecret, newSecretText, userIdIn } from '../../protocol/index.js';
import type { ControlClient } from './control-client.js';
import type { ControlView } from './control-view.js';
import { sealedSecret } from './credentials.js';

export interface AccountsPorts {
  readonly view: ControlView;
  readonly client: ControlClient;
  readonly random: Random;
  /** Opens the key file; called when a key is needed. */
  readonly sealing: () => Sealing;
}

export interface AccountsOptions {
  /** Cents for 100,000 messages. */
  readonly centsPer100kMessages: number;
}

/** Processes of the previous release cannot read such messages. */
const NEEDS_LEVEL: OutboxAccount = {
  problem: `messages of databases need the format level ${OUTBOX_FORMAT_LEVEL}: run millrace cluster upgrade`,
};

/** Grants kept; above this number all are dropped. */
const MAX_CACHED_GRANTS = 10_000;
/** Unsealed key pairs kept. */
const MAX_CACHED_KEYS = 10_000;
/** Users of tokens kept; as many as there may be accounts. */
const MAX_CACHED_USERS = 10_000;

export class Accounts implements QueueAccess, AccountBook, OutboxAccounts, QueueAdmin {
  readonly #grantsByToken = new BoundedCache<string, QueueGrant>(MAX_CACHED_GRANTS);
  readonly #termsById = new Map<AccountId, AccountTerms>();
  readonly #keysBySealed = new BoundedCache<string, SigningKeys>(MAX_CACHED_KEYS);
  /** Built on demand, and again after a change. */
  #accountsByUser: ReadonlyMap<string, AccountId> | undefined;
  readonly #usersBySealed = new BoundedCache<string, string | undefined>(MAX_CACHED_USERS);
  /** Keys by account object, which is replaced at each change. Every delivery looks a key up. */
  readonly #keysByAccount = new WeakMap<Account, SigningKeys>();
  readonly #listeners = new Set<() => void>();

  constructor(
    private readonly ports: AccountsPorts,
    private readonly options: AccountsOptions,
  ) {
    ports.view.whenAccessChanged(() => {
      this.#grantsByToken.clear();
      this.#termsById.clear();
      this.#accountsByUser = undefined;
      for (const listener of this.#listeners) listener();
    });
  }

  /** Calls the listener after each change of an account; the account's terms may then have changed. */
  whenChanged(listener: () => void): void {
    this.#listeners.add(listener);
  }

  grantForQueueToken(token: string): QueueGrant | undefined {
    const { view } = this.ports;
    view.requireFresh();
    const cached = this.#grantsByToken.get(token);
    if (cached !== undefined) return cached;
    const owner = view.state.queueTokens.get(hashSecret(token));
    const terms = owner === undefined ? undefined : this.termsOf(owner.account);
    if (owner === undefined || terms === undefined) return undefined;
    const grant = { ...owner, terms };
    this.#grantsByToken.set(token, grant);
    return grant;
  }

  grantForAccount(account: AccountId): QueueGrant | undefined {
    this.ports.view.requireFresh();
    const terms = this.termsOf(account);
    return terms && { account, role: 'standard', terms };
  }

  grantForQueueUser(userId: string): QueueGrant | undefined {
    this.ports.view.requireFresh();
    this.#accountsByUser ??= this.#findUsers();
    const account = this.#accountsByUser.get(userId);
    const terms = account === undefined ? undefined : this.termsOf(account);
    return account === undefined || terms === undefined ? undefined : { account, role: 'standard', terms };
  }

  /** May be a moment old, because an owner continues while the control stream is silent. */
  termsOf(id: AccountId): AccountTerms | undefined {
    const cached = this.#termsById.get(id);
    if (cached !== undefined) return cached;
    const { accounts, deletedAccounts } = this.ports.view.state;
    // The messages of a deleted team stay stored: none is accepted, none is delivered.
    const account = deletedAccounts.has(id) ? ({ state: 'passive' } as const) : accounts.get(id);
    if (account === undefined) return undefined;
    const { limits = DEFAULT_ACCOUNT_LIMITS, state = 'active' }: Pick<Account, 'limits' | 'state'> = account;
    const terms = { limits, state, centsPer100kMessages: this.options.centsPer100kMessages };
    this.#termsById.set(id, terms);
    return terms;
  }

  outboxAccountOf(database: DatabaseId, named: string): OutboxAccount {
    const { view } = this.ports;
    if (view.formatLevel < OUTBOX_FORMAT_LEVEL) return NEEDS_LEVEL;
    const owner = view.state.live(database)?.account;
    if (owner === undefined) return { problem: 'the database is not known here yet; try again' };
    const account = named === '' ? owner : (named as AccountId);
    if (account !== owner && view.state.accounts.get(account)?.queueOwner !== owner) {
      return { problem: `the owner of the database has no queue ${named}: CONFIG SET queue-account names another one` };
    }
    const terms = this.termsOf(account);
    return terms === undefined
      ? { problem: `the queue ${account} is not known here yet; try again` }
      : { account, terms, formatLevel: view.formatLevel };
  }

  /** The number of log events kept for each account; undefined while this process may not know the newest number. */
  eventLimits(): Iterable<readonly [AccountId, number]> | undefined {
    const { view } = this.ports;
    return view.isFresh ? maxEventsOf(view.state.accounts) : undefined;
  }

  signingKeysOf(id: AccountId): SigningKeys | undefined {
    const account = this.ports.view.state.accounts.get(id);
    if (account === undefined) return undefined;
    const keys = getOrCreate(this.#keysByAccount, account, () => this.#keysOf(account));
    return keys;
  }

  async rotateSigningKeys(account: AccountId): Promise<SigningKeys> {
    const { client, random } = this.ports;
    const next = sealedSecret(newSecretText(random, 'sig_'), this.ports.sealing());
    const reply = await client.send({ type: 'RotateSigningKeys', account, next });
    if (reply.type !== 'OneAccount') {
      throw new MillraceError('NOT_FOUND', reply.type === 'Rejected' ? reply.message : 'the account does not exist');
    }
    return this.#keysOf(reply.account);
  }

  /** Tokens are stored sealed; each is opened once. A user that two accounts share is found for neither. */
  #findUsers(): ReadonlyMap<string, AccountId> {
    const accounts = new Map<string, AccountId>();
    const shared = new Set<string>();
    for (const { id, secrets } of this.ports.view.state.accounts.values()) {
      const user = this.#userOf(secrets.queueToken.sealed);
      if (user === undefined) continue;
      if (accounts.has(user)) shared.add(user);
      accounts.set(user, id);
    }
    for (const user of shared) accounts.delete(user);
    return accounts;
  }

  #userOf(sealed: string): string | undefined {
    if (this.#usersBySealed.has(sealed)) return this.#usersBySealed.get(sealed);
    const user = openedUser(sealed, this.ports.sealing());
    this.#usersBySealed.set(sealed, user);
    return user;
  }

  #keysOf({ secrets: { signingKeyCurrent, signingKeyNext } }: Account): SigningKeys {
    const name = `${signingKeyCurrent.sealed} ${signingKeyNext.sealed}`;
    return getOrCreate(this.#keysBySealed, name, () => {
      const sealing = this.ports.sealing();
      return { current: sealing.open(signingKeyCurrent.sealed), next: sealing.open(signingKeyNext.sealed) };
    });
  }
}

/**
 * An account whose token cannot be opened receives no webhooks. Its deliveries cannot be signed either, and report
 * that.
 */
function openedUser(sealed: string, sealing: Sealing): string | undefined {
  try {
    return userIdIn(sealing.open(sealed));
  } catch {
    return undefined;
  }
}

function* maxEventsOf(accounts: Iterable<readonly [AccountId, Account]>): Iterable<readonly [AccountId, number]> {
  for (const [id, { limits = DEFAULT_ACCOUNT_LIMITS }] of accounts) yield [id, limits.maxEvents];
}
