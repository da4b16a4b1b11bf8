/**
 * The families assembled: the table of every Redis command there is, and questions to it. Beside it stands the table of
 * commands that only this system's own processes send to owners: no client is served from that.
 */
import type { ByteString } from '../../kernel/index.js';
import type { CommandSpec } from './command-spec.js';
import { CommandTable } from './command-table.js';
import { FAMILIES } from './families/index.js';
import { SEARCH_WRITES } from './families/search/index.js';
import type { ErrorReply } from './reply.js';

export const COMMANDS = new CommandTable(FAMILIES.flat());
const INTERNAL_COMMANDS = new CommandTable(SEARCH_WRITES);

export function allCommands(): readonly CommandSpec[] {
  return COMMANDS.rows;
}

/** This is `CommandTable.find` for commands that were admitted or that a process sends of its own accord. */
export function findCommand(words: readonly ByteString[]): CommandSpec | undefined {
  return COMMANDS.find(words) ?? INTERNAL_COMMANDS.find(words);
}

/** This is `CommandTable.admit`. */
export function admit(words: readonly ByteString[]): CommandSpec | ErrorReply {
  return COMMANDS.admit(words);
}
