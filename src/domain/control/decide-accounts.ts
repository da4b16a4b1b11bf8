/** Decides commands that create and change accounts. A repetition (same ids and secrets) gets the same answer. */
import type { AccountId } from '../../kernel/index.js';
import { ACCOUNT_LIMIT_NAMES, DEFAULT_ACCOUNT_LIMITS, refusedLimit } from './account-limits.js';
import type { ControlCommandOf } from './commands.js';
import { type Decision, decided, rejected } from './decision.js';
import type { ControlEvent } from './events.js';
import { MAX_ACCOUNTS } from './limits.js';
import { refuseName } from './names.js';
import { personOf } from './people.js';
import type { Account, NewAccount } from './records.js';
import type { SealedSecret } from './sealed-secret.js';
import type { ControlState } from './state.js';

export function decideCreateAccount(
  { account }: ControlCommandOf<'CreateAccount'>,
  state: ControlState,
  nowMs: number,
): Decision {
  const known = state.accounts.get(account.id);
  if (known !== undefined && known.secrets.queueToken.sha256 === account.secrets.queueToken.sha256) {
    return decided({ type: 'OneAccount', account: known });
  }
  const refusal = refuseNewAccount(account, state);
  if (refusal !== undefined) return refusal;
  return decided({ type: 'OneAccount', account: accountOf(account, nowMs) }, ...accountCreation(account, nowMs));
}

/** The events of a new account. */
export function accountCreation({ readOnlyToken, limits, ...created }: NewAccount, atMs: number): ControlEvent[] {
  const { id: account, secrets } = created;
  const events: ControlEvent[] = [{ type: 'AccountCreated', ...created, createdAtMs: atMs }];
  if (readOnlyToken !== undefined) {
    events.push({ type: 'QueueTokensSet', account, queueToken: secrets.queueToken, readOnlyToken, atMs });
  }
  if (limits !== undefined) events.push({ type: 'AccountLimitsSet', account, limits, atMs });
  return events;
}

export function accountOf(account: NewAccount, createdAtMs: number): Account {
  return { ...account, createdAtMs, state: undefined };
}

function refuseNewAccount(account: NewAccount, state: ControlState): Decision | undefined {
  if (state.people.hasOwnAccount(personOf(account))) {
    return rejected('NAME_TAKEN', `there is an account of ${account.email} already`);
  }
  return refuseNewRecord(account, state);
}

/** For accounts that need not belong to a person. */
export function refuseNewRecord(account: NewAccount, state: ControlState): Decision | undefined {
  const { id, name, secrets, readOnlyToken, limits } = account;
  if (state.accounts.has(id) || state.deletedAccounts.has(id)) {
    return rejected('ID_TAKEN', `there is an account ${id} already`);
  }
  const badName = refuseName(name);
  if (badName !== undefined) return badName;
  if (state.accounts.size >= MAX_ACCOUNTS) {
    return rejected('TOO_MANY_ACCOUNTS', `there are ${MAX_ACCOUNTS} accounts, which is the maximum`);
  }
  const wrong = limits === undefined ? undefined : refusedLimit(limits);
  if (wrong !== undefined) return rejected('BAD_LIMITS', wrong);
  const { sha256 } = secrets.mgmtKey;
  if (state.people.mgmtKeys.has(sha256) || state.apiKeys.bySecret.has(sha256)) {
    return rejected('SECRET_TAKEN', 'the key is in use already');
  }
  return refuseTokens(secrets.queueToken, readOnlyToken, state);
}

export function decideAccountLimits(
  command: ControlCommandOf<'SetAccountLimits'>,
  state: ControlState,
  atMs: number,
): Decision {
  const account = state.accounts.get(command.account);
  if (account === undefined) return unknownAccount(command.account);
  const limits = { ...DEFAULT_ACCOUNT_LIMITS, ...account.limits, ...command.limits };
  const wrong = refusedLimit(limits);
  if (wrong !== undefined) return rejected('BAD_LIMITS', wrong);
  if (account.limits !== undefined && ACCOUNT_LIMIT_NAMES.every((name) => limits[name] === account.limits?.[name])) {
    return decided({ type: 'OneAccount', account });
  }
  return decided(
    { type: 'OneAccount', account: { ...account, limits } },
    { type: 'AccountLimitsSet', account: account.id, limits, atMs },
  );
}

export function decideAccountState(
  command: ControlCommandOf<'SetAccountState'>,
  state: ControlState,
  atMs: number,
): Decision {
  const account = state.accounts.get(command.account);
  if (account === undefined) return unknownAccount(command.account);
  if ((account.state ?? 'active') === command.state) return decided({ type: 'OneAccount', account });
  return decided(
    { type: 'OneAccount', account: { ...account, state: command.state } },
    { type: 'AccountStateSet', account: account.id, state: command.state, atMs },
  );
}

export function decideQueueTokens(
  command: ControlCommandOf<'ResetQueueTokens'>,
  state: ControlState,
  atMs: number,
): Decision {
  const account = state.accounts.get(command.account);
  if (account === undefined) return unknownAccount(command.account);
  const { queueToken, readOnlyToken } = command.tokens;
  const changed = { ...account, secrets: { ...account.secrets, queueToken }, readOnlyToken };
  if (account.secrets.queueToken.sha256 === queueToken.sha256) return decided({ type: 'OneAccount', account });
  const refusal = refuseTokens(queueToken, readOnlyToken, state);
  if (refusal !== undefined) return refusal;
  return decided(
    { type: 'OneAccount', account: changed },
    { type: 'QueueTokensSet', account: account.id, queueToken, readOnlyToken, atMs },
  );
}

export function decideRotateKeys(
  command: ControlCommandOf<'RotateSigningKeys'>,
  state: ControlState,
  atMs: number,
): Decision {
  const account = state.accounts.get(command.account);
  if (account === undefined) return unknownAccount(command.account);
  const { next } = command;
  const current = account.secrets.signingKeyNext;
  if (current.sha256 === next.sha256) return decided({ type: 'OneAccount', account });
  const secrets = { ...account.secrets, signingKeyCurrent: current, signingKeyNext: next };
  return decided(
    { type: 'OneAccount', account: { ...account, secrets } },
    { type: 'SigningKeysRotated', account: account.id, current, next, atMs },
  );
}

export function decideListAccounts(_: ControlCommandOf<'ListAccounts'>, state: ControlState): Decision {
  const accounts = [...state.accounts.values()];
  accounts.sort((a, b) => a.createdAtMs - b.createdAtMs || (a.id < b.id ? -1 : 1));
  return decided({ type: 'Accounts', accounts });
}

function refuseTokens(
  queueToken: SealedSecret,
  readOnlyToken: SealedSecret | undefined,
  state: ControlState,
): Decision | undefined {
  const isSame = queueToken.sha256 === readOnlyToken?.sha256;
  const isTaken = [queueToken, readOnlyToken].some(
    (token) => token !== undefined && state.queueTokens.has(token.sha256),
  );
  return isSame || isTaken ? rejected('SECRET_TAKEN', 'a token is in use already') : undefined;
}

export function unknownAccount(id: AccountId): Decision {
  return rejected('UNKNOWN_ACCOUNT', `there is no account ${id}`);
}
