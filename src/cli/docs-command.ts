/**
 * Writes the pages of `docs/` that follow from the command table: what there is, and how it differs from
 * Redis. A test holds the written pages against the table, so neither can go stale.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { allCommands, type CommandFamily, type CommandSpec } from '../domain/kv/index.js';

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

const FAMILY_TITLES: Partial<Record<CommandFamily, string>> = {
  string: 'String',
  generic: 'Generic',
  connection: 'Connection',
  transactions: 'Transactions',
  server: 'Server',
  pubsub: 'Pub/Sub',
};

const GENERATED = '<!-- Generated from the command table by src/cli/docs-command.ts: change it there. -->';

function commandsPage(): string {
  const sections = byFamily().map(([title, specs]) =>
    [
      `## ${title}`,
      '',
      '| Command | Words | Read-only token | Since Redis | What it does |',
      '| --- | --- | --- | --- | --- |',
      ...specs.map(commandRow),
      '',
    ].join('\n'),
  );
  return [
    '# Commands',
    '',
    GENERATED,
    '',
    'Words counts the name; `2+` means at least two. Any other command answers',
    "`ERR Command is not available: 'NAME'`. How answers differ from Redis is in [deviations.md](deviations.md).",
    '',
    ...sections,
  ].join('\n');
}

function commandRow(spec: CommandSpec): string {
  const words = spec.arity < 0 ? `${-spec.arity}+` : String(spec.arity);
  const note = spec.rest === undefined ? '' : ' Refused as a plain command.';
  return `| \`${spec.name}\` | ${words} | ${mayReadOnly(spec) ? 'yes' : 'no'} | ${spec.since} | ${spec.summary}${note} |`;
}

/** What the table says of the built-in read-only token. */
function mayReadOnly(spec: CommandSpec): boolean {
  return spec.readOnlyToken ?? (spec.flags.includes('readonly') && !spec.flags.includes('dangerous'));
}

const GENERAL_DEVIATIONS = [
  'What is not an integer answers `ERR value is not an int or out of range`.',
  "A command that is unknown or not offered answers `ERR Command is not available: 'NAME'`, its subcommand included.",
  'Commands of connections, transactions and subscriptions sent as plain ones answer ' +
    '`ERR Command "NAME" is not allowed in REST or it has a special context path`.',
  'There is one database; FLUSHDB and FLUSHALL do the same.',
  'A value may have 100 MB at most: beyond it a write answers `ERR max single record size exceeded`.',
  'Expired keys are gone at once, and counted by DBSIZE until they are removed.',
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
  return [...specsByFamily].map(([family, specs]) => [
    FAMILY_TITLES[family] ?? family,
    specs.sort((a, b) => (a.name < b.name ? -1 : 1)),
  ]);
}
