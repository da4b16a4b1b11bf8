/** Functions: one row for each command that keeps libraries of them or calls one. */
import { type CommandFlag, type CommandSpec, counted, family, NO_KEYS } from '../../command-spec.js';
import { kill } from '../scripting/script.js';
import { callFunction } from './call.js';
import { dump, restore } from './dump.js';
import { flush, list, load, remove, stats } from './libraries.js';

const CALLS: readonly CommandFlag[] = ['noscript', 'script', 'stale', 'skip-monitor'];
/** Every partition of a database has all libraries. */
const CHANGES: readonly CommandFlag[] = ['noscript', 'write', 'keyspace'];

const HELP = [
  'FUNCTION <subcommand> [<arg> [value] [opt] ...]. Subcommands are:',
  'LOAD [REPLACE] <FUNCTION CODE>',
  '    Put a library of functions.',
  'DELETE <LIBRARY NAME>',
  '    Delete a library.',
  'LIST [LIBRARYNAME PATTERN] [WITHCODE]',
  '    Describe the libraries and their functions.',
  'STATS',
  '    Tell how many libraries and functions there are.',
  'KILL',
  '    There is never one to kill: functions are ended by their limits.',
  'FLUSH [ASYNC|SYNC]',
  '    Delete all libraries.',
  'DUMP',
  '    Answer all libraries as one payload.',
  'RESTORE <PAYLOAD> [FLUSH|APPEND|REPLACE]',
  '    Put the libraries of a payload.',
  'HELP',
  '    Print this help.',
];

export const FUNCTIONS: readonly CommandSpec[] = family('function', [
  {
    name: 'FCALL',
    arity: -3,
    flags: CALLS,
    keys: counted(2, [], 'both'),
    handler: callFunction(false),
    since: '7.0.0',
    summary: 'Calls a function.',
  },
  {
    name: 'FCALL_RO',
    arity: -3,
    flags: [...CALLS, 'readonly'],
    keys: counted(2, [], 'read'),
    handler: callFunction(true),
    since: '7.0.0',
    summary: 'Calls a function that only reads.',
    readOnlyToken: false,
    deviations: ['Over REST a function without the flag `no-writes` runs as long as it does not write.'],
  },
  {
    name: 'FUNCTION LOAD',
    arity: -3,
    flags: [...CHANGES, 'denyoom'],
    keys: NO_KEYS,
    handler: load,
    since: '7.0.0',
    summary: 'Puts a library of functions.',
  },
  {
    name: 'FUNCTION DELETE',
    arity: 3,
    flags: CHANGES,
    keys: NO_KEYS,
    handler: remove,
    since: '7.0.0',
    summary: 'Deletes a library and its functions.',
  },
  {
    name: 'FUNCTION FLUSH',
    arity: -2,
    flags: CHANGES,
    keys: NO_KEYS,
    handler: flush,
    since: '7.0.0',
    summary: 'Deletes all libraries.',
  },
  {
    name: 'FUNCTION LIST',
    arity: -2,
    flags: ['noscript'],
    keys: NO_KEYS,
    handler: list,
    since: '7.0.0',
    summary: 'Describes libraries and their functions.',
    deviations: ['Libraries and functions come in the order they were put.'],
  },
  {
    name: 'FUNCTION STATS',
    arity: 2,
    flags: ['noscript'],
    keys: NO_KEYS,
    handler: stats,
    since: '7.0.0',
    summary: 'Tells how many libraries and functions there are.',
  },
  {
    name: 'FUNCTION KILL',
    arity: 2,
    flags: ['noscript', 'stale'],
    keys: NO_KEYS,
    handler: kill,
    since: '7.0.0',
    summary: 'Would end a function that runs; there never is one.',
  },
  {
    name: 'FUNCTION DUMP',
    arity: 2,
    flags: ['noscript'],
    keys: NO_KEYS,
    handler: dump,
    since: '7.0.0',
    summary: 'Answers all libraries as one payload.',
  },
  {
    name: 'FUNCTION RESTORE',
    arity: -3,
    flags: [...CHANGES, 'denyoom'],
    keys: NO_KEYS,
    handler: restore,
    since: '7.0.0',
    summary: 'Puts the libraries of a payload.',
  },
  {
    name: 'FUNCTION HELP',
    arity: 2,
    flags: ['loading', 'stale'],
    keys: NO_KEYS,
    handler: () => HELP,
    since: '7.0.0',
    summary: 'Lists the subcommands of FUNCTION.',
    deviations: ['The help is our own.'],
  },
]);
