/** FCALL and FCALL_RO. */
import type { CommandContext, Handler } from '../../command-spec.js';
import { functionHost, scriptHost } from '../../lua/index.js';
import { ErrorReply } from '../../reply.js';
import { keyCount, runCompiled, WRITE_FLAG } from '../scripting/run-compiled.js';

const NOT_FOUND = new ErrorReply('ERR Function not found');
const BAD_COUNT = new ErrorReply('ERR Bad number of keys provided');

/** Whether the function declares that it writes no keys (`no-writes`). */
export function functionReadsOnly(context: CommandContext): boolean {
  const called = functionHost(context.libraries).find(context, context.args.bytes(1));
  return called?.flags.has('no-writes') === true;
}

/** FCALL name numkeys key … arg … → the function's result. */
export function callFunction(isReadOnly: boolean): Handler {
  return (context) => {
    const { args, libraries } = context;
    const called = functionHost(libraries).find(context, args.bytes(1));
    if (called === undefined) throw NOT_FOUND;
    const keys = keyCount(args, BAD_COUNT);
    const { callback, name, flags } = called;
    // Over REST, FCALL_RO also runs a function without `no-writes`, as the documented API does; it fails at the first
    // write.
    if (isReadOnly && !flags.has('no-writes') && context.face === 'resp') throw WRITE_FLAG;
    const host = scriptHost(libraries);
    const furniture = host.furniture(context);
    return runCompiled(context, { callback, label: name, flags, hasShebang: true }, keys, isReadOnly, () => {
      host.clearKeys(furniture);
      return 2;
    });
  };
}
