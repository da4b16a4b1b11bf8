/** COMMAND and its subcommands: the command table for clients. */
import type { ByteString } from '../../../../kernel/index.js';
import { categoriesOf, ruleNameOf } from '../../acl/categories.js';
import { type AccessedKey, accessedKeysOf, type KeySpec } from '../../command-description.js';
import type { CommandLookup, CommandSpec, Handler } from '../../command-spec.js';
import { compileGlob } from '../../glob.js';
import { ERRORS, ErrorReply, MapReply, type Reply, SetReply, SimpleString } from '../../reply.js';
import { keySpecsOf, useOf } from './key-specs.js';

const noKeyArguments = new ErrorReply('ERR The command has no key arguments');
const invalidKeys = new ErrorReply('ERR Invalid arguments specified for command');
const invalidCommand = new ErrorReply('ERR Invalid command specified');
const invalidArity = new ErrorReply('ERR Invalid number of arguments specified for command');

/** Flags with a different name in Redis. */
const FLAG_NAMES: Readonly<Record<string, string>> = {
  nomulti: 'no_multi',
  noauth: 'no_auth',
  'skip-monitor': 'skip_monitor',
  'skip-slowlog': 'skip_slowlog',
};
/** Flags that Redis does not have. */
const OWN_FLAGS = new Set(['random', 'edge', 'connection', 'dangerous', 'script']);

/** The rows of a container: `CONFIG` → `CONFIG GET` … */
function subcommandsOf(commands: CommandLookup, container: string): CommandSpec[] {
  return commands.rows.filter(({ name }) => name.startsWith(`${container} `));
}

/** Rows, and containers without a row. */
function topNames(commands: CommandLookup): string[] {
  return [...new Set(commands.rows.map(({ name }) => name.split(' ')[0] as string))];
}

/** COMMAND → all commands as in COMMAND INFO; over REST an empty list, as documented. */
export const command: Handler = ({ endpoint, commands }) => (endpoint === 'rest' ? [] : describeAll(commands));

/** COMMAND COUNT → the number of commands. */
export const commandCount: Handler = ({ commands }) => topNames(commands).length;

/** COMMAND LIST [FILTERBY MODULE m | ACLCAT c | PATTERN p] → names in lower case. */
export const commandList: Handler = ({ args, commands }) => {
  const { rows } = commands;
  const names = () => [...new Set([...topNames(commands), ...rows.map(({ name }) => name)])].map(shown);
  if (args.length === 2) return names();
  if (args.length !== 5 || args.option(2) !== 'FILTERBY') throw ERRORS.syntax;
  const kind = args.option(3);
  const value = args.bytes(4);
  if (kind === 'MODULE') return [];
  if (kind === 'ACLCAT') return rows.filter((spec) => categoriesOf(spec).has(value.toLowerCase())).map(ruleNameOf);
  if (kind !== 'PATTERN') throw ERRORS.syntax;
  const glob = compileGlob(value.toLowerCase());
  return names().filter((name) => glob(name));
};

/** COMMAND INFO [name …] → a description of each, null if unknown. */
export const commandInfo: Handler = ({ args, commands }) => {
  if (args.length === 2) return describeAll(commands);
  return args.from(2).map((name) => {
    const upper = name.toUpperCase().replace('|', ' ');
    const isKnown = commands.find(upper.split(' '))?.name === upper || subcommandsOf(commands, upper).length > 0;
    return isKnown ? describe(commands, upper) : null;
  });
};

/** COMMAND DOCS [name …] → name, document … */
export const commandDocs: Handler = ({ args, commands }) => {
  const names =
    args.length === 2 ? topNames(commands) : args.from(2).map((name) => name.toUpperCase().replace('|', ' '));
  const items: Reply[] = [];
  for (const name of names) {
    const document = documentOf(commands, name);
    if (document !== undefined) items.push(name.toLowerCase().replace(' ', '|'), document);
  }
  return new MapReply(items);
};

/** COMMAND GETKEYS name word … → the keys among them. */
export const commandGetKeys: Handler = ({ args, commands }) => keysAmong(commands, args.from(2)).map(({ key }) => key);

/** COMMAND GETKEYSANDFLAGS name word … → each key with its use. */
export const commandGetKeysAndFlags: Handler = ({ args, commands }) => {
  const words = args.from(2);
  const keys = keysAmong(commands, words);
  return keys.map((key) => [key.key, useOf(commands.find(words) as CommandSpec, key)]);
};

function keysAmong(commands: CommandLookup, words: readonly ByteString[]): AccessedKey[] {
  const spec = commands.admit(words);
  if (spec instanceof ErrorReply)
    throw spec.text.includes('arguments') && commands.find(words) !== undefined ? invalidArity : invalidCommand;
  const keys = accessedKeysOf(spec, words);
  if (spec.keys.kind === 'none') throw noKeyArguments;
  // Scripts may have no keys. For other commands, no keys means that the count is invalid or words are missing.
  if ((keys.length === 0 && !spec.flags.includes('script')) || !isCountMet(spec.keys, words)) throw invalidKeys;
  return keys;
}

/** Whether there are as many words as the count of keys says. */
function isCountMet(keys: KeySpec, words: readonly ByteString[]): boolean {
  if (keys.kind !== 'counted') return true;
  return Number(words[keys.at]) * (keys.step ?? 1) <= words.length - keys.at - 1;
}

function shown(name: string): ByteString {
  return name.toLowerCase().replace(' ', '|');
}

function describeAll(commands: CommandLookup): Reply[] {
  return topNames(commands).map((name) => describe(commands, name));
}

function describe(commands: CommandLookup, name: string): Reply {
  const own = commands.rowOf(name);
  const subcommands = name.includes(' ') ? [] : subcommandsOf(commands, name);
  const [first, last, step] = own === undefined ? [0, 0, 0] : spanOf(own.keys);
  const flags = own === undefined ? [] : own.flags.filter((flag) => !OWN_FLAGS.has(flag));
  if (own !== undefined && isMovable(own.keys)) flags.push('movablekeys' as never);
  return [
    name.toLowerCase().replace(' ', '|'),
    own?.arity ?? -2,
    new SetReply(flags.map((flag) => new SimpleString(FLAG_NAMES[flag] ?? flag))),
    first,
    last,
    step,
    new SetReply([...(own === undefined ? [] : categoriesOf(own))].map((category) => new SimpleString(`@${category}`))),
    new SetReply(own?.tips ?? []),
    own === undefined ? new SetReply([]) : keySpecsOf(own),
    new SetReply(subcommands.map((spec) => describe(commands, spec.name))),
  ];
}

/** Whether the key positions depend on the words. */
function isMovable(keys: KeySpec): boolean {
  return keys.kind === 'counted' || keys.kind === 'found' || (keys.kind === 'several' && keys.parts.some(isMovable));
}

/** First key, last key and step in Redis's form; 0 for keys that follow a count. */
function spanOf(keys: KeySpec): [number, number, number] {
  if (keys.kind === 'span') return [keys.first, keys.last, keys.step];
  if (keys.kind === 'counted' && keys.before.length > 0) return [keys.before[0] as number, keys.before[0] as number, 1];
  if (keys.kind !== 'several') return [0, 0, 0];
  const spans = keys.parts.map(spanOf);
  const first = Math.min(...spans.map(([begin]) => begin));
  const last = spans.some(([, end]) => end < 0) ? -1 : Math.max(...spans.map(([, end]) => end));
  return [first, last, 1];
}

/** Redis's groups where they differ from the family's name. */
const GROUPS: Readonly<Record<string, string>> = { function: 'scripting', acl: 'server', json: 'module' };

function documentOf(commands: CommandLookup, name: string): Reply | undefined {
  const own = commands.rowOf(name);
  const subcommands = name.includes(' ') ? [] : subcommandsOf(commands, name);
  if (own === undefined && subcommands.length === 0) return undefined;
  const first = (own ?? subcommands[0]) as CommandSpec;
  const items: Reply[] = [
    'summary',
    own?.summary ?? `A container for ${name.toLowerCase()} commands.`,
    'since',
    first.since,
    'group',
    GROUPS[first.family] ?? first.family,
  ];
  if (subcommands.length > 0) {
    const documents: Reply[] = [];
    for (const spec of subcommands) documents.push(ruleNameOf(spec), documentOf(commands, spec.name) as Reply);
    items.push('subcommands', new MapReply(documents));
  }
  return new MapReply(items);
}

export const COMMAND_HELP = [
  '(no subcommand)',
  '    Return details about all Redis commands.',
  'COUNT',
  '    Return the total number of commands in this Redis server.',
  'LIST',
  '    Return a list of all commands in this Redis server.',
  'INFO [<command-name> ...]',
  '    Return details about multiple Redis commands.',
  '    If no command names are given, documentation details for all',
  '    commands are returned.',
  'DOCS [<command-name> ...]',
  '    Return documentation details about multiple Redis commands.',
  '    If no command names are given, documentation details for all',
  '    commands are returned.',
  'GETKEYS <full-command>',
  '    Return the keys from a full Redis command.',
  'GETKEYSANDFLAGS <full-command>',
  '    Return the keys and the access flags from a full Redis command.',
];
