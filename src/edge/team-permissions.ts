/** Checks the right that a route declares (domain/control/rights.ts). */
import { BUILT_IN_ROLES, kindOf, type Right, type RoleRights } from '../domain/control/index.js';
import { forbidden } from './error-map.js';
import { RefusedRequest } from './http/refused.js';
import type { Described, PathParts } from './http/route.js';

export type { Right } from '../domain/control/index.js';

/** The part of a grant that decides about rights. */
export interface Entitled {
  readonly role: string;
  readonly rights: RoleRights;
}

interface Demanding extends Pick<Described, 'answersSome'> {
  readonly permission: Right | 'open';
}

/** @param path of the call: `id` names the resource. @throws Refused 403 */
export function mustBeEntitled({ role, rights }: Entitled, route: Demanding, { id }: PathParts): void {
  const { permission, answersSome } = route;
  if (permission === 'open') return;
  const on = kindOf(permission) === undefined ? undefined : id?.toLowerCase();
  const may = answersSome === true && on === undefined ? rights.hasSome(permission) : rights.has(permission, on);
  if (!may) throw refusedRole(role);
}

/** @param on  the id of the resource, as it is shown. @throws Refused 403 */
export function mustBeAllowed({ role, rights }: Entitled, right: Right, on?: string): void {
  if (!rights.has(right, on)) throw refusedRole(role);
}

function refusedRole(role: string): RefusedRequest {
  return new RefusedRequest(forbidden(`the role ${role} may not do this`));
}

/** The built-in roles with the right. */
export function rolesWith(right: string): readonly string[] {
  return Object.entries<readonly string[]>(BUILT_IN_ROLES).flatMap(([role, all]) =>
    all.includes(right) ? [role] : [],
  );
}

/** A sentence about the credentials of a route. */
export function accessOf({ permission, methods: [method] }: Pick<Described, 'permission' | 'methods'>): string {
  if (permission === 'open') return 'Needs no credentials.';
  const key =
    method === 'get'
      ? 'Needs a management key or a session. A read-only key is sufficient.'
      : 'Needs a management key or a session. A read-only key is refused.';
  if (permission.startsWith('self:')) return key;
  const roles = rolesWith(permission);
  return `${key} Needs the right \`${permission}\`, which the roles ${roles.join(', ').replace(/, (\w+)$/, ' and $1')} have.`;
}
