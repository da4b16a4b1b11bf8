/**
 * Decides commands about own roles and assignments. The edge checks that the caller has every right that it gives.
 *
 *  RDE1 before format level ROLES_FORMAT_LEVEL roles are refused, because earlier programs could not read the events
 */
import { type AccountId, FIRST_FORMAT_LEVEL, ROLES_FORMAT_LEVEL } from '../../kernel/index.js';
import { roleLookup } from './assigned-roles.js';
import type { ControlCommandOf } from './commands.js';
import { unknownAccount } from './decide-accounts.js';
import { type Decision, decided, rejected } from './decision.js';
import { MAX_ACCOUNT_ASSIGNMENTS, MAX_ACCOUNT_ROLES, MAX_ASSIGNMENTS, MAX_ROLE_TEXT, MAX_ROLES } from './limits.js';
import { isEmail, refuseName } from './names.js';
import { ALL_RIGHTS, isBuiltInRole, kindOf, type Right } from './rights.js';
import { inOrder, type OwnRole, type RoleAssignment } from './roles.js';
import type { ControlState } from './state.js';

/** Answers with all roles of the account, as the other changes of roles do. */
export function decideSetRole(
  { role, isNew }: ControlCommandOf<'SetRole'>,
  state: ControlState,
  atMs: number,
): Decision {
  const { account, name, description, rights } = role;
  const refusal = refusedLevel(state) ?? refuseName(name);
  if (refusal !== undefined) return refusal;
  if (!state.accounts.has(account)) return unknownAccount(account);
  const own = state.roles.of(account);
  const known = state.roles.named(account, name);
  if (known !== undefined && isSame(known, role)) return rolesOf(state, account);
  if (isNew && (isBuiltInRole(name) || known !== undefined)) {
    return rejected('NAME_TAKEN', `there is a role named ${name} already`);
  }
  if (!isNew && known === undefined) return unknownRole(name);
  const wrong = rights.find((right) => !ALL_RIGHTS.some((each) => each === right));
  if (wrong !== undefined) return rejected('BAD_VALUE', `rights: there is no right ${wrong.slice(0, MAX_ROLE_TEXT)}`);
  if (rights.length === 0) return rejected('BAD_VALUE', 'rights: a role has at least one right');
  if (description.length > MAX_ROLE_TEXT) {
    return rejected('BAD_VALUE', `description: must have at most ${MAX_ROLE_TEXT} characters`);
  }
  if (known === undefined && (own.length >= MAX_ACCOUNT_ROLES || state.roles.roleCount >= MAX_ROLES)) {
    return rejected('TOO_MANY', `an account has at most ${MAX_ACCOUNT_ROLES} roles of its own`);
  }
  const set: OwnRole = { account, name, description, rights: ALL_RIGHTS.filter((right) => rights.includes(right)) };
  const roles = [...own.filter((each) => each !== known), set].sort((a, b) => (a.name < b.name ? -1 : 1));
  const reply = { type: 'RolesAre', roles, assignments: state.roles.assignmentsOf(account) } as const;
  return decided(reply, { type: 'RoleSet', role: set, atMs });
}

/** Its assignments and the keys that have it end with the role. */
export function decideDeleteRole(
  { account, name }: ControlCommandOf<'DeleteRole'>,
  state: ControlState,
  atMs: number,
): Decision {
  if (isBuiltInRole(name)) return rejected('CONFLICTS', `the role ${name} is built in and cannot be deleted`);
  if (state.roles.named(account, name) === undefined) return unknownRole(name);
  const roles = state.roles.of(account).filter((each) => each.name !== name);
  const assignments = state.roles.assignmentsOf(account).filter(({ role }) => role !== name);
  return decided({ type: 'RolesAre', roles, assignments }, { type: 'RoleDeleted', account, name, atMs });
}

export function decideAssignRole(
  { assignment }: ControlCommandOf<'AssignRole'>,
  state: ControlState,
  atMs: number,
): Decision {
  const refusal = refusedLevel(state);
  if (refusal !== undefined) return refusal;
  const { id, account, kind, role, on } = assignment;
  if (!state.accounts.has(account)) return unknownAccount(account);
  const subject = kind === 'person' ? assignment.subject.toLowerCase() : assignment.subject;
  if (kind === 'person' && !isEmail(subject)) return rejected('BAD_VALUE', 'email: is not an e-mail address');
  if (subject.length > MAX_ROLE_TEXT) return rejected('BAD_VALUE', `a subject has at most ${MAX_ROLE_TEXT} characters`);
  const wrong = refuseUse(state, account, { role, on });
  if (wrong !== undefined) return wrong;
  const own = state.roles.assignmentsOf(account);
  const isKnown = (each: RoleAssignment) =>
    each.kind === kind && each.subject === subject && each.role === role && each.on === on;
  if (own.some((each) => each.id === id || isKnown(each))) return rolesOf(state, account);
  // An assignment of another account would be replaced.
  if (state.roles.assignments.has(id)) return rejected('ID_TAKEN', 'there is such an assignment already');
  if (own.length >= MAX_ACCOUNT_ASSIGNMENTS || state.roles.assignments.size >= MAX_ASSIGNMENTS) {
    return rejected('TOO_MANY', `an account has at most ${MAX_ACCOUNT_ASSIGNMENTS} assignments of roles`);
  }
  const set = { id, account, kind, subject, role, ...(on !== undefined && { on }), createdAtMs: atMs };
  const reply = { type: 'RolesAre', roles: state.roles.of(account), assignments: inOrder([...own, set]) } as const;
  return decided(reply, { type: 'RoleAssigned', assignment: set });
}

export function decideUnassignRole(
  { account, id }: ControlCommandOf<'UnassignRole'>,
  state: ControlState,
  atMs: number,
): Decision {
  if (state.roles.assignments.get(id)?.account !== account) {
    return rejected('UNKNOWN_ASSIGNMENT', `there is no assignment ${id}`);
  }
  const assignments = state.roles.assignmentsOf(account).filter((each) => each.id !== id);
  return decided(
    { type: 'RolesAre', roles: state.roles.of(account), assignments },
    { type: 'RoleUnassigned', id, account, atMs },
  );
}

export function decideListRoles({ account }: ControlCommandOf<'ListRoles'>, state: ControlState): Decision {
  return rolesOf(state, account);
}

/** Refuses a role that does not exist, and one without a right on a resource where it is for one. */
export function refuseUse(
  state: ControlState,
  account: AccountId,
  { role, on }: { readonly role: string; readonly on?: string | undefined },
): Decision | undefined {
  const rights = roleLookup(state, account)(role);
  if (rights.length === 0) return unknownRole(role);
  if (on === undefined) return undefined;
  if (on.length > MAX_ROLE_TEXT) return rejected('BAD_VALUE', `on: must have at most ${MAX_ROLE_TEXT} characters`);
  const isOnResources = rights.some((right) => kindOf(right as Right) !== undefined);
  return isOnResources ? undefined : rejected('BAD_VALUE', `on: the role ${role} has no right on a single resource`);
}

export function refusedLevel({ format }: ControlState): Decision | undefined {
  if ((format?.level ?? FIRST_FORMAT_LEVEL) >= ROLES_FORMAT_LEVEL) return undefined;
  return rejected('CONFLICTS', `roles need format level ${ROLES_FORMAT_LEVEL}: run millrace cluster upgrade`);
}

function isSame(known: OwnRole, { description, rights }: OwnRole): boolean {
  return known.description === description && [...known.rights].sort().join() === [...rights].sort().join();
}

function rolesOf({ roles }: ControlState, account: AccountId): Decision {
  return decided({ type: 'RolesAre', roles: roles.of(account), assignments: roles.assignmentsOf(account) });
}

function unknownRole(name: string): Decision {
  return rejected('UNKNOWN_ROLE', `there is no role ${name}`);
}
