/** The Function family: one row per command that manages libraries or calls a function. */
import { type CommandFlag, counted, NO_KEYS } from '../../command-description.js';
import type { CommandContext, CommandSpec, Handler } from '../../command-spec.js';
import { functionHost, scriptHost } from '../../lua/index.js';
import { ErrorReply } from '../../reply.js';
import { EVERY_SHARD, family, helpRow, row, UNORDERED } from '../rows.js';
import { keyCount, runCompiled, WRITE_FLAG } from '../scripting/run-compiled.js';
import { kill } from '../scripting/script.js';
import { dump, restore } from './dump.js';
import { flush, list, load, remove, stats } from './libraries.js';

const CALLS: readonly CommandFlag[] = ['noscript', 'script', 'stale', 'skip-monitor'];
/** Every partition of a database has all libraries. */
const CHANGES = { tips: EVERY_SHARD, flags: ['noscript', 'write'], keys: NO_KEYS, acrossPartitions: 'first' } as const;
const PUTS = { ...CHANGES, flags: ['noscript', 'write', 'denyoom'] } as const;
const TELLS = { flags: ['noscript'], keys: NO_KEYS } as const;

const HELP = [
  'LOAD [REPLACE] <FUNCTION CODE>',
  '    Put a library of functions.',
  'DELETE <LIBRARY NAME>',
  '    Delete a library.',
  'LIST [LIBRARYNAME PATTERN] [WITHCODE]',
  '    Describe the libraries and their functions.',
  'STATS',
  '    Tell how many libraries and functions there are.',
  'KILL',
  '    End the function that runs; nothing of it stays.',
  'FLUSH [ASYNC|SYNC]',
  '    Delete all libraries.',
  'DUMP',
  '    Answer all libraries as one payload.',
  'RESTORE <PAYLOAD> [FLUSH|APPEND|REPLACE]',
  '    Put the libraries of a payload.',
];

export const FUNCTIONS: readonly CommandSpec[] = family('function', [
  row('FCALL', -3, '7.0.0', 'Calls a function.', {
    keyUse: ['RW access update'],
    flags: CALLS,
    keys: counted(2, [], 'both'),
    handler: callFunction(false),
    readsOnly: functionReadsOnly,
  }),
  row('FCALL_RO', -3, '7.0.0', 'Calls a function that only reads.', {
    flags: [...CALLS, 'readonly'],
    keys: counted(2, [], 'read'),
    handler: callFunction(true),
    readOnlyToken: false,
    deviations: ['Over REST a function without the flag `no-writes` runs as long as it does not write.'],
  }),
  row('FUNCTION LOAD', -3, '7.0.0', 'Puts a library of functions.', { ...PUTS, handler: load }),
  row('FUNCTION DELETE', 3, '7.0.0', 'Deletes a library and its functions.', { ...CHANGES, handler: remove }),
  row('FUNCTION FLUSH', -2, '7.0.0', 'Deletes all libraries.', { ...CHANGES, handler: flush }),
  row('FUNCTION LIST', -2, '7.0.0', 'Describes libraries and their functions.', {
    isLook: true,
    tips: UNORDERED,
    ...TELLS,
    handler: list,
    deviations: ['Libraries and functions come in the order they were put.'],
  }),
  row('FUNCTION STATS', 2, '7.0.0', 'Tells how many libraries and functions there are.', {
    isLook: true,
    tips: ['nondeterministic_output', 'request_policy:all_shards', 'response_policy:special'],
    ...TELLS,
    handler: stats,
  }),
  row('FUNCTION KILL', 2, '7.0.0', 'Ends the running function and rolls back its changes.', {
    tips: ['request_policy:all_shards', 'response_policy:one_succeeded'],
    flags: ['noscript', 'stale'],
    keys: NO_KEYS,
    handler: kill,
    endsScript: true,
    acrossPartitions: 'succeeded',
  }),
  row('FUNCTION DUMP', 2, '7.0.0', 'Answers all libraries as one payload.', { ...TELLS, handler: dump }),
  row('FUNCTION RESTORE', -3, '7.0.0', 'Puts the libraries of a payload.', { ...PUTS, handler: restore }),
  helpRow('FUNCTION', '7.0.0', HELP, {
    summary: 'Lists the subcommands of FUNCTION.',
    deviations: ['The help is our own.'],
  }),
]);

const FUNCTION_NOT_FOUND = new ErrorReply('ERR Function not found');
const BAD_COUNT = new ErrorReply('ERR Bad number of keys provided');

/** Whether the function declares that it writes no keys (`no-writes`). */
function functionReadsOnly(context: CommandContext): boolean {
  const called = functionHost(context.libraries).find(context, context.args.bytes(1));
  return called?.flags.has('no-writes') === true;
}

/** FCALL name numkeys key … arg … → the function's result. */
function callFunction(isReadOnly: boolean): Handler {
  return (context) => {
    const { args, libraries } = context;
    const called = functionHost(libraries).find(context, args.bytes(1));
    if (called === undefined) throw FUNCTION_NOT_FOUND;
    const keys = keyCount(args, BAD_COUNT);
    const { callback, name, flags } = called;
    // Over REST, FCALL_RO also runs a function without `no-writes`, as the documented API does; it fails at the first
    // write.
    if (isReadOnly && !flags.has('no-writes') && context.endpoint === 'resp') throw WRITE_FLAG;
    const host = scriptHost(libraries);
    const furniture = host.furniture(context);
    return runCompiled(context, { callback, label: name, flags, hasShebang: true }, keys, isReadOnly, () => {
      host.clearKeys(furniture);
      return 2;
    });
  };
}
