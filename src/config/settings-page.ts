/**
 * Generates docs/settings.md from the schema and the defaults. A test compares the file with this text; `node
 * dist/src/config/write-settings-page.js` writes it.
 */
import { Config } from './schema.js';
import { sectionsOf } from './sections.js';
import type { SettingSpec } from './setting.js';

const TITLES: Readonly<Record<string, string>> = {
  process: 'The process',
  endpoints: 'Endpoints',
  http: 'HTTP',
  nats: 'NATS',
  storage: 'Storage',
  backups: 'Backups elsewhere',
  ownership: 'Ownership and waiting',
  bounds: 'Bounds',
  destinations: 'Destinations of deliveries',
  delivery: 'Deliveries and the queue',
  prices: 'Prices',
  alerts: 'Alerts',
  embeddings: 'Vectors and embeddings',
  tracing: 'Traces',
  signIn: 'Signing in',
  firstStart: 'First start',
};

const OPENING = `# Settings

Environment variables, read once at start. A value that is not accepted ends the start with one line that
names the variable and what it accepts. An empty variable counts as not set; a \`MILLRACE_\` variable that is
not listed here is a warning. \`millrace config\` prints the values in effect, secrets masked.

A secret (its value is masked) may be stored elsewhere. Then the variable names the place:

| value | the secret is |
| --- | --- |
| \`file:/run/secrets/token\` | the text of the file, of at most 64 KiB, without the line end at its end |
| \`env:OTHER_VARIABLE\` | the value of the other variable |
| \`exec:vault kv get -field=token secret/millrace\` | the output of the command line, which \`/bin/sh\` runs; it has ten seconds |

A process reads the places at its start. With several workers, \`millrace reload\` starts workers that read them
again, without an interruption. The secrets under [First start](#first-start) count only then:
another text later is a warning in the log. The token of the metrics and the secrets of NATS need a restart, and a
new [encryption key](operations/encryption.md) has its own steps. A secret that itself begins with one of these words is put into a file.

Times are milliseconds and end in \`_MS\`. The smallest accepted ones are for tests on one machine; in
production the defaults leave room for what NATS and garbage collection do.

This page is generated from the schema (\`src/config\`); \`make docs\` writes it again.
`;

export function settingsPage(): string {
  const tables = sectionsOf(new Config()).map(({ name, settings }) =>
    [
      `## ${TITLES[name]}`,
      '',
      '| variable | default | accepts | why |',
      '| --- | --- | --- | --- |',
      ...settings.map(rowOf),
      '',
    ].join('\n'),
  );
  return [OPENING, ...tables].join('\n');
}

function rowOf({ variable, kind, fallback }: SettingSpec): string {
  const value = fallback.shown === undefined ? kind.write(fallback.valueFor(NOWHERE)) : fallback.shown;
  const shown = fallback.shown ?? (value === '' ? 'none' : `\`${value}\``);
  return `| \`${variable}\` | ${inCell(shown)} | ${inCell(kind.accepts)} | ${inCell(fallback.reason)} |`;
}

/** Any surroundings will do, because derived defaults are shown in words. */
const NOWHERE = { host: '', dataDir: '', isEmbedded: true, sharedBy: 1, exposedBy: undefined };

function inCell(text: string): string {
  return text.replaceAll('|', '\\|').replace(/<([^>]*)>/g, '&lt;$1&gt;');
}
