/**
 * The categories of ACL rules (`+@read`). As in Redis, a command's categories follow from its family and flags, so a
 * new row is categorised automatically. Where Redis differs, the row states its categories.
 */
import type { CommandDescription, CommandFamily, CommandFlag } from '../command-description.js';

/**
 * In Redis's order; `json` is the category of Redis's JSON module, `array` that of Redis 8.8, `queue` that of commands
 * that send messages, `vector` that of vector indexes, `search` that of full-text indexes.
 */
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
  'array',
  'queue',
  'vector',
  'vectorset',
  'search',
  'bloom',
  'cuckoo',
  'cms',
  'topk',
  'tdigest',
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
  array: 'array',
  queue: 'queue',
  vector: 'vector',
  'vector-set': 'vectorset',
  search: 'search',
  bloom: 'bloom',
  cuckoo: 'cuckoo',
  'count-min': 'cms',
  'top-k': 'topk',
  't-digest': 'tdigest',
  cluster: undefined,
};

/** Flags that imply a category. */
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
export function ruleNameOf({ name }: CommandDescription): string {
  return name.toLowerCase().replace(' ', '|');
}

const known = new WeakMap<CommandDescription, ReadonlySet<string>>();

/** Category names without the `@`. */
export function categoriesOf(spec: CommandDescription): ReadonlySet<string> {
  let categories = known.get(spec);
  if (categories === undefined) {
    categories = derive(spec);
    known.set(spec, categories);
  }
  return categories;
}

function derive({ flags, family, categories: own, allCategories }: CommandDescription): ReadonlySet<string> {
  if (allCategories !== undefined) return new Set(allCategories);
  const ofFamily = OF_FAMILY[family];
  const categories = new Set(own ?? (ofFamily === undefined ? [] : [ofFamily]));
  for (const [flag, category] of OF_FLAG) if (flags.includes(flag)) categories.add(category);
  // The commands of a script are checked one by one, so running a script counts neither as a read nor as a write.
  if (flags.includes('script')) {
    categories.delete('read');
    categories.delete('write');
  }
  categories.add(flags.includes('fast') ? 'fast' : 'slow');
  return categories;
}
