/** The roles that a person has in an account, from all records together. */
import type { AccountId } from '../../kernel/index.js';
import { isPersons, personOf } from './people.js';
import type { Account } from './records.js';
import { type AssignedRole, BUILT_IN_ROLES, isBuiltInRole, type RoleLookup } from './rights.js';
import type { ControlState } from './state.js';

/** The roles of a person in the account: as owner or member, by assignments, and by groups of a provider. */
export function rolesIn(account: Account, email: string, { providerPeople, roles }: ControlState): AssignedRole[] {
  const { id, team } = account;
  const isOwner = team === undefined && isPersons(account) && personOf(account) === email;
  const member = isOwner ? 'owner' : team?.members.find((each) => each.email === email)?.role;
  const given = roles.assignmentsTo(email).filter((each) => each.account === id);
  return [...(member === undefined ? [] : [{ role: member }]), ...given, ...providerPeople.rolesOf(email, id)];
}

/** Whether the person may act for the account. */
export function actsFor(account: Account | undefined, email: string, state: ControlState): account is Account {
  return account !== undefined && rolesIn(account, email, state).length > 0;
}

export function roleLookup({ roles }: ControlState, account: AccountId): RoleLookup {
  return (name) => (isBuiltInRole(name) ? BUILT_IN_ROLES[name] : (roles.named(account, name)?.rights ?? []));
}
