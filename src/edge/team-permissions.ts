/** The permissions of each team role. In a personal account the user is the owner. */
import type { TeamRole } from '../domain/control/index.js';
import { forbidden } from './error-map.js';
import { RefusedRequest } from './http/refused.js';

/**
 * `read`: reading objects. `databases`: creating, changing and deleting databases, search indexes, queue tokens and
 * backups. `payment`: plans and budgets. `members`: members of the team. `owner`: the team itself.
 */
export type Permission = 'read' | 'databases' | 'payment' | 'members' | 'owner';

const PERMISSIONS: Readonly<Record<TeamRole, readonly Permission[]>> = {
  owner: ['read', 'databases', 'payment', 'members', 'owner'],
  admin: ['read', 'databases', 'payment', 'members'],
  dev: ['read', 'databases'],
  finance: ['read', 'payment'],
};

export function mayDo(role: TeamRole, permission: Permission): boolean {
  return PERMISSIONS[role].includes(permission);
}

/** A sentence about the credentials of a route. */
export function accessOf({ permission }: { readonly permission: string }): string {
  if (permission === 'open') return 'Needs no credentials.';
  if (permission === 'read') return 'Needs a management key or a session. A read-only key is sufficient.';
  const roles = Object.entries(PERMISSIONS).flatMap(([role, all]) =>
    all.some((each) => each === permission) ? [role] : [],
  );
  const ofTeam =
    roles.length === 0 ? '' : ` In a team, the role has to be ${roles.join(', ').replace(/, (\w+)$/, ' or $1')}.`;
  return `Needs a management key or a session. A read-only key is refused.${ofTeam}`;
}

/** @throws Refused 403 */
export function mustBeAllowed(role: TeamRole, permission: Permission): void {
  if (!mayDo(role, permission)) throw new RefusedRequest(forbidden(`the role ${role} may not do this`));
}
