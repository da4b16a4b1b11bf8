/** The roles that groups of an identity provider give, by the rules of the settings. */
import type { AccountId } from '../../kernel/index.js';
import { roleLookup } from './assigned-roles.js';
import type { PersonRole } from './provider-people.js';
import type { ControlState } from './state.js';

/** A rule of the settings: members of the group have the role in the account. */
export interface GroupRole {
  /** `*`: all people of the provider. */
  readonly group: string;
  /** A built-in role except `owner`, or an own one of the account. */
  readonly role: string;
  /** Id or name of a team; undefined: the first account. */
  readonly account?: string | undefined;
  /** The id of the only resource that the role is for. */
  readonly on?: string | undefined;
}

/** Roles of members, the strongest first: only the strongest counts. */
const BY_STRENGTH = ['admin', 'dev', 'finance'];

/**
 * The roles by the rules, in their order, then those by assignments to groups of the provider. A name of a team that
 * several accounts have finds none.
 */
export function mappedRoles(
  state: ControlState,
  rules: readonly GroupRole[],
  groups: readonly string[],
  provider = '',
): PersonRole[] {
  const found: PersonRole[] = [];
  for (const { group, role, account: named, on } of rules) {
    if (group !== '*' && !groups.includes(group)) continue;
    const account = named === undefined ? state.firstStart?.account : teamNamed(state, named);
    if (account !== undefined) add(state, found, { account, role, ...(on !== undefined && { on }) });
  }
  const subjects = new Set(groups.map((group) => `${provider}:${group}`));
  for (const { kind, subject, account, role, on } of state.roles.assignments.values()) {
    if (kind === 'group' && subjects.has(subject))
      add(state, found, { account, role, ...(on !== undefined && { on }) });
  }
  return found;
}

/** Replaces a weaker role of members, and adds every other role that exists. */
function add(state: ControlState, found: PersonRole[], one: PersonRole): void {
  const { account, role } = one;
  if (roleLookup(state, account)(role).length === 0) return;
  const at = found.findIndex(
    (each) => each.account === account && (isMembers(each) ? isMembers(one) : isSame(each, one)),
  );
  if (at < 0) found.push(one);
  else if (isMembers(one) && strength(role) < strength((found[at] as PersonRole).role)) found[at] = { account, role };
}

function isMembers({ role, on }: PersonRole): boolean {
  return on === undefined && BY_STRENGTH.includes(role);
}

function isSame(one: PersonRole, other: PersonRole): boolean {
  return one.role === other.role && one.on === other.on;
}

function strength(role: string): number {
  return BY_STRENGTH.indexOf(role);
}

function teamNamed({ accounts }: ControlState, named: string): AccountId | undefined {
  const teams = [...accounts.values()].filter(({ team }) => team !== undefined);
  const byId = teams.find(({ id }) => id === named);
  const byName = teams.filter(({ name }) => name === named);
  return byId?.id ?? (byName.length === 1 ? byName[0]?.id : undefined);
}
