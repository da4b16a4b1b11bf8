/** What a grant may run: what its user's ACL rules say; for the built-in read-only token, those of `default_ro`. */
import {
  type CommandSpec,
  ErrorReply,
  PermissionDenied,
  type Permissions,
  readOnlyPermissions,
} from '../../domain/kv/index.js';
import type { ByteString } from '../../kernel/index.js';
import type { KvGrant } from '../../ports/index.js';

/** Undefined: everything. */
function permissionsFor(grant: KvGrant): Permissions | undefined {
  return grant.permissions ?? (grant.role === 'read-only' ? readOnlyPermissions() : undefined);
}

/** The error to answer instead, or undefined when the command may run with these words. */
export function denialOf(grant: KvGrant, spec: CommandSpec, words: readonly ByteString[]): ErrorReply | undefined {
  return permissionsFor(grant)?.refusal(spec, words);
}

/** Whatever the command is, and whatever its words? */
export function mayRunWhatever(grant: KvGrant): boolean {
  return permissionsFor(grant) === undefined;
}

/** May the command run at all, on some keys? */
export function mayRun(grant: KvGrant, spec: CommandSpec): boolean {
  const denial = denialOf(grant, spec, []);
  return !(denial instanceof PermissionDenied && denial.reason === 'command');
}

/** @param commandName of a subcommand its container's, as Redis 6 words it */
export function noPermission(commandName: string): ErrorReply {
  const [container = ''] = commandName.toLowerCase().split(' ');
  return new ErrorReply(`NOPERM this user has no permissions to run the '${container}' command or its subcommand`);
}
