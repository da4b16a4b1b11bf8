/** Events of sessions, and of people of identity providers. */
import type { ControlEventOf } from './events.js';
import { actsFor } from './held-roles.js';
import type { ControlState } from './state.js';

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
