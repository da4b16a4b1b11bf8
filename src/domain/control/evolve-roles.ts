/** Events of roles and their assignments. */
import type { AccountId } from '../../kernel/index.js';
import { actsFor } from './assigned-roles.js';
import type { ControlEventOf } from './events.js';
import type { ControlState } from './state.js';

/** Keys with the role end with it: a later role of the same name must not give them rights again. */
export function roleDeleted({ account, name }: ControlEventOf<'RoleDeleted'>, state: ControlState): void {
  state.roles.delete(account, name);
  dropKeys(state, account);
  state.apiKeys.dropOf(account, ({ role }) => role !== name);
}

export function roleUnassigned({ id, account }: ControlEventOf<'RoleUnassigned'>, state: ControlState): void {
  state.roles.unassign(id);
  dropKeys(state, account);
}

/** CST6 (a person's key exists as long as the person acts for the account). */
export function dropKeys(state: ControlState, id: AccountId): void {
  const account = state.accounts.get(id);
  state.apiKeys.dropOf(id, ({ email }) => actsFor(account, email, state));
}
