/** Scripts: one row for each command that runs or keeps them. */
import { type CommandFlag, type CommandSpec, counted, family, NO_KEYS } from '../../command-spec.js';
import { SimpleString } from '../../reply.js';
import { evaluate, scriptReadsOnly } from './evaluate.js';
import { exists, flush, kill, load } from './script.js';

const RUNS: readonly CommandFlag[] = ['noscript', 'script', 'stale', 'skip-monitor'];
const KEEPS: readonly CommandFlag[] = ['noscript'];
const STOPPED =
  'A script is ended after 5 s of work (`busy-reply-threshold`, at most what the installation allows), 250 ms where it cannot be interrupted (not within `pcall`), 2,000 million instructions or 64 MiB; nothing of it stays.';

const HELP = [
  'SCRIPT <subcommand> [<arg> [value] [opt] ...]. Subcommands are:',
  'EXISTS <sha1> [<sha1> ...]',
  '    Tell which scripts are known.',
  'FLUSH [ASYNC|SYNC]',
  '    Forget all scripts.',
  'KILL',
  '    End the script that runs; nothing of it stays.',
  'LOAD <script>',
  '    Keep a script without running it.',
  'HELP',
  '    Print this help.',
].map((line) => new SimpleString(line));

export const SCRIPTING: readonly CommandSpec[] = family('scripting', [
  {
    name: 'EVAL',
    keyUse: ['RW access update'],
    arity: -3,
    flags: RUNS,
    keys: counted(2, [], 'both'),
    handler: evaluate('source', false),
    readsOnly: scriptReadsOnly('source'),
    since: '2.6.0',
    summary: 'Runs a Lua script.',
    deviations: [STOPPED],
  },
  {
    name: 'EVALSHA',
    keyUse: ['RW access update'],
    arity: -3,
    flags: RUNS,
    keys: counted(2, [], 'both'),
    handler: evaluate('digest', false),
    readsOnly: scriptReadsOnly('digest'),
    since: '2.6.0',
    summary: 'Runs a Lua script that is known by its digest.',
    deviations: ['Of one database 5,000 scripts are remembered; clients send EVAL again when one is gone.'],
  },
  {
    name: 'EVAL_RO',
    arity: -3,
    flags: [...RUNS, 'readonly'],
    keys: counted(2, [], 'read'),
    handler: evaluate('source', true),
    since: '7.0.0',
    summary: 'Runs a Lua script that only reads.',
    readOnlyToken: false,
  },
  {
    name: 'EVALSHA_RO',
    arity: -3,
    flags: [...RUNS, 'readonly'],
    keys: counted(2, [], 'read'),
    handler: evaluate('digest', true),
    since: '7.0.0',
    summary: 'Runs a Lua script, known by its digest, that only reads.',
    readOnlyToken: false,
  },
  {
    name: 'SCRIPT LOAD',
    tips: ['request_policy:all_nodes', 'response_policy:all_succeeded'],
    arity: 3,
    flags: [...KEEPS, 'stale'],
    keys: NO_KEYS,
    handler: load,
    acrossPartitions: 'first',
    since: '2.6.0',
    summary: 'Keeps a script for EVALSHA and answers its digest.',
  },
  {
    name: 'SCRIPT EXISTS',
    tips: ['request_policy:all_shards', 'response_policy:agg_logical_and'],
    arity: -3,
    flags: KEEPS,
    keys: NO_KEYS,
    handler: exists,
    since: '2.6.0',
    summary: 'Tells which digests are of scripts that are known.',
  },
  {
    name: 'SCRIPT FLUSH',
    tips: ['request_policy:all_nodes', 'response_policy:all_succeeded'],
    arity: -2,
    flags: [...KEEPS],
    keys: NO_KEYS,
    handler: flush,
    acrossPartitions: 'first',
    since: '2.6.0',
    summary: 'Forgets all scripts.',
  },
  {
    name: 'SCRIPT KILL',
    tips: ['request_policy:all_shards', 'response_policy:one_succeeded'],
    arity: 2,
    flags: [...KEEPS, 'stale'],
    keys: NO_KEYS,
    handler: kill,
    endsScript: true,
    acrossPartitions: 'succeeded',
    since: '2.6.0',
    summary: 'Ends the script that runs; nothing of it stays.',
    deviations: [
      'It ends a script that has written too, and in a database of several partitions those of all of them.',
    ],
  },
  {
    name: 'SCRIPT HELP',
    arity: 2,
    flags: ['loading', 'stale'],
    keys: NO_KEYS,
    handler: () => HELP,
    since: '5.0.0',
    summary: 'Lists the subcommands of SCRIPT.',
    deviations: ['The help is our own; there is no SCRIPT DEBUG.'],
  },
]);
