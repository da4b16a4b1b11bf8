/**
 * Decides commands about ACL users and their REST tokens. The rules are not parsed here: the edge has parsed them,
 * and names the revision that it read (`seenRevision`), so that of two concurrent changes none is lost.
 */
import type { ControlCommandOf } from './commands.js';
import { unknownDatabase } from './decide-databases.js';
import { type Decision, decided, rejected } from './decision.js';
import { MAX_USER_NAME_BYTES, MAX_USER_PASSWORDS, MAX_USER_RULES_BYTES, MAX_USERS } from './limits.js';
import type { AclUserRecord } from './records.js';
import type { ControlState } from './state.js';

const SHA256 = /^[0-9a-f]{64}$/;
/** These users are derived from the database's password and read-only token. */
const BUILT_IN: ReadonlySet<string> = new Set(['default', 'default_ro']);

export function decideSetUser(command: ControlCommandOf<'SetUser'>, state: ControlState, nowMs: number): Decision {
  const { type: _, database, seenRevision, ...wanted } = command;
  if (state.live(database) === undefined) return unknownDatabase(database);
  const refusal = refuseUser(wanted);
  if (refusal !== undefined) return refusal;
  const known = state.userOf(database, wanted.name);
  if (known !== undefined && isSame(known, wanted)) return decided({ type: 'UserIs', isSet: true, user: known });
  // A new user with the name of a deleted one has another salt.
  const isAsSeen = (known?.revision ?? 0) === seenRevision && (known?.salt ?? wanted.salt) === wanted.salt;
  if (!isAsSeen) return decided({ type: 'UserIs', isSet: false, user: known });
  if (known === undefined && state.usersOf(database).length >= MAX_USERS) {
    return rejected('TOO_MANY_USERS', `a database has at most ${MAX_USERS} users`);
  }
  const user: AclUserRecord = { ...wanted, revision: seenRevision + 1 };
  return decided({ type: 'UserIs', isSet: true, user }, { type: 'UserSet', database, ...user, atMs: nowMs });
}

export function decideDeleteUser(
  command: ControlCommandOf<'DeleteUser'>,
  state: ControlState,
  nowMs: number,
): Decision {
  const { database, name } = command;
  if (state.userOf(database, name) === undefined) return decided({ type: 'UserIsGone', wasThere: false });
  return decided({ type: 'UserIsGone', wasThere: true }, { type: 'UserDeleted', database, name, atMs: nowMs });
}

export function decideIssueToken(
  { token }: ControlCommandOf<'IssueUserToken'>,
  state: ControlState,
  nowMs: number,
): Decision {
  if (!state.isPasswordOf(token.database, token.user, token.password)) {
    return rejected('UNKNOWN_USER', 'unknown user or wrong password');
  }
  const isTaken = state.tokens.has(token.sha256);
  const known = state.userTokens.get(token.sha256);
  const isSameOwner = known?.database === token.database && known.user === token.user;
  if (isTaken || (known !== undefined && !isSameOwner)) return rejected('SECRET_TAKEN', 'a token is in use already');
  if (known !== undefined && known.password === token.password) return decided({ type: 'UserTokenIsIssued' });
  return decided({ type: 'UserTokenIsIssued' }, { type: 'UserTokenIssued', ...token, atMs: nowMs });
}

function isSame(known: AclUserRecord, wanted: Pick<AclUserRecord, 'rules' | 'passwords'>): boolean {
  return known.rules === wanted.rules && known.passwords.join() === wanted.passwords.join();
}

function refuseUser({ name, rules, passwords }: Omit<AclUserRecord, 'revision'>): Decision | undefined {
  if (BUILT_IN.has(name)) return rejected('BAD_USER', `the user ${name} cannot be changed`);
  if (name === '' || name.length > MAX_USER_NAME_BYTES) {
    return rejected('BAD_USER', `the name of a user must have 1 to ${MAX_USER_NAME_BYTES} bytes`);
  }
  if (rules.length > MAX_USER_RULES_BYTES) {
    return rejected('BAD_USER', `the rules of a user have at most ${MAX_USER_RULES_BYTES} bytes`);
  }
  if (passwords.length > MAX_USER_PASSWORDS) {
    return rejected('BAD_USER', `a user has at most ${MAX_USER_PASSWORDS} passwords`);
  }
  if (!passwords.every((password) => SHA256.test(password)))
    return rejected('BAD_USER', 'a password is not a SHA-256 hash');
  return undefined;
}
