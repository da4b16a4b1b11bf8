/** Shared parts of EVAL and FCALL: counting keys, and running compiled code within its flags. */
import type { ByteString } from '../../../../kernel/index.js';
import type { Args } from '../../args.js';
import type { CommandContext } from '../../command-spec.js';
import { newScriptRun, type State, scriptHost } from '../../lua/index.js';
import { ErrorReply, type Paused, type Reply } from '../../reply.js';

const TOO_MANY = new ErrorReply("ERR Number of keys can't be greater than number of args");
export const WRITE_FLAG = new ErrorReply('ERR Can not execute a script with write flag using *_ro command.');
const NO_ROOM = new ErrorReply(
  "OOM allow-oom flag is not set on the script, can not run it when used memory > 'maxmemory'",
);
const NEGATIVE = new ErrorReply("ERR Number of keys can't be negative");

/** The number of keys at word 2. @param notANumber replaces Redis's usual error @throws ErrorReply */
export function keyCount(args: Args, notANumber?: ErrorReply): number {
  let count: number;
  try {
    count = args.offset(2);
  } catch (problem) {
    throw notANumber ?? problem;
  }
  if (count > args.length - 3) throw TOO_MANY;
  if (count < 0) throw NEGATIVE;
  return count;
}

export interface Compiled {
  /** Registry reference of the function. */
  readonly callback: number;
  /** Shown in errors: a digest, or a function's name. */
  readonly label: ByteString;
  readonly flags: ReadonlySet<string>;
  /** False for a script without a `#!` line; flags then do not restrict it, as in older Redis versions. */
  readonly hasShebang: boolean;
}

/**
 * @param passTables pops the tables of keys and arguments from the stack and returns how many values it leaves as
 * arguments
 */
export function runCompiled(
  context: CommandContext,
  { callback, label, flags, hasShebang }: Compiled,
  keys: number,
  isReadOnly: boolean,
  passTables: (state: State) => number,
): Reply | Paused {
  const readsOnly = flags.has('no-writes');
  const mayGrow = flags.has('allow-oom');
  if (context.isFull && hasShebang && !mayGrow && !readsOnly) throw NO_ROOM;
  const { words } = context.args;
  const lockedKeys = flags.has('allow-key-locking') ? new Set(words.slice(3, 3 + keys)) : undefined;
  const host = scriptHost(context.libraries);
  const { random } = host;
  const run = newScriptRun({ context, random, isReadOnly: isReadOnly || readsOnly, lockedKeys, mayGrow });
  return host.run(context, { callback, label, run, words, keyCount: keys, passTables });
}
