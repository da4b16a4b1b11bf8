/** FCALL and FCALL_RO. */
import type { CommandContext, Handler } from '../../command-spec.js';
import { functionHost, newScriptRun, scriptHost } from '../../lua/index.js';
import { ErrorReply } from '../../reply.js';
import { NO_ROOM } from '../scripting/evaluate.js';
import { keyCount } from '../scripting/key-count.js';

const NOT_FOUND = new ErrorReply('ERR Function not found');
const BAD_COUNT = new ErrorReply('ERR Bad number of keys provided');
const WRITE_FLAG = new ErrorReply('ERR Can not execute a script with write flag using *_ro command.');

/** Is the function one that says of itself that it writes nothing? */
export function functionReadsOnly(context: CommandContext): boolean {
  const called = functionHost(context.libraries).find(context, context.args.bytes(1));
  return called?.flags.includes('no-writes') === true;
}

/** FCALL name numkeys key … arg … → what the function returns. */
export function callFunction(isReadOnly: boolean): Handler {
  return (context) => {
    const { args, libraries } = context;
    const called = functionHost(libraries).find(context, args.bytes(1));
    if (called === undefined) throw NOT_FOUND;
    const keys = keyCount(args, BAD_COUNT);
    const readsOnly = called.flags.includes('no-writes');
    // The documented API lets a function run as long as it does not write.
    if (isReadOnly && !readsOnly && context.face === 'resp') throw WRITE_FLAG;
    const mayGrow = called.flags.includes('allow-oom');
    if (context.isFull && !mayGrow && !readsOnly) throw NO_ROOM;
    const { words } = args;
    const lockedKeys = called.flags.includes('allow-key-locking') ? new Set(words.slice(3, 3 + keys)) : undefined;
    const host = scriptHost(libraries);
    const furniture = host.furniture(context);
    return host.run(context, {
      callback: called.callback,
      label: called.name,
      run: newScriptRun({ context, random: host.random, isReadOnly: isReadOnly || readsOnly, lockedKeys, mayGrow }),
      words,
      keyCount: keys,
      passTables: () => {
        host.clearKeys(furniture);
        return 2;
      },
    });
  };
}
