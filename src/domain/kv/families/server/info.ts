/** INFO: sections of `field:value` lines, with Redis's names. */
import { asciiLowerCase, asciiUpperCase, type ByteString } from '../../../../kernel/index.js';
import type { CommandContext, Handler } from '../../command-spec.js';
import { storedBytes } from '../../eviction.js';
import type { Libraries } from '../../libraries.js';
import { functionHost, scriptHost } from '../../lua/index.js';
import { type Reply, VerbatimReply } from '../../reply.js';

type Fields = ReadonlyMap<string, string>;

/** In the order they are printed. */
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
/** Sections that are shown only when they are asked for, by name or with everything. */
const ON_REQUEST = new Set(['commandstats', 'latencystats']);

/** INFO [section …] → over REST an unknown section gives just its heading; over RESP nothing, as in Redis. */
export const info: Handler = (context) => {
  const { args, face } = context;
  const wanted = args.from(1).map(asciiLowerCase);
  const isAll = wanted.includes('all') || wanted.includes('everything');
  const isDefault = wanted.length === 0 || wanted.includes('default');
  const names = SECTIONS.filter(
    (name) => isAll || wanted.includes(name) || (isDefault && (face === 'rest' || !ON_REQUEST.has(name))),
  );
  if (face === 'rest') {
    for (const word of wanted) if (!SECTIONS.includes(word) && !isAllWord(word)) names.push(word);
  }
  const given = context.server.info();
  const text = [...new Set(names)].map((name) => section(name, fieldsOf(context, name, given.get(name)))).join('\r\n');
  return face === 'rest' ? text : (new VerbatimReply(text) as Reply);
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

/** What the process knows, and what this database has counted, in one section. */
function fieldsOf(context: CommandContext, name: string, given: Fields = new Map()): Fields {
  const own = OWN_FIELDS.get(name)?.(context) ?? [];
  return new Map([...given, ...own]);
}

type OwnFields = (context: CommandContext) => [string, string][];

/** A map, for names are what a client typed: `constructor` is a section that is not there. */
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
        // What `maxmemory` is compared with, as whoever divides the one by the other expects.
        ['used_memory', String(storedBytes(keyspace))],
        ['used_memory_human', human(storedBytes(keyspace))],
        ['mem_not_counted_for_evict', '0'],
        ['used_memory_dataset', String(keyspace.bytes)],
        ['number_of_cached_scripts', String(scriptHost(libraries).scripts.size)],
        ['number_of_functions', String(libraries.size === 0 ? 0 : functionHost(libraries).count(context))],
        ['number_of_libraries', String(libraries.size)],
        // What is removed is gone when the command is answered.
        ['lazyfree_pending_objects', '0'],
        ['maxmemory', String(context.bounds.shownBytes)],
        ['maxmemory_human', human(context.bounds.shownBytes)],
        ['maxmemory_policy', settings.get('maxmemory-policy') ?? ''],
      ];
    },
    // Since the owner took the database up: snapshots are made beside it, and no change waits for one.
    persistence: ({ statistics }) => [['rdb_changes_since_last_save', String(statistics.changes)]],
    stats: ({ statistics, keyspace, audience, nowMs }) => [
      ['total_commands_processed', String(statistics.commands)],
      ['instantaneous_ops_per_sec', String(Math.round(statistics.rate.perSecond(nowMs, statistics.commands)))],
      ['expired_keys', String(statistics.expiredKeys)],
      ['evicted_keys', String(statistics.evictedKeys)],
      ['keyspace_hits', String(keyspace.hits)],
      ['keyspace_misses', String(keyspace.misses)],
      ['pubsub_channels', String([...audience.channels(false)].length)],
      ['pubsub_patterns', String(audience.patternCount)],
      ['pubsubshard_channels', String([...audience.channels(true)].length)],
      ['total_error_replies', String(statistics.errors)],
    ],
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

/** Memory of the machine that runs this partition's scripts and functions, and of the sources that are kept. */
function scriptMemory(libraries: Libraries): [string, string][] {
  const host = scriptHost(libraries);
  const machineBytes = host.current?.machine.heapBytes ?? 0;
  let libraryBytes = 0;
  for (const [, source] of libraries.entries()) libraryBytes += source.length;
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

/** Bytes as Redis shows them to people. */
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
