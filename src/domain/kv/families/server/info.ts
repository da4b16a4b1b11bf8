/** INFO: sections of `field:value` lines, with Redis's names. */
import { asciiLowerCase, asciiUpperCase, type ByteString } from '../../../../kernel/index.js';
import type { CommandContext, Handler } from '../../command-spec.js';
import { storedBytes } from '../../eviction.js';
import type { Libraries } from '../../libraries.js';
import { functionHost, scriptHost } from '../../lua/index.js';
import { type Reply, VerbatimReply } from '../../reply.js';
import { moduleFields } from './modules.js';

type Fields = ReadonlyMap<string, string>;

/** In printing order. */
const SECTIONS = [
  'server',
  'clients',
  'memory',
  'persistence',
  'stats',
  'replication',
  'cpu',
  'modules',
  'commandstats',
  'errorstats',
  'latencystats',
  'cluster',
  'keyspace',
];
/** Sections shown only on request, by name or with `all`. */
const ON_REQUEST = new Set(['commandstats', 'latencystats']);

/** INFO [section …]. An unknown section gives only its heading over REST; over RESP it is omitted, as in Redis. */
export const info: Handler = (context) => {
  const { args, endpoint } = context;
  const wanted = args.from(1).map(asciiLowerCase);
  const isAll = wanted.includes('all') || wanted.includes('everything');
  const isDefault = wanted.length === 0 || wanted.includes('default');
  const names = SECTIONS.filter(
    (name) => isAll || wanted.includes(name) || (isDefault && (endpoint === 'rest' || !ON_REQUEST.has(name))),
  );
  if (endpoint === 'rest') {
    for (const word of wanted) if (!SECTIONS.includes(word) && !isAllWord(word)) names.push(word);
  }
  const given = context.server.info();
  const text = [...new Set(names)].map((name) => section(name, fieldsOf(context, name, given.get(name)))).join('\r\n');
  return endpoint === 'rest' ? text : (new VerbatimReply(text) as Reply);
};

function isAllWord(word: string): boolean {
  return word === 'all' || word === 'everything' || word === 'default';
}

function section(name: ByteString, fields: Fields): ByteString {
  const title = name === 'cpu' ? 'CPU' : `${asciiUpperCase(name.charAt(0))}${name.slice(1)}`;
  let text = `# ${title}\r\n`;
  for (const [field, value] of fields) text += `${field}:${value}\r\n`;
  return text;
}

/** The process's fields and this database's fields of one section. */
function fieldsOf(context: CommandContext, name: string, given: Fields = new Map()): Fields {
  const own = OWN_FIELDS.get(name)?.(context) ?? [];
  return new Map([...given, ...own]);
}

type OwnFields = (context: CommandContext) => [string, string][];

/** A map, because names come from clients: with an object, a name such as `constructor` would match a property. */
const OWN_FIELDS: ReadonlyMap<string, OwnFields> = new Map(
  Object.entries<OwnFields>({
    clients: ({ statistics: { waiting }, audience }) => [
      ['blocked_clients', String(waiting.size + (audience.heldClients ?? 0))],
      ['total_blocking_keys', String(waiting.keyCount)],
      ['total_blocking_keys_on_nokey', String(waiting.groupKeyCount)],
    ],
    memory: (context) => {
      const { settings, keyspace, libraries } = context;
      return [
        ...scriptMemory(libraries),
        // The value compared with `maxmemory`, because clients divide one by the other.
        ['used_memory', String(storedBytes(keyspace))],
        ['used_memory_human', human(storedBytes(keyspace))],
        ['mem_not_counted_for_evict', '0'],
        ['used_memory_overhead', String(storedBytes(keyspace) - keyspace.bytes)],
        // An empty database uses no memory.
        ['used_memory_startup', '0'],
        ['used_memory_dataset', String(keyspace.bytes)],
        ['used_memory_dataset_perc', `${((keyspace.bytes / Math.max(1, storedBytes(keyspace))) * 100).toFixed(2)}%`],
        ['number_of_cached_scripts', String(scriptHost(libraries).scripts.size)],
        ['number_of_functions', String(libraries.size === 0 ? 0 : functionHost(libraries).count(context))],
        ['number_of_libraries', String(libraries.size)],
        // Memory is freed before the command is answered.
        ['lazyfree_pending_objects', '0'],
        ['lazyfreed_objects', '0'],
        ['maxmemory', String(context.bounds.shownBytes)],
        ['maxmemory_human', human(context.bounds.shownBytes)],
        ['maxmemory_policy', settings.get('maxmemory-policy') ?? ''],
      ];
    },
    // Changes since the owner took the database over. Snapshots are made in the background and no change waits for one.
    persistence: ({ statistics }) => [['rdb_changes_since_last_save', String(statistics.changes)]],
    stats: ({ statistics, keyspace, audience, nowMs }) => [
      ['total_commands_processed', String(statistics.commands)],
      ['instantaneous_ops_per_sec', String(Math.round(statistics.rate.perSecond(nowMs, statistics.commands)))],
      ['expired_subkeys', String(statistics.expiredFields)],
      ['expired_keys', String(statistics.expiredKeys)],
      ['expired_subkeys_active', String(statistics.activelyExpiredFields)],
      ['expired_keys_active', String(statistics.activelyExpiredKeys)],
      ['evicted_keys', String(statistics.evictedKeys)],
      ['keyspace_hits', String(keyspace.hits)],
      ['keyspace_misses', String(keyspace.misses)],
      ['pubsub_channels', String([...audience.channels(false)].length)],
      ['pubsub_patterns', String(audience.patternCount)],
      ['pubsubshard_channels', String([...audience.channels(true)].length)],
      ['total_error_replies', String(statistics.errors)],
    ],
    modules: moduleFields,
    commandstats: ({ statistics }) =>
      [...statistics.calls].map(([spec, { calls, micros, failed }]) => [
        `cmdstat_${spec.name.toLowerCase().replace(' ', '|')}`,
        `calls=${calls},usec=${micros},usec_per_call=${(micros / calls).toFixed(2)},rejected_calls=0,failed_calls=${failed}`,
      ]),
    errorstats: ({ statistics }) =>
      [...statistics.errorKinds].map(([kind, count]) => [`errorstat_${kind}`, `count=${count}`]),
    keyspace: ({ keyspace }) =>
      keyspace.size === 0 ? [] : [['db0', `keys=${keyspace.size},expires=${keyspace.expiring},avg_ttl=0`]],
  }),
);

/** Memory of the Lua machine of this partition, and of the cached sources. */
function scriptMemory(libraries: Libraries): [string, string][] {
  const host = scriptHost(libraries);
  const machineBytes = host.current?.machine.heapBytes ?? 0;
  const libraryBytes = libraries.bytes;
  const fields: [string, number][] = [
    // One machine runs both scripts and functions.
    ['used_memory_vm_eval', machineBytes],
    ['used_memory_lua', machineBytes],
    ['used_memory_scripts_eval', host.scripts.bytes],
    ['used_memory_vm_functions', 0],
    ['used_memory_vm_total', machineBytes],
    ['used_memory_functions', libraryBytes],
    ['used_memory_scripts', host.scripts.bytes + libraryBytes],
  ];
  const shown: [string, string][] = fields.map(([name, bytes]) => [name, String(bytes)]);
  for (const name of ['used_memory_lua', 'used_memory_vm_total', 'used_memory_scripts']) {
    shown.push([`${name}_human`, human(fields.find(([field]) => field === name)?.[1] ?? 0)]);
  }
  return shown;
}

/** Bytes in Redis's human-readable form. */
export function human(bytes: number): string {
  const units = ['B', 'K', 'M', 'G', 'T'];
  let unit = 0;
  let value = bytes;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return unit === 0 ? `${bytes}B` : `${value.toFixed(2)}${units[unit]}`;
}
