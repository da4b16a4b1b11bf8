/** EVAL and its kin: from the words to a run, with Redis's checks in Redis's order. */
import type { ByteString } from '../../../../kernel/index.js';
import type { CommandContext, Handler } from '../../command-spec.js';
import { newScriptRun, type ScriptRun, scriptHost } from '../../lua/index.js';
import { ErrorReply, type Paused, type Reply } from '../../reply.js';
import { keyCount } from './key-count.js';

const NO_SCRIPT = new ErrorReply('NOSCRIPT No matching script. Please use EVAL.');
const WRITE_FLAG = new ErrorReply('ERR Can not execute a script with write flag using *_ro command.');
export const NO_ROOM = new ErrorReply(
  "OOM allow-oom flag is not set on the script, can not run it when used memory > 'maxmemory'",
);
const DIGEST_LETTERS = 40;

export function evaluate(by: 'source' | 'digest', isReadOnly: boolean): Handler {
  return (context) => {
    const { args } = context;
    const given = args.bytes(1);
    if (by === 'digest' && given.length !== DIGEST_LETTERS) throw NO_SCRIPT;
    const keys = keyCount(args);
    const host = scriptHost(context.libraries);
    const script = by === 'source' ? host.scripts.ofSource(given) : host.scripts.get(given.toLowerCase());
    if (script === undefined) throw NO_SCRIPT;
    const callback = host.compile(context, script.body, script.digest);
    if (by === 'source') host.scripts.keep(script);
    if (isReadOnly && script.hasShebang && !script.flags.has('no-writes')) throw WRITE_FLAG;
    const readsOnly = script.flags.has('no-writes');
    const mayGrow = script.flags.has('allow-oom');
    if (context.isFull && script.hasShebang && !mayGrow && !readsOnly) throw NO_ROOM;
    const { words } = args;
    const lockedKeys = script.flags.has('allow-key-locking') ? new Set(words.slice(3, 3 + keys)) : undefined;
    const { random } = host;
    const run = newScriptRun({ context, random, isReadOnly: isReadOnly || readsOnly, lockedKeys, mayGrow });
    return runScript(context, callback, script.digest, run, words, keys);
  };
}

/** Does the script say of itself that it writes nothing? */
export function scriptReadsOnly(by: 'source' | 'digest'): (context: CommandContext) => boolean {
  return ({ args, libraries }) => {
    const { scripts } = scriptHost(libraries);
    const given = args.bytes(1);
    const script = by === 'source' ? scripts.ofSource(given) : scripts.get(given.toLowerCase());
    return script?.flags.has('no-writes') === true;
  };
}

function runScript(
  context: CommandContext,
  callback: number,
  label: ByteString,
  run: ScriptRun,
  words: readonly ByteString[],
  keyCount: number,
): Reply | Paused {
  const host = scriptHost(context.libraries);
  const furniture = host.furniture(context);
  return host.run(context, {
    callback,
    label,
    run,
    words,
    keyCount,
    passTables: (_machine, state) => {
      host.setKeys(furniture, state);
      return 0;
    },
  });
}
