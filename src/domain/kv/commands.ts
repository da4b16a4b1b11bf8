/**
 * The complete table of Redis commands, assembled from the families, and lookups in it. A second table holds the
 * commands that only this system's processes send to owners; clients cannot call those.
 */
import type { ByteString } from '../../kernel/index.js';
import { CLOSE_EFFECT, OPEN_EFFECT } from './closure.js';
import { NO_KEYS } from './command-description.js';
import type { CommandSpec } from './command-spec.js';
import { CommandTable } from './command-table.js';
import { SEARCH_PARTS } from './families/full-text/parts.js';
import { HASH_PARTS } from './families/hash/index.js';
import { FAMILIES } from './families/index.js';
import { BRANCH_COMMANDS } from './families/key-replacement.js';
import { QUEUE_EFFECTS } from './families/queue.js';
import { family, NOT_IN_REDIS, type Row, row } from './families/rows.js';
import { SEARCH_WRITES } from './families/search/index.js';
import { SLOW_NOTES } from './families/server/slow-log.js';
import { SKETCH_EFFECTS } from './families/sketches.js';
import { STREAM_EFFECTS } from './families/stream/producers.js';
import { VECTOR_SET_EFFECTS } from './families/vector-set/index.js';
import { type ErrorReply, notAvailable, notOverRest, OK, type Reply, unknownCommand } from './reply.js';

/** Effects about a whole partition. They only run in replay: owners change the closure themselves. */
const PARTITION_EFFECTS: readonly CommandSpec[] = family('server', [
  row(CLOSE_EFFECT, 2, NOT_IN_REDIS, 'The partition accepts no commands of clients.', closes(true)),
  row(OPEN_EFFECT, 2, NOT_IN_REDIS, 'The partition accepts commands of clients.', closes(false)),
]);

function closes(isClosed: boolean): Pick<Row, 'handler' | 'flags' | 'keys'> {
  return {
    flags: ['write', 'noscript'],
    keys: NO_KEYS,
    handler: ({ isReplay, args, closure }): Reply => {
      if (!isReplay) throw unknownCommand(args.words);
      closure.set(isClosed, args.integer(1));
      return OK;
    },
  };
}

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

/** The error for a command that belongs to another REST route or to none; undefined if REST may run it. */
export function restRefusal(spec: CommandSpec, words: readonly ByteString[]): ErrorReply | undefined {
  if (spec.rest === undefined) return spec.restProblem?.(words);
  return spec.rest === 'other-route' || spec.flags.includes('connection')
    ? notOverRest(spec.name)
    : notAvailable(spec.name);
}
