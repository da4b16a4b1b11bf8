/** The roles that groups of an identity provider give, by the rules of the settings. */
import type { AccountId } from '../../kernel/index.js';
import type { TeamRole } from './management.js';
import type { PersonRole } from './provider-people.js';
import type { ControlState } from './state.js';

/** A rule of the settings: members of the group have the role in the account. */
export interface GroupRole {
  /** `*`: all people of the provider. */
  readonly group: string;
  readonly role: Exclude<TeamRole, 'owner'>;
  /** Id or name of a team; undefined: the first account. */
  readonly account?: string | undefined;
}

/** The strongest first. */
const BY_STRENGTH: readonly TeamRole[] = ['owner', 'admin', 'dev', 'finance'];

/** @returns one role for each account, in the order of the rules. A name that several accounts have finds none */
export function mappedRoles(state: ControlState, rules: readonly GroupRole[], groups: readonly string[]): PersonRole[] {
  const roles = new Map<AccountId, TeamRole>();
  for (const { group, role, account: named } of rules) {
    if (group !== '*' && !groups.includes(group)) continue;
    const account = named === undefined ? state.firstStart?.account : teamNamed(state, named);
    if (account === undefined) continue;
    const before = roles.get(account);
    if (before === undefined || BY_STRENGTH.indexOf(role) < BY_STRENGTH.indexOf(before)) roles.set(account, role);
  }
  return [...roles].map(([account, role]) => ({ account, role }));
}

function teamNamed({ accounts }: ControlState, named: string): AccountId | undefined {
  const teams = [...accounts.values()].filter(({ team }) => team !== undefined);
  const byId = teams.find(({ id }) => id === named);
  const byName = teams.filter(({ name }) => name === named);
  return byId?.id ?? (byName.length === 1 ? byName[0]?.id : undefined);
}
