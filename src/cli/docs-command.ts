/**
 * Writes the pages of `docs/` that follow from the command table: what there is, and how it differs from
 * Redis. A test holds the written pages against the table, so neither can go stale.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { allCommands, type CommandFamily, type CommandSpec, MAX_GLOB_BYTES } from '../domain/kv/index.js';

/** File name → contents. */
export function docsPages(): ReadonlyMap<string, string> {
  return new Map([
    ['commands.md', commandsPage()],
    ['deviations.md', deviationsPage()],
  ]);
}

export function writeDocs(directory: string): void {
  for (const [name, text] of docsPages()) writeFileSync(join(directory, name), text);
}

/** In the order the pages have them. */
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

const GENERATED = '<!-- Generated from the command table by src/cli/docs-command.ts: change it there. -->';

function commandsPage(): string {
  const sections = byFamily().map(([title, specs]) =>
    [
      `## ${title}`,
      '',
      '| Command | Words | REST | RESP | Read-only token | Since Redis | What it does | Differs |',
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
    '- REST: `yes`; `no`, the command is refused; `route`, it has a route of its own or belongs to connections.',
    '- RESP: `no`, the command is known, and refused with its reason.',
    '- Read-only token: may the built-in read-only token run it?',
    '- Differs: its answer differs from that of Redis in some way, told in [deviations.md](deviations.md).',
    '',
    "Any other command answers `ERR Command is not available: 'NAME'` over REST, and what Redis says of an unknown one",
    'over RESP.',
    '',
    ...sections,
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

/** Its row is there to say why it is not. */
function isUnavailable(spec: CommandSpec): boolean {
  return spec.summary.startsWith('Refused: ');
}

/** What the table says of the built-in read-only token. */
function mayReadOnly(spec: CommandSpec): boolean {
  return spec.readOnlyToken ?? (spec.flags.includes('readonly') && !spec.flags.includes('dangerous'));
}

const GENERAL_DEVIATIONS = [
  'There is one database; FLUSHDB and FLUSHALL do the same.',
  'A value may have 100 MB at most: beyond it a write answers `ERR max single record size exceeded`.',
  'Over REST an answer may be as long as a command, 10 MiB unless set otherwise; of a string beyond it the error names `GETRANGE`, and none is taken away.',
  `A pattern with wildcards may have ${MAX_GLOB_BYTES} bytes at most: beyond it \`ERR pattern is too long\`.`,
  'Expired keys are gone at once, and counted by DBSIZE until they are removed.',
];

const REST_DEVIATIONS = [
  'What is not an integer answers `ERR value is not an int or out of range`.',
  "A command that is unknown or not offered answers `ERR Command is not available: 'NAME'`, its subcommand included.",
  'Commands of connections, transactions and subscriptions sent as plain ones answer ' +
    '`ERR Command "NAME" is not allowed in REST or it has a special context path`.',
  'When the database is full a write answers `ERR DB capacity quota exceeded`.',
];

const RESP_DEVIATIONS = [
  'What the connections of a database hold has a bound in bytes ([limits](operations/limits.md)); where Redis ends the largest clients (`maxmemory-clients`), `WATCH`, subscriptions and queueing answer `OOM too much is held by requests of this database, nothing was executed`, other commands wait up to five seconds and then answer the same, one that is still being received ends its connection with it, and who has left most unread is cut.',
  'Of a transaction one read behind 64 MiB of answers is not run, nor is, in a database of several partitions, what stands in a pipeline behind as much of them as one answer may have: `ERR answer too large: …`.',
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
    'The API is compared with real servers, command by command (`test/differential`). This is all that is known to differ.',
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
