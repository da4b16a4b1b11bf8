/**
 * The categories of ACL rules (`+@read`): what belongs to them follows from a row's family and flags, as in
 * Redis, so that a new row is in the right ones by itself. `categories` of a row adds to that; where Redis
 * files a command elsewhere than its family says, EXCEPTIONS has it.
 */
import type { CommandFamily, CommandFlag, CommandSpec } from '../command-spec.js';

/** In Redis's order; `json` is the one of its JSON module. */
export const CATEGORIES: readonly string[] = [
  'keyspace',
  'read',
  'write',
  'set',
  'sortedset',
  'list',
  'hash',
  'string',
  'bitmap',
  'hyperloglog',
  'geo',
  'stream',
  'pubsub',
  'admin',
  'fast',
  'slow',
  'blocking',
  'dangerous',
  'connection',
  'transaction',
  'scripting',
  'json',
];

const OF_FAMILY: Readonly<Record<CommandFamily, string | undefined>> = {
  string: 'string',
  generic: 'keyspace',
  connection: 'connection',
  transactions: 'transaction',
  server: undefined,
  bitmap: 'bitmap',
  hash: 'hash',
  list: 'list',
  set: 'set',
  'sorted-set': 'sortedset',
  geo: 'geo',
  hyperloglog: 'hyperloglog',
  stream: 'stream',
  scripting: 'scripting',
  function: 'scripting',
  acl: undefined,
  pubsub: 'pubsub',
  json: 'json',
  cluster: undefined,
};

/** Instead of all that would follow: Redis's own, of commands whose rows here are refusals or say less. */
const WHOLE: Readonly<Record<string, readonly string[]>> = {
  MIGRATE: ['keyspace', 'write', 'slow', 'dangerous'],
  MODULE: ['slow'],
  MOVE: ['keyspace', 'write', 'fast'],
  SWAPDB: ['keyspace', 'write', 'fast', 'dangerous'],
  'MEMORY USAGE': ['read', 'slow'],
  'OBJECT HELP': ['keyspace', 'slow'],
  'PUBSUB HELP': ['slow'],
};

/** Instead of the family's. */
const EXCEPTIONS: Readonly<Record<string, readonly string[]>> = {
  WAIT: ['connection', 'blocking'],
  WAITAOF: ['connection', 'blocking'],
  SORT: ['set', 'sortedset', 'list', 'dangerous'],
  SORT_RO: ['set', 'sortedset', 'list', 'dangerous'],
  DBSIZE: ['keyspace'],
  FLUSHALL: ['keyspace'],
  FLUSHDB: ['keyspace'],
  SWAPDB: ['keyspace'],
  COMMAND: ['connection'],
  READONLY: ['connection'],
  READWRITE: ['connection'],
  ASKING: ['connection'],
};

/** Flags that are a category by themselves. */
const OF_FLAG: readonly (readonly [CommandFlag, string])[] = [
  ['readonly', 'read'],
  ['write', 'write'],
  ['admin', 'admin'],
  ['admin', 'dangerous'],
  ['dangerous', 'dangerous'],
  ['pubsub', 'pubsub'],
  ['blocking', 'blocking'],
];

/** `CLIENT LIST` → `client|list`. */
export function ruleNameOf({ name }: CommandSpec): string {
  return name.toLowerCase().replace(' ', '|');
}

const known = new WeakMap<CommandSpec, ReadonlySet<string>>();

/** Names without the `@`. */
export function categoriesOf(spec: CommandSpec): ReadonlySet<string> {
  let categories = known.get(spec);
  if (categories === undefined) {
    categories = derive(spec);
    known.set(spec, categories);
  }
  return categories;
}

function derive(spec: CommandSpec): ReadonlySet<string> {
  const { name, flags, family } = spec;
  const whole = WHOLE[name];
  if (whole !== undefined) return new Set(whole);
  const categories = new Set(spec.categories);
  const [container = ''] = name.split(' ');
  const ofFamily = OF_FAMILY[family];
  const exception = EXCEPTIONS[name] ?? EXCEPTIONS[container];
  for (const category of exception ?? (ofFamily === undefined ? [] : [ofFamily])) categories.add(category);
  for (const [flag, category] of OF_FLAG) if (flags.includes(flag)) categories.add(category);
  // What a script does is judged command by command: running one neither reads nor writes.
  if (flags.includes('script')) {
    categories.delete('read');
    categories.delete('write');
  }
  categories.add(flags.includes('fast') ? 'fast' : 'slow');
  return categories;
}
