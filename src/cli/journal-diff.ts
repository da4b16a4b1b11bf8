/**
 * `millrace journal diff`: the keys of a database that changed between two moments, with the entries that changed
 * them.
 */

import { type EntryRef, type KeyChange, type KeyLook, wordJson } from '../journal/index.js';
import { MillraceError } from '../kernel/index.js';
import { diffDatabase } from '../replay/index.js';
import { byShard, type JournalCommandDeps, type PlacedPartition, walkOptions } from './journal-deps.js';
import type { QuestionOf } from './journal-question.js';

export async function diffDatabases(
  deps: JournalCommandDeps,
  places: readonly PlacedPartition[],
  { from, to, format, withValues }: QuestionOf<'diff'>,
): Promise<void> {
  const options = { ...walkOptions(deps), withValues };
  const counts: Record<KeyChange['change'], number> = { created: 0, changed: 0, deleted: 0, same: 0, settings: 0 };
  for await (const [shard, diff] of diffDatabase(deps, byShard(places), { from, to }, options)) {
    if (format === 'text') {
      await deps.write(`${shard}: from position ${diff.from.position} to position ${diff.to.position}\n`);
    }
    for (const change of diff.changes) {
      if (deps.signal.aborted) {
        throw new MillraceError('SHUTTING_DOWN', 'interrupted: the output is incomplete');
      }
      counts[change.change] += 1;
      await deps.write(format === 'text' ? textOf(change) : jsonOf(change));
    }
  }
  if (format === 'ndjson') return;
  const { created, changed, deleted, same } = counts;
  await deps.write(`${created} created, ${changed} changed, ${deleted} deleted, ${same} as before\n`);
}

function textOf(change: KeyChange): string {
  const { key, before, after, entries, entryCount, hasExpired } = change;
  const types = [before?.type, after?.type].filter((type, i, all) => type !== undefined && all.indexOf(type) === i);
  const name = key === undefined ? '(parameters and libraries)' : wordJson(key);
  let text = `${change.change.padEnd(8)} ${types.join(' to ').padEnd(6)} ${name}\n`;
  for (const entry of entries) text += `         ${entryText(entry)}\n`;
  if (entryCount > entries.length) text += `         and ${entryCount - entries.length} entries between them\n`;
  if (hasExpired) text += '         expired\n';
  for (const [word, look] of [['before', before] as const, ['after', after] as const]) {
    if (look?.value !== undefined) text += `         ${word}: ${valueJson(look)}\n`;
  }
  return text;
}

function entryText({ position, number, index, atMs, commands }: EntryRef): string {
  const time = new Date(atMs).toISOString();
  return `position ${position}, entry ${number}, section ${index}, ${time}: ${commands.join(', ')}`;
}

function jsonOf(change: KeyChange): string {
  const { partition, key, before, after, entries, entryCount, hasExpired } = change;
  const fields = [
    `"partition":${JSON.stringify(partition)}`,
    `"key":${key === undefined ? 'null' : wordJson(key)}`,
    `"change":"${change.change}"`,
    `"before":${lookJson(before)}`,
    `"after":${lookJson(after)}`,
    `"hasExpired":${hasExpired}`,
    `"entryCount":${entryCount}`,
    `"entries":${JSON.stringify(entries.map(({ atMs, ...entry }) => ({ ...entry, time: new Date(atMs).toISOString() })))}`,
  ];
  return `{${fields.join(',')}}\n`;
}

function lookJson(look: KeyLook | undefined): string {
  if (look === undefined) return 'null';
  const { type, digest, expireAtMs } = look;
  const expiry = expireAtMs === undefined ? '' : `,"expiresAt":"${new Date(expireAtMs).toISOString()}"`;
  const value = look.value === undefined ? '' : `,"commands":${valueJson(look)}`;
  return `{"type":"${type}","digest":"${digest}"${expiry}${value}}`;
}

function valueJson({ value = [] }: KeyLook): string {
  return `[${value.map((words) => `[${words.map(wordJson).join(',')}]`).join(',')}]`;
}
