/**
 * What a user may do, compiled from the text of the user's rules and kept by it: an edge asks before a
 * command leaves for its partition, the owner asks before each command of a script. Both compile the same text.
 */
import type { ByteString } from '../../../kernel/index.js';
import type { CommandSpec, Permissions } from '../command-spec.js';
import { AclUser } from './acl-user.js';
import { ruleNameOf } from './categories.js';
import { PermissionDenied } from './permission-denied.js';
import type { AclSelector, Objection } from './selector.js';

export const DEFAULT_USER = 'default';
/** What the read-only token acts as. */
export const READ_ONLY_USER = 'default_ro';

const EVERYTHING = ['on', 'sanitize-payload', '~*', '&*', '+@all'].join('\n');

/** Readers may look at what they can name, and not list what there is; a connection may be tried out. */
const READ_ONLY = [
  ...['on', 'sanitize-payload', '~*', '&*', '-@all'],
  ...['+@read', '-@dangerous', '-scan', '-keys', '+ping', '+echo', '+time'],
].join('\n');

export const RULES_OF_DEFAULT: string = EVERYTHING;
export const RULES_OF_READ_ONLY: string = READ_ONLY;

/** Compiled users kept: those of many databases; beyond it all are compiled again, at some 50 µs each. */
const MAX_COMPILED = 10_000;

class UserPermissions implements Permissions {
  constructor(
    readonly user: ByteString,
    private readonly selectors: readonly AclSelector[],
  ) {}

  refusal(spec: CommandSpec, words: readonly ByteString[]): PermissionDenied | undefined {
    let nearest: Objection | undefined;
    for (const selector of this.selectors) {
      const objection = selector.objectionTo(spec, words);
      if (objection === undefined) return undefined;
      if (nearest === undefined || isNearer(objection, nearest)) nearest = objection;
    }
    const name = ruleNameOf(spec);
    const { reason, object } = nearest ?? { reason: 'command', object: '' };
    return new PermissionDenied(this.user, reason, reason === 'command' ? name : object, name);
  }

  get keyPatterns(): readonly ByteString[] {
    return this.selectors.flatMap(({ keyText }) => (keyText === '' ? [] : keyText.split(' ')));
  }

  mayReach(channel: ByteString, isPattern: boolean): boolean {
    return this.selectors.some((selector) => selector.mayReach(channel, isPattern));
  }
}

const NEARNESS = { command: 0, key: 1, channel: 2 } as const;

/** Clients are told the objection that came nearest to letting the command run, as in Redis. */
function isNearer(one: Objection, other: Objection): boolean {
  const by = NEARNESS[one.reason] - NEARNESS[other.reason];
  return by > 0 || (by === 0 && one.position > other.position);
}

const compiled = new Map<string, Permissions | undefined>();

/**
 * @param rules as AclUser shows them
 * @returns undefined: everything is permitted
 * @throws RuleError for rules that this release does not know
 */
export function permissionsOf(rules: string, user: ByteString): Permissions | undefined {
  const key = `${user}\n${rules}`;
  if (compiled.has(key)) return compiled.get(key);
  const { selectors } = AclUser.of(rules);
  const isFree = selectors.some((selector) => selector.allowsEverything);
  const permissions = isFree ? undefined : new UserPermissions(user, selectors);
  if (compiled.size >= MAX_COMPILED) compiled.clear();
  compiled.set(key, permissions);
  return permissions;
}

/** What the read-only token permits. */
export function readOnlyPermissions(): Permissions {
  return permissionsOf(READ_ONLY, READ_ONLY_USER) as Permissions;
}
