/**
 * The complete table of Redis commands, assembled from the families, and lookups in it. A second table holds the
 * commands that only this system's processes send to owners; clients cannot call those.
 */
import type { ByteString } from '../../kernel/index.js';
import type { CommandSpec } from './command-spec.js';
import { CommandTable } from './command-table.js';
import { SEARCH_PARTS } from './families/full-text/parts.js';
import { HASH_PARTS } from './families/hash/index.js';
import { FAMILIES } from './families/index.js';
import { BRANCH_COMMANDS } from './families/key-replacement.js';
import { PARTITION_EFFECTS } from './families/partition.js';
import { QUEUE_EFFECTS } from './families/queue.js';
import { SEARCH_WRITES } from './families/search/index.js';
import { SLOW_NOTES } from './families/server/slow-log.js';
import { SKETCH_EFFECTS } from './families/sketches.js';
import { STREAM_EFFECTS } from './families/stream/producers.js';
import { VECTOR_SET_EFFECTS } from './families/vector-set/index.js';
import type { ErrorReply } from './reply.js';

export const COMMANDS = new CommandTable(FAMILIES.flat());
/** Effects that no client's command has as its name. */
const REPLAYED_ROWS = [
  ...QUEUE_EFFECTS,
  ...STREAM_EFFECTS,
  ...SKETCH_EFFECTS,
  ...VECTOR_SET_EFFECTS,
  ...PARTITION_EFFECTS,
];
export const EFFECTS = new CommandTable(REPLAYED_ROWS);
const INTERNAL_COMMANDS = new CommandTable([
  ...SEARCH_WRITES,
  ...SEARCH_PARTS,
  ...BRANCH_COMMANDS,
  ...SLOW_NOTES,
  ...HASH_PARTS,
  ...REPLAYED_ROWS,
]);

export function allCommands(): readonly CommandSpec[] {
  return COMMANDS.rows;
}

/** As `CommandTable.find`, for admitted commands and for commands that a process sends itself. */
export function findCommand(words: readonly ByteString[]): CommandSpec | undefined {
  return COMMANDS.find(words) ?? INTERNAL_COMMANDS.find(words);
}

export function admit(words: readonly ByteString[]): CommandSpec | ErrorReply {
  return COMMANDS.admit(words);
}
