/**
 * Generates the pages of `docs/` from the command table: commands, and differences from Redis. A test compares the
 * pages with the table, so they cannot become outdated.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { allCommands, type CommandFamily, type CommandSpec, MAX_GLOB_BYTES } from '../domain/kv/index.js';
import { rightsPage } from './rights-page.js';

/** File name → contents. */
export function docsPages(): ReadonlyMap<string, string> {
  return new Map([
    ['commands.md', commandsPage()],
    ['deviations.md', deviationsPage()],
    ['rights.md', rightsPage()],
  ]);
}

export function writeDocs(directory: string): void {
  for (const [name, text] of docsPages()) writeFileSync(join(directory, name), text);
}

/** In the order of the pages. */
const FAMILY_TITLES: Readonly<Record<CommandFamily, string>> = {
  string: 'String',
  bitmap: 'Bitmap',
  hash: 'Hash',
  list: 'List',
  set: 'Set',
  'sorted-set': 'Sorted set',
  geo: 'Geo',
  hyperloglog: 'HyperLogLog',
  stream: 'Stream',
  json: 'JSON',
  array: 'Array',
  queue: 'Queue',
  vector: 'Vector index',
  'vector-set': 'Vector set',
  search: 'Search',
  bloom: 'Bloom filter',
  cuckoo: 'Cuckoo filter',
  'count-min': 'Count-Min sketch',
  'top-k': 'Top-K',
  't-digest': 't-digest',
  generic: 'Generic',
  transactions: 'Transactions',
  scripting: 'Scripting',
  function: 'Functions',
  pubsub: 'Pub/Sub',
  connection: 'Connection',
  server: 'Server',
  acl: 'ACL',
  cluster: 'Cluster',
};

/** Commands of Redis 8.10 and its modules, and why they are missing. */
const NOT_SERVED: readonly (readonly [names: string, reason: string])[] = [
  ['`XIDMPRECORD`', 'an effect, as in Redis: clients cannot send it'],
  ['`FT.*`', '[search indexes](guide/search.md) have their own requests'],
  ['`TS.*`', 'time series need a store for them; sorted sets and arrays hold short ones'],
  ['changes of slots and nodes (`CLUSTER MEET` …)', 'the cluster places its partitions itself'],
  [
    '`BF.DEBUG`, `CF.DEBUG`, `HOTKEYS`, `MEMORY MALLOC-STATS`, `PFDEBUG`, `PFSELFTEST`, `SCRIPT DEBUG`, `RESTORE-ASKING`, `TRIMSLOTS`',
    'they concern the inside of a Redis process',
  ],
];

const GENERATED = '<!-- Generated from the command table by src/cli/docs-command.ts: change it there. -->';

function commandsPage(): string {
  const sections = byFamily().map(([title, specs]) =>
    [
      `## ${title}`,
      '',
      '| Command | Words | REST | RESP | Read-only token | Since Redis | Summary | Differs |',
      '| --- | --- | --- | --- | --- | --- | --- | --- |',
      ...specs.map(commandRow),
      '',
    ].join('\n'),
  );
  return [
    '# Commands',
    '',
    GENERATED,
    '',
    `${allCommands().length} commands and subcommands, over REST and over the native protocol (RESP).`,
    '',
    '- Words counts the name; `2+` means at least two.',
    '- REST: `yes`; `no`, the command is refused; `route`, it has a separate route or belongs to connections.',
    '- RESP: `no`, the command is refused with a reason.',
    '- Read-only token: whether the built-in read-only token may run the command',
    '- Differs: the reply differs from that of Redis; [deviations.md](deviations.md) says how.',
    '',
    "Any other command answers `ERR Command is not available: 'NAME'` over REST, and the error of Redis for an unknown command",
    'over RESP.',
    '',
    ...sections,
    '## Of Redis 8.10, not served',
    '',
    'The names and the grammar of the commands of Redis 8.8 and 8.10 are those of its published command pages, because no server of',
    'these versions can be had for comparison; the errors of `HIMPORT` are those in the published tests of its clients. Those up to 8.6 are compared with a real one: `XCFGSET` and `XADD … IDMP` with 8.6.3.',
    'The commands of filters and sketches, their errors, hashes, sizes and payloads follow the published source of the module, because no',
    'server with it can be had; they are called with the published client, and their estimates are compared with exact answers.',
    '',
    '| Commands and options | Reason |',
    '| --- | --- |',
    ...NOT_SERVED.map(([names, reason]) => `| ${names} | ${reason} |`),
    '',
  ].join('\n');
}

function commandRow(spec: CommandSpec): string {
  const cells = [
    `\`${spec.name}\``,
    spec.arity < 0 ? `${-spec.arity}+` : String(spec.arity),
    overRest(spec),
    isUnavailable(spec) ? 'no' : 'yes',
    mayReadOnly(spec) ? 'yes' : 'no',
    spec.since,
    spec.summary,
    spec.deviations === undefined ? '' : 'yes',
  ];
  return `| ${cells.join(' | ')} |`.replace('|  |', '| |');
}

function overRest(spec: CommandSpec): string {
  if (spec.rest === 'refused') return 'no';
  return spec.rest === 'other-route' ? 'route' : 'yes';
}

/** The row exists to explain why the command is refused. */
function isUnavailable(spec: CommandSpec): boolean {
  return spec.summary.startsWith('Refused: ');
}

/** Whether the built-in read-only token may run it. */
function mayReadOnly(spec: CommandSpec): boolean {
  return spec.readOnlyToken ?? (spec.flags.includes('readonly') && !spec.flags.includes('dangerous'));
}

const GENERAL_DEVIATIONS = [
  'There is one database; FLUSHDB and FLUSHALL do the same.',
  'A value may have at most 100 MB: a larger write answers `ERR max single record size exceeded`.',
  'Over REST the limit for a reply is that for a command, 10 MiB by default. For a longer string the error names `GETRANGE`; no value is removed by such a command.',
  `A pattern with wildcards may have at most ${MAX_GLOB_BYTES} bytes; a longer one answers \`ERR pattern is too long\`.`,
  'Expired keys cannot be read from their expiry on; DBSIZE counts them until they are removed.',
];

const REST_DEVIATIONS = [
  'A word that should be an integer and is none answers `ERR value is not an int or out of range`.',
  "An unknown or unavailable command answers `ERR Command is not available: 'NAME'`; NAME includes the subcommand.",
  'Commands of connections, transactions and subscriptions sent as plain ones answer ' +
    '`ERR Command "NAME" is not allowed in REST or it has a special context path`.',
  'When the database is full a write answers `ERR DB capacity quota exceeded`.',
];

const RESP_DEVIATIONS = [
  'The bytes that the connections of a database hold are bounded ([limits](operations/limits.md)). Redis closes the largest clients (`maxmemory-clients`); here `WATCH`, subscriptions and queueing answer `OOM requests of this database use too much memory, nothing was executed`. Other commands wait up to five seconds and then answer the same; a command that is still being received also ends its connection. The client with the most unread bytes is disconnected.',
  'In a transaction, a read that follows 64 MiB of replies is not run: `ERR answer too large: …`. In a database of several partitions the same holds for a command in a pipeline after replies of the maximum size of one reply.',
];

function deviationsPage(): string {
  const sections: string[] = [];
  for (const [title, specs] of byFamily()) {
    const lines = specs.flatMap((spec) => (spec.deviations ?? []).map((text) => `- \`${spec.name}\`: ${text}`));
    if (lines.length > 0) sections.push(`## ${title}`, '', ...lines, '');
  }
  return [
    '# How answers differ from Redis',
    '',
    GENERATED,
    '',
    'The API is compared with real servers, command by command (`test/differential`). This page lists every known difference.',
    '',
    '## Everywhere',
    '',
    ...GENERAL_DEVIATIONS.map((text) => `- ${text}`),
    '',
    '## Over REST',
    '',
    ...REST_DEVIATIONS.map((text) => `- ${text}`),
    '',
    '## Over the native protocol',
    '',
    ...RESP_DEVIATIONS.map((text) => `- ${text}`),
    '',
    ...sections,
  ].join('\n');
}

function byFamily(): [string, CommandSpec[]][] {
  const specsByFamily = new Map<CommandFamily, CommandSpec[]>();
  for (const spec of allCommands()) {
    const specs = specsByFamily.get(spec.family) ?? [];
    specs.push(spec);
    specsByFamily.set(spec.family, specs);
  }
  return Object.entries(FAMILY_TITLES).map(([family, title]) => [
    title,
    (specsByFamily.get(family as CommandFamily) ?? []).sort((a, b) => (a.name < b.name ? -1 : 1)),
  ]);
}
