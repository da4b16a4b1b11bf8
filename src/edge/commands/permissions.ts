/**
 * The commands that a grant may run: by its user's ACL rules, or for the built-in read-only token by those of
 * `default_ro`.
 */
import {
  type CommandSpec,
  ErrorReply,
  PermissionDenied,
  type Permissions,
  readOnlyPermissions,
} from '../../domain/kv/index.js';
import type { ByteString } from '../../kernel/index.js';
import type { KvGrant } from '../../ports/index.js';

/** Undefined: every command is permitted. */
function permissionsFor(grant: KvGrant): Permissions | undefined {
  return grant.permissions ?? (grant.role === 'read-only' ? readOnlyPermissions() : undefined);
}

/** The error for a command that is not permitted with these words; undefined if it is permitted. */
export function denialOf(grant: KvGrant, spec: CommandSpec, words: readonly ByteString[]): ErrorReply | undefined {
  return permissionsFor(grant)?.refusal(spec, words);
}

/** Is every command permitted with every key? */
export function mayRunWhatever(grant: KvGrant): boolean {
  return permissionsFor(grant) === undefined;
}

/** Is the command permitted for at least some keys? */
export function mayRun(grant: KvGrant, spec: CommandSpec): boolean {
  const denial = denialOf(grant, spec, []);
  return !(denial instanceof PermissionDenied && denial.reason === 'command');
}

/** @param commandName of a subcommand, the name of its container, as in Redis 6 */
export function noPermission(commandName: string): ErrorReply {
  const [container = ''] = commandName.toLowerCase().split(' ');
  return new ErrorReply(`NOPERM this user has no permissions to run the '${container}' command or its subcommand`);
}
