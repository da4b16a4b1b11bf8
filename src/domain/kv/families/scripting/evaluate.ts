/** EVAL, EVALSHA and their read-only variants: from the words to a run, with Redis's checks in Redis's order. */
import type { CommandContext, Handler } from '../../command-spec.js';
import { scriptHost } from '../../lua/index.js';
import { ErrorReply } from '../../reply.js';
import { keyCount, runCompiled, WRITE_FLAG } from './run-compiled.js';

const NO_SCRIPT = new ErrorReply('NOSCRIPT No matching script. Please use EVAL.');
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
    const { flags, hasShebang } = script;
    if (isReadOnly && hasShebang && !flags.has('no-writes')) throw WRITE_FLAG;
    const furniture = host.furniture(context);
    return runCompiled(context, { callback, label: script.digest, flags, hasShebang }, keys, isReadOnly, (state) => {
      host.setKeys(furniture, state);
      return 0;
    });
  };
}

/** Whether the script declares that it writes no keys (`no-writes`). */
export function scriptReadsOnly(by: 'source' | 'digest'): (context: CommandContext) => boolean {
  return ({ args, libraries }) => {
    const { scripts } = scriptHost(libraries);
    const given = args.bytes(1);
    const script = by === 'source' ? scripts.ofSource(given) : scripts.get(given.toLowerCase());
    return script?.flags.has('no-writes') === true;
  };
}
