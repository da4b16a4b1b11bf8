/** What the built-in read-only token may run, as the command table says. */
import { allCommands, type CommandSpec, ErrorReply } from '../../domain/kv/index.js';
import type { KvGrant } from '../../ports/index.js';

const readOnlyCommands: ReadonlySet<CommandSpec> = new Set(allCommands().filter(isOpenToReaders));

/** A row may say so itself: SCAN reads and is closed, PING does not and is open. */
function isOpenToReaders(spec: CommandSpec): boolean {
  return spec.readOnlyToken ?? (spec.flags.includes('readonly') && !spec.flags.includes('dangerous'));
}

export function mayRun(grant: KvGrant, spec: CommandSpec): boolean {
  return grant.role === 'standard' || readOnlyCommands.has(spec);
}

/** @param commandName of a subcommand its container's, as Redis 6 words it */
export function noPermission(commandName: string): ErrorReply {
  const [container = ''] = commandName.toLowerCase().split(' ');
  return new ErrorReply(`NOPERM this user has no permissions to run the '${container}' command or its subcommand`);
}
