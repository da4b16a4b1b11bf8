/** The versions of a key: the journal's entries that changed it, and its value after each. */
import type { Schemas } from '#api';
import { CallError, manage } from '../../../../api/call.js';
import { textOf, transaction, wordOf } from '../../../../api/kv.js';
import type { Word, Words } from '../../../../api/kv-bytes.js';
import type { PastLook } from '../../../past/moments.js';
import type { PastWords } from '../../../past/value-shapes.js';

export interface Version {
  readonly position: number;
  readonly atMs: number;
  /** Names of the commands that made it. */
  readonly commands: readonly string[];
  /** Bytes that the entry wrote for this key. */
  readonly bytes: number;
  /** The console's user that made it; undefined: a client, which the journal does not name. */
  readonly author: string | undefined;
  /** Its value, if the entry alone tells it; null: the key was deleted. Undefined: a replay tells it. */
  readonly known: PastLook | null | undefined;
}

export interface Versions {
  /** The newest first. */
  readonly versions: readonly Version[];
  readonly hasOlder: boolean;
}

const MAX_VERSIONS = 100;
/** Lines of the audit log that are compared with the entries. */
const MAX_LINES = '200';
/** The audit log has whole seconds, and is written before the change. */
const NOTED_BEFORE_MS = 3_000;

type Entry = Schemas['TimelineEntry'];

/** @param name a binary string. @throws CallError */
export async function versionsOf(id: string, name: string): Promise<Versions> {
  const query = { ...keyQuery(name), newest: true, limit: MAX_VERSIONS };
  const { entries, more } = await manage('GET /v2/admin/databases/{id}/timeline', { path: { id }, query });
  const authors = await authorsOf(id, name, entries);
  const versions = entries.map((entry) => ({ ...versionOf(entry, name), author: authors.get(entry.position) }));
  return { versions, hasOlder: more };
}

function keyQuery(name: string) {
  const key = textOf(name);
  return key === undefined ? { key_base64: btoa(name) } : { key };
}

function versionOf({ position, time, effects }: Entry, name: string): Omit<Version, 'author'> {
  const commands = effects.filter((effect): effect is PastWords[number][] => Array.isArray(effect));
  return {
    position,
    atMs: Date.parse(time),
    commands: [...new Set(commands.map(([command]) => String(command)))],
    bytes: commands.flatMap((words) => words.slice(2)).reduce((sum: number, word) => sum + bytesIn(word), 0),
    known: knownAfter(commands.at(-1), wordOf(name)),
  };
}

function bytesIn(word: PastWords[number]): number {
  return typeof word === 'string' ? new TextEncoder().encode(word).length : atob(word.base64).length;
}

function knownAfter(last: PastWords | undefined, key: Word): PastLook | null | undefined {
  if (last?.[0] === 'DEL' || last?.[0] === 'UNLINK') return null;
  if (last?.[0] !== 'SET' || last[1] !== key) return undefined;
  return { type: 'string', digest: '', commands: [last as (string | { base64: string })[]] };
}

interface AuditLine {
  readonly actor: string;
  readonly timestamp: number;
  readonly third_entity: string;
}

/** The authors of changes that were made in the console, by position. None if the log may not be read. */
async function authorsOf(id: string, name: string, entries: readonly Entry[]): Promise<ReadonlyMap<number, string>> {
  const key = textOf(name);
  const oldest = entries.at(-1);
  if (key === undefined || oldest === undefined) return new Map();
  const ascending = entries.toReversed();
  const authors = new Map<number, string>();
  for (const { actor, timestamp } of await linesAbout(id, key, Date.parse(oldest.time) - NOTED_BEFORE_MS)) {
    const made = ascending.find(({ position, time }) => {
      const lateMs = Date.parse(time) - timestamp * 1_000;
      return lateMs >= 0 && lateMs <= NOTED_BEFORE_MS && !authors.has(position);
    });
    if (made !== undefined) authors.set(made.position, actor);
  }
  return authors;
}

/** In the order of time. */
async function linesAbout(id: string, key: string, fromMs: number): Promise<readonly AuditLine[]> {
  try {
    const { database_name: entity } = await manage('GET /v2/kv/database/{id}', {
      path: { id },
      query: { credentials: 'hide' },
    });
    const query = { entity, action: 'Run Commands', from: String(Math.floor(fromMs / 1_000)), count: MAX_LINES };
    const lines: readonly AuditLine[] = await manage('GET /v2/auditlogs', { query });
    return lines.filter(({ third_entity }) => third_entity === key).toReversed();
  } catch {
    return [];
  }
}

/** The value of a key after an entry; undefined: it was not there. @throws CallError */
export async function valueAfter(id: string, name: string, position: number): Promise<PastLook | undefined> {
  if (position < 1) return undefined;
  const query = { at: position, values: true, limit: 1, ...keyQuery(name) };
  const { keys } = await manage('GET /v2/admin/databases/{id}/state', { path: { id }, query });
  return keys[0];
}

/** Replaces the key by the version, in one transaction. An expiry that has passed is left out. @throws CallError */
export async function restoreVersion(id: string, name: string, { commands = [] }: PastLook): Promise<void> {
  const creating = commands.map(withoutPastExpiry).filter((words) => words.length > 0);
  const results = await transaction(id, [['DEL', wordOf(name)], ...creating]);
  const refused = results.find((result) => 'error' in result);
  if (refused !== undefined && 'error' in refused) throw new CallError(400, refused.error);
}

function withoutPastExpiry(words: PastWords): Words {
  const at = words.indexOf('PXAT');
  const isOver = (text: unknown) => Number(text) <= Date.now();
  if (words[0] === 'PEXPIREAT') return isOver(words[2]) ? [] : words;
  return at > 2 && isOver(words[at + 1]) ? words.toSpliced(at, 2) : words;
}
