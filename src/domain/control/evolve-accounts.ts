/** Events of accounts, teams and API keys. */
import { type AccountId, assert } from '../../kernel/index.js';
import { actsFor } from './assigned-roles.js';
import type { ControlEventOf } from './events.js';
import { dropKeys } from './evolve-roles.js';
import type { Account } from './records.js';
import type { ControlState } from './state.js';

export function accountCreated({ type: _, ...account }: ControlEventOf<'AccountCreated'>, state: ControlState): void {
  state.putAccount(account);
}

export function accountDeleted({ account, atMs }: ControlEventOf<'AccountDeleted'>, state: ControlState): void {
  state.deleteAccount(account, atMs);
}

export function accountLimitsSet({ account, limits }: ControlEventOf<'AccountLimitsSet'>, state: ControlState): void {
  state.putAccount({ ...existing(state, account), limits });
}

export function accountStateSet(event: ControlEventOf<'AccountStateSet'>, state: ControlState): void {
  state.putAccount({ ...existing(state, event.account), state: event.state });
}

export function accountPlanSet({ account, plan }: ControlEventOf<'AccountPlanSet'>, state: ControlState): void {
  state.putAccount({ ...existing(state, account), plan });
}

export function teamSet(event: ControlEventOf<'TeamSet'>, state: ControlState): void {
  const account = { ...existing(state, event.account), team: event.team };
  state.putAccount(account);
  dropKeys(state, account.id);
}

export function queueMoved({ account, owner }: ControlEventOf<'QueueMoved'>, state: ControlState): void {
  state.putAccount({ ...existing(state, account), queueOwner: owner });
}

export function queueTokensSet(event: ControlEventOf<'QueueTokensSet'>, state: ControlState): void {
  const before = existing(state, event.account);
  const { queueToken, readOnlyToken } = event;
  state.putAccount({ ...before, secrets: { ...before.secrets, queueToken }, readOnlyToken });
}

export function signingKeysRotated(event: ControlEventOf<'SigningKeysRotated'>, state: ControlState): void {
  const before = existing(state, event.account);
  const { current: signingKeyCurrent, next: signingKeyNext } = event;
  state.putAccount({ ...before, secrets: { ...before.secrets, signingKeyCurrent, signingKeyNext } });
}

export function apiKeyCreated({ type: _, ...key }: ControlEventOf<'ApiKeyCreated'>, state: ControlState): void {
  state.apiKeys.put(key);
}

export function apiKeyDeleted({ id }: ControlEventOf<'ApiKeyDeleted'>, state: ControlState): void {
  state.apiKeys.delete(id);
}

function existing(state: ControlState, id: AccountId): Account {
  const account = state.accounts.get(id);
  assert(account !== undefined, 'an event of an account that is not there', { account: id });
  return account;
}

/** Events of sessions, and of people of identity providers. */
export function providerPersonSet(event: ControlEventOf<'ProviderPersonSet'>, state: ControlState): void {
  const { email, provider, subject, roles, atMs } = event;
  const before = state.providerPeople.byEmail.get(email)?.roles ?? [];
  state.providerPeople.put({ email, provider, subject, roles, sinceMs: atMs });
  // CST6 (a person's key exists as long as the person acts for the account).
  for (const { account } of before) {
    if (!actsFor(state.accounts.get(account), email, state))
      state.apiKeys.dropOf(account, (key) => key.email !== email);
  }
}

export function sessionBegan(
  { type: _, ...session }: ControlEventOf<'SessionBegan'>,
  { sessions }: ControlState,
): void {
  sessions.put(session);
}

export function sessionTokensSet({ name, tokens }: ControlEventOf<'SessionTokensSet'>, state: ControlState): void {
  state.sessions.setTokens(name, tokens);
}

export function signedOut(event: ControlEventOf<'SignedOut'>, state: ControlState): void {
  state.signedOut.add(event, event.atMs);
  state.sessions.delete(event.session);
}
