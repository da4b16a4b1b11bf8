/** Keys of a database as lists show them. Names are binary strings. */
import type { Operations } from '#api';
import { manage } from '../../../api/call.js';
import { binaryOfText, textOf } from '../../../api/kv.js';

export const SHOWN_TYPES = [
  'string',
  'hash',
  'list',
  'set',
  'zset',
  'stream',
  'array',
  'vector',
  'vectorset',
  'ReJSON-RL',
  'search',
  'MBbloom--',
  'MBbloomCF',
  'CMSk-TYPE',
  'TopK-TYPE',
  'TDIS-TYPE',
] as const;
export type KeyType = (typeof SHOWN_TYPES)[number];

/** Names for users. */
export const TYPE_LABELS: Readonly<Record<KeyType, string>> = {
  string: 'string',
  hash: 'hash',
  list: 'list',
  set: 'set',
  zset: 'sorted set',
  stream: 'stream',
  array: 'array',
  vector: 'vectors',
  vectorset: 'vector set',
  'ReJSON-RL': 'JSON',
  search: 'index',
  'MBbloom--': 'Bloom filter',
  MBbloomCF: 'Cuckoo filter',
  'CMSk-TYPE': 'Count-Min',
  'TopK-TYPE': 'Top-K',
  'TDIS-TYPE': 't-digest',
};

export interface ListedKey {
  readonly name: string;
  readonly type: KeyType;
  /** Null: no expiry. */
  readonly ttlMs: number | null;
  readonly bytes: number;
  readonly length: number | undefined;
}

/** Newer data of keys from their own pages. */
export type SeenKeys = ReadonlyMap<string, Pick<ListedKey, 'type' | 'ttlMs' | 'bytes'>>;

export interface ListedFolder {
  readonly name: string;
  readonly keys: number;
}

export interface KeyListFilter {
  /** A glob pattern, or ''. */
  readonly match: string;
  readonly type: string;
}

const PAGE_KEYS = 500;
/** Small, so that the first rows appear quickly. */
const FIRST_PAGE_KEYS = 100;
export const BEGIN = '0';

export async function keysPage(id: string, filter: KeyListFilter, cursor: string, signal: AbortSignal) {
  const count = cursor === BEGIN ? FIRST_PAGE_KEYS : PAGE_KEYS;
  const query = { ...filter, cursor, count: String(count) };
  const answer = await manage('GET /v2/admin/databases/{id}/keys', { path: { id }, query, signal });
  return { keys: answer.keys.map(listedKey), cursor: answer.cursor };
}

const FOLDER_COUNT = '1000';
export const SEPARATOR = ':';

/** The direct children of a prefix. @param prefix binary, with its separator */
export async function folderPage(id: string, prefix: string, type: string, cursor: string, signal: AbortSignal) {
  const text = textOf(prefix);
  const place = text === undefined ? { prefix_base64: btoa(prefix) } : { prefix: text };
  const query = { ...place, type, cursor, separator: SEPARATOR, count: FOLDER_COUNT };
  const answer = await manage('GET /v2/admin/databases/{id}/folders', { path: { id }, query, signal });
  return {
    keys: answer.keys.map(listedKey),
    folders: answer.folders.map(({ name, keys }): ListedFolder => ({ name: binaryName(name), keys })),
    cursor: answer.cursor,
  };
}

function listedKey(given: Operations['GET /v2/admin/databases/{id}/keys']['keys'][number]): ListedKey {
  const { key, type, ttlMs, bytes, length } = given;
  return { name: binaryName(key), type, ttlMs, bytes, length };
}

/** A text, or `{ base64 }` for binary names. */
function binaryName(given: unknown): string {
  return typeof given === 'string' ? binaryOfText(given) : atob((given as { readonly base64: string }).base64);
}

/** Address parameters that name a key. */
export function addressOfKey(name: string): { readonly key?: string; readonly key64?: string } {
  const text = textOf(name);
  return text === undefined || text === '' ? { key64: btoa(name) || '=' } : { key: text };
}

/** The key in the address; undefined without one. */
export function keyOfAddress(query: Readonly<Record<string, string | undefined>>): string | undefined {
  if (query.key !== undefined) return binaryOfText(query.key);
  if (query.key64 === undefined) return undefined;
  try {
    return atob(query.key64 === '=' ? '' : query.key64);
  } catch {
    return undefined;
  }
}
