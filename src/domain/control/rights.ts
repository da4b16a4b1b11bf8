/**
 * Rights, and the roles that are made of them. Every route of the management API, the operators' API and the console
 * declares one right; a role is a list of rights.
 *
 *  RGT1 a person has the sum of the rights of all roles in the account, and no others
 *  RGT2 a role for one resource gives only rights on resources, and only for that one
 *  RGT3 a key with a role has the rights that both the role and its person have, and cannot make keys, teams or roles
 *       for its person
 */
import type { TeamRole } from './management.js';

/** Rights with their meaning. Those with the name of a kind of resource can be given for one resource. */
export const RIGHTS = {
  'databases:read': 'see databases, their backups, branches and statistics',
  'databases:use': 'see the data and the tokens of databases',
  'databases:change': 'make, change and delete databases, backups and branches, and write data in the console',
  'queues:read': 'see message queue accounts and their statistics',
  'queues:use': 'see the messages and the tokens of queues',
  'queues:change': 'make and change queues, and change their messages in the console',
  'indexes:read': 'see search indexes, indexes of vectors and their statistics',
  'indexes:use': 'see the documents and the tokens of indexes',
  'indexes:change': 'make, change and delete indexes, and write documents in the console',
  'account:read': 'see the audit log, alerts, roles and members',
  'alerts:change': 'make, change and test alert rules',
  'billing:change': 'change plans and budgets',
  'members:change': 'add and remove members, give roles, end sessions of others',
  'account:change': 'delete the team',
  'operation:read': 'see the cluster, in the first account',
  'operation:change': 'steer the cluster, in the first account',
} as const;
/** A right that a role can have. */
export type GivenRight = keyof typeof RIGHTS;
/** Also rights on a person's own keys, sessions and teams, which every person has. */
export type Right = GivenRight | 'self:read' | 'self:change';

export const ALL_RIGHTS = Object.keys(RIGHTS) as readonly GivenRight[];

const KINDS = ['databases', 'queues', 'indexes'] as const;
export type ResourceKind = (typeof KINDS)[number];

/** Undefined for a right on the whole account. */
export function kindOf(right: Right): ResourceKind | undefined {
  return KINDS.find((kind) => right.startsWith(`${kind}:`));
}

const READ = ALL_RIGHTS.filter((right) => kindOf(right) !== undefined && right.endsWith(':read'));
const USE = ALL_RIGHTS.filter((right) => kindOf(right) !== undefined && right.endsWith(':use'));
const BILLING: readonly GivenRight[] = [...READ, 'account:read', 'billing:change'];
const VIEWER: readonly GivenRight[] = [...READ, ...USE, 'account:read'];
const DEVELOPER = ALL_RIGHTS.filter(
  (right) => VIEWER.includes(right) || kindOf(right) !== undefined || right === 'alerts:change',
);

/** Roles of every account, the strongest first. `dev` and `finance` are the names that members have in records. */
export const BUILT_IN_ROLES = {
  owner: ALL_RIGHTS,
  admin: ALL_RIGHTS.filter((right) => right !== 'account:change'),
  operator: [...DEVELOPER, 'operation:read', 'operation:change'],
  developer: DEVELOPER,
  dev: DEVELOPER,
  billing: BILLING,
  finance: BILLING,
  viewer: VIEWER,
} as const satisfies Readonly<Record<TeamRole, readonly GivenRight[]>> &
  Readonly<Record<string, readonly GivenRight[]>>;

const STRONGEST_FIRST = Object.keys(BUILT_IN_ROLES);

export function isBuiltInRole(name: string): name is keyof typeof BUILT_IN_ROLES {
  return STRONGEST_FIRST.includes(name);
}

/** A role that a person or a key has. */
export interface AssignedRole {
  readonly role: string;
  /** The only resource that it is for, as its id is shown; undefined: the whole account. */
  readonly on?: string | undefined;
}

/** The rights of a role; none for a role that does not exist. */
export type RoleLookup = (name: string) => readonly string[];

/** The strongest built-in role for the whole account, otherwise the first role. It names a caller in answers and refusals. */
export function shownRole(held: readonly AssignedRole[]): string {
  const whole = held.filter(({ on }) => on === undefined).map(({ role }) => role);
  return STRONGEST_FIRST.find((name) => whole.includes(name)) ?? whole[0] ?? held[0]?.role ?? '';
}

export class RoleRights {
  readonly #whole = new Set<string>();
  readonly #byResource = new Map<string, Set<string>>();

  /** @param limit  RGT3: the rights of the key's role */
  constructor(
    held: readonly AssignedRole[],
    rightsOf: RoleLookup,
    private readonly limit?: RoleRights,
  ) {
    for (const { role, on } of held) {
      const given = on === undefined ? this.#whole : this.#on(on);
      for (const right of rightsOf(role))
        if (on === undefined || kindOf(right as Right) !== undefined) given.add(right);
    }
  }

  /** RGT3: a key with a role. */
  get isLimited(): boolean {
    return this.limit !== undefined;
  }

  /** @param on  the resource; undefined: the whole account */
  has(right: Right, on?: string): boolean {
    if (right === 'self:read') return true;
    if (right === 'self:change') return this.limit === undefined;
    const own = this.#whole.has(right) || (on !== undefined && this.#byResource.get(on)?.has(right) === true);
    return own && this.limit?.has(right, on) !== false;
  }

  /** On the whole account or on any resource: a list shows those. */
  hasSome(right: Right): boolean {
    const own = this.has(right) || this.#whole.has(right) || [...this.#byResource.values()].some((on) => on.has(right));
    return own && this.limit?.hasSome(right) !== false;
  }

  /** The rights on the whole account. */
  whole(): readonly GivenRight[] {
    return ALL_RIGHTS.filter((right) => this.has(right));
  }

  /** The rights on at least one resource, for pages that show one. */
  some(): readonly GivenRight[] {
    return ALL_RIGHTS.filter((right) => this.hasSome(right));
  }

  #on(id: string): Set<string> {
    const found = this.#byResource.get(id) ?? new Set<string>();
    this.#byResource.set(id, found);
    return found;
  }
}
