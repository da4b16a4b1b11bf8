/** The families assembled: the table of every Redis command there is, and questions to it. */
import type { ByteString } from '../../kernel/index.js';
import type { CommandSpec } from './command-spec.js';
import { CommandTable } from './command-table.js';
import { FAMILIES } from './families/index.js';
import type { ErrorReply } from './reply.js';

export const COMMANDS = new CommandTable(FAMILIES.flat());

export function allCommands(): readonly CommandSpec[] {
  return COMMANDS.rows;
}

/** As `CommandTable.find`. */
export function findCommand(words: readonly ByteString[]): CommandSpec | undefined {
  return COMMANDS.find(words);
}

/** As `CommandTable.admit`. */
export function admit(words: readonly ByteString[]): CommandSpec | ErrorReply {
  return COMMANDS.admit(words);
}
