/**
 * A user's permissions, compiled from the text of its rules and cached by that text. The edge checks a command before
 * sending it to its partition; the owner checks each command of a script. Both compile the same text.
 */
import type { ByteString } from '../../../kernel/index.js';
import type { Permissions } from '../command-description.js';
import type { CommandSpec } from '../command-spec.js';
import { AclUser } from './acl-user.js';
import { ruleNameOf } from './categories.js';
import { type Objection, PermissionDenied } from './permission-denied.js';
import type { AclSelector } from './selector.js';

export const DEFAULT_USER = 'default';
/** The user of the read-only token. */
export const READ_ONLY_USER = 'default_ro';

const EVERYTHING = ['on', 'sanitize-payload', '~*', '&*', '+@all'].join('\n');

/** Readers may read keys that they can name but not list keys; connection checks are allowed. */
const READ_ONLY = [
  ...['on', 'sanitize-payload', '~*', '&*', '-@all'],
  ...['+@read', '-@dangerous', '-scan', '-keys', '+ping', '+echo', '+time'],
].join('\n');

export const RULES_OF_DEFAULT: string = EVERYTHING;
export const RULES_OF_READ_ONLY: string = READ_ONLY;

/**
 * Cached users, enough for many databases; when full, the cache is emptied and users are compiled again, at about 50 µs
 * each.
 */
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

/** As in Redis, the client gets the objection of the selector that came closest to allowing the command. */
function isNearer(one: Objection, other: Objection): boolean {
  const by = NEARNESS[one.reason] - NEARNESS[other.reason];
  return by > 0 || (by === 0 && one.position > other.position);
}

const compiled = new Map<string, Permissions | undefined>();

/**
 * @param rules as `AclUser.rules` returns them @returns undefined: all permissions @throws RuleError for rules that
 * this release does not know
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

/** The permissions of the read-only token. */
export function readOnlyPermissions(): Permissions {
  return permissionsOf(READ_ONLY, READ_ONLY_USER) as Permissions;
}
