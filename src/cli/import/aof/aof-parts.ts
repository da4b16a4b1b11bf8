/** The files of an append-only log: a single one, or those in the manifest of its directory. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { splitInlineWords } from '../../../codec/resp/index.js';
import { UsageError } from '../../parser.js';

const MANIFEST = '.manifest';
/** The base, which is one file, and the increments after it; the third kind is unneeded history. */
const BASE = 'b';
const BEHIND = 'i';

export function isAofDirectory(path: string): boolean {
  return statSync(path).isDirectory();
}

/** @returns paths in reading order. @throws UsageError */
export function aofParts(path: string): string[] {
  if (!isAofDirectory(path)) return [path];
  const manifests = readdirSync(path).filter((name) => name.endsWith(MANIFEST));
  const [manifest] = manifests;
  if (manifest === undefined || manifests.length > 1) {
    throw new UsageError(`${path} has ${manifests.length} manifests of an append-only log; exactly one is needed`);
  }
  const lines = readFileSync(join(path, manifest), 'utf8').split('\n');
  const parts = lines.flatMap((line, at) => (/^\s*(#|$)/.test(line) ? [] : [partOf(line, `${manifest}:${at + 1}`)]));
  const bases = parts.filter(({ type }) => type === BASE);
  if (bases.length > 1) throw new UsageError(`${manifest} names ${bases.length} bases`);
  const increments = parts.filter(({ type }) => type === BEHIND).sort((a, b) => a.sequence - b.sequence);
  return [...bases, ...increments].map(({ file }) => join(path, file));
}

function partOf(line: string, place: string) {
  const words = splitInlineWords(line) ?? [];
  const behind = (name: string) => words.find((_word, at) => at % 2 === 1 && words[at - 1] === name);
  const [file = '', sequence, type = ''] = ['file', 'seq', 'type'].map(behind);
  const isName = file !== '' && !file.includes('/');
  if (!isName || !/^\d+$/.test(sequence ?? '') || !['b', 'i', 'h'].includes(type)) {
    throw new UsageError(`${place} is not a valid line of a manifest: ${line}`);
  }
  return { file, sequence: Number(sequence), type };
}
