#!/usr/bin/env node
/**
 * Writes docs/limits.md: every named bound of the sources, with its value, its reason and a test that covers it. `--check`
 * writes no file, and fails if the page would change. Needs `make build`.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const page = join(root, 'docs', 'limits.md');
const MIB = 1024 * 1024;
const DAY_MS = 24 * 3600 * 1000;

const filesOf = (folder, end) =>
  readdirSync(join(root, folder), { recursive: true })
    .map(String)
    .filter((path) => path.endsWith(end))
    .map((path) => join(folder, path))
    .sort();
const sources = filesOf('src', '.ts').filter((path) => /(^|[/-])limits\.ts$/.test(path));
const tests = filesOf('test', '.test.ts').map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }));

/** `/** what it is *\/` or `// why`, on one line of a table. */
const plain = (text) =>
  text
    .replace(/^\s*\/?\*+\/?|\*\/\s*$|^\s*\/\/ ?/gm, '')
    .replace(/\s+/g, ' ')
    .replaceAll('|', '\\|')
    .trim();

const IS_TIME = /_MS$|Ms$/;

function valueText(name, value) {
  if (/bytes?$/i.test(name) && value >= 1024) {
    if (value % MIB === 0) return `${value / MIB} MiB`;
    if (value % 1024 === 0) return `${value / 1024} KiB`;
  }
  if (IS_TIME.test(name) && value > 0 && value % DAY_MS === 0) return `${value / DAY_MS} days`;
  if (IS_TIME.test(name) && value >= 1000 && value % 1000 === 0) return `${value / 1000} s`;
  return String(value);
}

/** The first one that names it. */
function testOf(name) {
  const word = new RegExp(`\\b${name}\\b`);
  const found = tests.find(({ text }) => word.test(text));
  return found === undefined ? '' : `\`${found.path.slice('test/'.length)}\``;
}

const row = (name, value, why) => `| \`${name}\` | ${valueText(name, value)} | ${why} | ${testOf(name)} |`;

/** Numbers that stand alone. */
function constantsOf(text, module) {
  const rows = [];
  for (const [, comment, name] of text.matchAll(/(?:(\/\*\*(?:(?!\*\/)[\s\S])*\*\/)\n)?export const ([A-Z][A-Z_\d]*) = /g)) {
    if (typeof module[name] === 'number') rows.push(row(name, module[name], plain(comment ?? '')));
  }
  return rows;
}

/**
 * Numbers that an endpoint or an actor gets together. The interface describes each and the defaults give the reason; or the
 * defaults do both, if the interface has no comment.
 */
function defaultsOf(text, module) {
  const rows = [];
  for (const [, name] of text.matchAll(/export const (DEFAULT_[A-Z_]+)(?:: \w+)? = \{/g)) {
    for (const [field, value] of Object.entries(module[name] ?? {})) {
      // A value from the defaults of another file is listed with that file.
      if (typeof value !== 'number' || !new RegExp(`^ +${field}:`, 'm').test(text)) continue;
      const what = text.match(new RegExp(`(\\/\\*\\*(?:(?!\\*\\/)[\\s\\S])*\\*\\/)\\n\\s+(?:readonly )?${field}\\??:`))?.[1] ?? '';
      const why = text.match(new RegExp(`((?:^ +\\/\\/.*\\n)+) +${field}:`, 'm'))?.[1] ?? '';
      rows.push(row(field, value, [plain(what), plain(why)].filter((part) => part !== '').join(' ')));
    }
  }
  return rows;
}

const parts = [
  '# Bounds by name',
  '',
  'Written by `make docs` from the sources. What a tenant or a stranger may take in all, with the errors that tell it, is in',
  '[what is bounded](operations/limits.md); what an operator may set is in [settings](settings.md).',
];
for (const path of sources) {
  const text = readFileSync(join(root, path), 'utf8');
  const module = await import(pathToFileURL(join(root, 'dist', path.replace(/\.ts$/, '.js'))).href);
  const rows = [...constantsOf(text, module), ...defaultsOf(text, module)];
  if (rows.length === 0) continue;
  parts.push('', `## \`${relative('src', path)}\``, '', '| bound | value | why | a test that names it |', '| --- | --- | --- | --- |', ...rows);
}
const written = `${parts.join('\n')}\n`;
if (!process.argv.includes('--check')) writeFileSync(page, written);
else if (readFileSync(page, 'utf8') !== written) {
  process.stderr.write('docs/limits.md is not what the sources say: run `make docs`\n');
  process.exitCode = 1;
}
