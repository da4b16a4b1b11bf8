/** The Scripting family: one row per command that runs or manages scripts. */
import { type CommandFlag, counted, NO_KEYS } from '../../command-description.js';
import type { CommandContext, CommandSpec, Handler } from '../../command-spec.js';
import { scriptHost } from '../../lua/index.js';
import { ErrorReply } from '../../reply.js';
import { EVERY_NODE, family, helpRow, row } from '../rows.js';
import { keyCount, runCompiled, WRITE_FLAG } from './run-compiled.js';
import { exists, flush, kill, load } from './script.js';

const RUNS: readonly CommandFlag[] = ['noscript', 'script', 'stale', 'skip-monitor'];
const runs = { keyUse: ['RW access update'], flags: RUNS, keys: counted(2, [], 'both') };
const reads = { flags: [...RUNS, 'readonly'], keys: counted(2, [], 'read'), readOnlyToken: false } as const;
const KEEPS: readonly CommandFlag[] = ['noscript'];
const STOPPED =
  'A script is ended after 5 s of work (`busy-reply-threshold`, at most what the installation allows), 250 ms where it cannot be interrupted (not within `pcall`), 2,000 million instructions or 64 MiB; its changes are rolled back.';

const HELP = [
  'EXISTS <sha1> [<sha1> ...]',
  '    Tell which scripts are known.',
  'FLUSH [ASYNC|SYNC]',
  '    Forget all scripts.',
  'KILL',
  '    End the script that runs; nothing of it stays.',
  'LOAD <script>',
  '    Keep a script without running it.',
];

export const SCRIPTING: readonly CommandSpec[] = family('scripting', [
  row('EVAL', -3, '2.6.0', 'Runs a Lua script.', {
    ...runs,
    handler: evaluate('source', false),
    readsOnly: scriptReadsOnly('source'),
    deviations: [STOPPED],
  }),
  row('EVALSHA', -3, '2.6.0', 'Runs a Lua script that is known by its digest.', {
    ...runs,
    handler: evaluate('digest', false),
    readsOnly: scriptReadsOnly('digest'),
    deviations: ['Of one database 5,000 scripts are remembered; clients send EVAL again when one is gone.'],
  }),
  row('EVAL_RO', -3, '7.0.0', 'Runs a Lua script that only reads.', { ...reads, handler: evaluate('source', true) }),
  row('EVALSHA_RO', -3, '7.0.0', 'Runs a Lua script, known by its digest, that only reads.', {
    ...reads,
    handler: evaluate('digest', true),
  }),
  row('SCRIPT LOAD', 3, '2.6.0', 'Keeps a script for EVALSHA and answers its digest.', {
    tips: EVERY_NODE,
    flags: [...KEEPS, 'stale'],
    keys: NO_KEYS,
    handler: load,
    acrossPartitions: 'first',
  }),
  row('SCRIPT EXISTS', -3, '2.6.0', 'Tells which digests are of scripts that are known.', {
    isLook: true,
    tips: ['request_policy:all_shards', 'response_policy:agg_logical_and'],
    flags: KEEPS,
    keys: NO_KEYS,
    handler: exists,
  }),
  row('SCRIPT FLUSH', -2, '2.6.0', 'Forgets all scripts.', {
    tips: EVERY_NODE,
    flags: [...KEEPS],
    keys: NO_KEYS,
    handler: flush,
    acrossPartitions: 'first',
  }),
  row('SCRIPT KILL', 2, '2.6.0', 'Ends the running script and rolls back its changes.', {
    tips: ['request_policy:all_shards', 'response_policy:one_succeeded'],
    flags: [...KEEPS, 'stale'],
    keys: NO_KEYS,
    handler: kill,
    endsScript: true,
    acrossPartitions: 'succeeded',
    deviations: [
      'It ends a script that has written too, and in a database of several partitions those of all of them.',
    ],
  }),
  helpRow('SCRIPT', '5.0.0', HELP, {
    summary: 'Lists the subcommands of SCRIPT.',
    deviations: ['The help is our own; there is no SCRIPT DEBUG.'],
  }),
]);

const NO_SCRIPT = new ErrorReply('NOSCRIPT No matching script. Please use EVAL.');
const DIGEST_LETTERS = 40;

function evaluate(by: 'source' | 'digest', isReadOnly: boolean): Handler {
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
function scriptReadsOnly(by: 'source' | 'digest'): (context: CommandContext) => boolean {
  return ({ args, libraries }) => {
    const { scripts } = scriptHost(libraries);
    const given = args.bytes(1);
    const script = by === 'source' ? scripts.ofSource(given) : scripts.get(given.toLowerCase());
    return script?.flags.has('no-writes') === true;
  };
}
