/**
 * The categories of ACL rules (`+@read`): what belongs to them follows from a row's family and flags, as in
 * Redis, so that a new row is in the right ones by itself. Where Redis files a command elsewhere than its family or
 * its flags here say, the row says so.
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

function derive({ flags, family, categories: own, allCategories }: CommandSpec): ReadonlySet<string> {
  if (allCategories !== undefined) return new Set(allCategories);
  const ofFamily = OF_FAMILY[family];
  const categories = new Set(own ?? (ofFamily === undefined ? [] : [ofFamily]));
  for (const [flag, category] of OF_FLAG) if (flags.includes(flag)) categories.add(category);
  // What a script does is judged command by command: running one neither reads nor writes.
  if (flags.includes('script')) {
    categories.delete('read');
    categories.delete('write');
  }
  categories.add(flags.includes('fast') ? 'fast' : 'slow');
  return categories;
}
