/**
 * The calls of an index's plane. Search databases and vector indexes share their pages about usage, limits, tokens and
 * parts; a part is a named index of documents, or a namespace of vectors.
 */
import type { Operations, Schemas } from '#api';
import { manage, ofIndex } from '../../api/call.js';
import { asked } from '../../parts/dialog.js';
import { doing } from '../../parts/toast.js';

export type SearchDatabase = Schemas['SearchIndexAnswer'];
export type FoundRecord = Operations['POST /search/{id}/search/{index}']['result'][number];
export type VectorIndex = Schemas['VectorIndexAnswer'];
export type IndexRecord = SearchDatabase | VectorIndex;
export type IndexUsage = Schemas['SearchStatisticsAnswer'];
export type IndexTotals = Schemas['SearchTotalsAnswer'];

/** The content of an index: its parts by name, with their numbers of documents or vectors. */
export interface IndexContent {
  readonly items: number;
  /** Stored, but not found by queries yet. */
  readonly pending: number;
  readonly bytes: number;
  readonly parts: readonly { readonly name: string; readonly items: number }[];
}

/** A document, or a vector. */
export interface Item {
  readonly id: string;
  readonly metadata?: unknown;
  /** Of a document. */
  readonly content?: unknown;
  /** Of a vector. */
  readonly vector?: readonly number[];
  readonly sparseVector?: unknown;
  readonly data?: string;
}

export interface ItemPage {
  readonly vectors: readonly Item[];
  /** '': the last page. */
  readonly nextCursor: string;
}

export interface ItemRange {
  readonly cursor: string;
  readonly limit: number;
  readonly prefix?: string | undefined;
  readonly includeVectors?: boolean;
}

export interface IndexPlane {
  /** The address of the list, and its title. */
  readonly href: string;
  readonly title: string;
  /** The words for an index, for its parts, and for what it stores. */
  readonly name: string;
  readonly part: string;
  readonly item: string;
  /** The usual part. */
  readonly firstPart: string;
  /** The cursor of the first page. */
  readonly firstCursor: string;
  totals(signal: AbortSignal): Promise<IndexTotals>;
  usage(id: string, period: string, signal: AbortSignal): Promise<IndexUsage>;
  content(id: string, signal: AbortSignal): Promise<IndexContent>;
  rename(id: string, name: string): Promise<unknown>;
  resetTokens(id: string): Promise<unknown>;
  remove(id: string): Promise<unknown>;
  renamePart(id: string, names: { readonly namespace: string; readonly newNamespace: string }): Promise<unknown>;
  emptyPart(id: string, part: string): Promise<unknown>;
  removePart(id: string, part: string): Promise<unknown>;
  /** The columns of a list, before the metadata. */
  readonly columns: readonly (readonly [title: string, of: (item: Item) => unknown])[];
  /** A new one, to be filled. */
  readonly sample: object;
  range(id: string, part: string, range: ItemRange, signal?: AbortSignal): Promise<ItemPage>;
  fetch(id: string, part: string, itemId: string, signal: AbortSignal): Promise<Item | null | undefined>;
  /** @param items one, or a list */
  store(id: string, part: string, items: unknown): Promise<unknown>;
  removeItems(id: string, part: string, ids: readonly string[]): Promise<unknown>;
}

const ALL_PARTS = { includeData: true, includeMetadata: true } as const;

export const SEARCH: IndexPlane = {
  href: '/console/search',
  title: 'Search',
  name: 'search database',
  part: 'index',
  item: 'document',
  firstPart: 'default',
  firstCursor: '',
  totals: (signal) => manage('GET /v2/search/stats', { signal }),
  usage: (id, period, signal) => manage('GET /v2/search/{id}/stats', { path: { id }, query: { period }, signal }),
  async content(id, signal) {
    const [{ result: names }, { result: info }] = await Promise.all([
      ofIndex(id, 'GET /search/{id}/list-namespaces', { signal }),
      ofIndex(id, 'GET /search/{id}/info', { signal }),
    ]);
    return contentOf(names, info);
  },
  rename: (id, name) => manage('POST /v2/search/{id}/rename', { path: { id }, body: { name } }),
  resetTokens: (id) => manage('POST /v2/search/{id}/reset-password', { path: { id } }),
  remove: (id) => manage('DELETE /v2/search/{id}', { path: { id } }),
  renamePart: (id, body) => ofIndex(id, 'POST /search/{id}/rename-namespace', { body }),
  emptyPart: (id, index) => ofIndex(id, 'POST /search/{id}/reset/{index}', { path: { index } }),
  removePart: (id, index) => ofIndex(id, 'POST /search/{id}/delete-namespace/{index}', { path: { index } }),
  columns: [['Content', ({ content }) => content]],
  sample: { id: '', content: { title: '' }, metadata: {} },
  range: async (id, index, range, signal) => {
    const body = { ...range, ...ALL_PARTS };
    return (await ofIndex(id, 'POST /search/{id}/range/{index}', { path: { index }, body, signal })).result;
  },
  async fetch(id, index, itemId, signal) {
    // With the vector, because saving replaces the whole document.
    const body = { ids: [itemId], includeVectors: true, ...ALL_PARTS };
    const { result } = await ofIndex(id, 'POST /search/{id}/fetch/{index}', { path: { index }, body, signal });
    return result[0];
  },
  store: (id, index, body) => ofIndex(id, 'POST /search/{id}/upsert-data/{index}', { path: { index }, body }),
  removeItems: (id, index, ids) => ofIndex(id, 'POST /search/{id}/delete/{index}', { path: { index }, body: { ids } }),
};

export const VECTORS: IndexPlane = {
  href: '/console/vectors',
  title: 'Vectors',
  name: 'vector index',
  part: 'namespace',
  item: 'vector',
  firstPart: '',
  firstCursor: '0',
  totals: (signal) => manage('GET /v2/vector/index/stats', { signal }),
  usage: (id, period, signal) => manage('GET /v2/vector/index/{id}/stats', { path: { id }, query: { period }, signal }),
  async content(id, signal) {
    const [{ result: names }, { result: info }] = await Promise.all([
      ofIndex(id, 'GET /vector/{id}/list-namespaces', { signal }),
      ofIndex(id, 'GET /vector/{id}/info', { signal }),
    ]);
    return contentOf(names, info);
  },
  rename: (id, name) => manage('POST /v2/vector/index/{id}/rename', { path: { id }, body: { name } }),
  resetTokens: (id) => manage('POST /v2/vector/index/{id}/reset-password', { path: { id } }),
  remove: (id) => manage('DELETE /v2/vector/index/{id}', { path: { id } }),
  renamePart: (id, body) => ofIndex(id, 'POST /vector/{id}/rename-namespace', { body }),
  emptyPart: (id, namespace) => ofIndex(id, 'POST /vector/{id}/reset/{namespace}', { path: { namespace } }),
  removePart: (id, namespace) => ofIndex(id, 'POST /vector/{id}/delete-namespace/{namespace}', { path: { namespace } }),
  columns: [
    ['Vector', ({ vector, sparseVector }) => vector ?? sparseVector],
    ['Data', ({ data }) => data],
  ],
  sample: { id: '', vector: [], metadata: {} },
  range: async (id, namespace, range, signal) => {
    const body = { includeVectors: true, ...range, ...ALL_PARTS };
    return (await ofIndex(id, 'POST /vector/{id}/range/{namespace}', { path: { namespace }, body, signal })).result;
  },
  async fetch(id, namespace, itemId, signal) {
    const body = { ids: [itemId], includeVectors: true, ...ALL_PARTS };
    const { result } = await ofIndex(id, 'POST /vector/{id}/fetch/{namespace}', { path: { namespace }, body, signal });
    return result[0];
  },
  store: (id, namespace, body) =>
    areTexts(body)
      ? ofIndex(id, 'POST /vector/{id}/upsert-data/{namespace}', { path: { namespace }, body })
      : ofIndex(id, 'POST /vector/{id}/upsert/{namespace}', { path: { namespace }, body }),
  removeItems: (id, namespace, ids) =>
    ofIndex(id, 'POST /vector/{id}/delete/{namespace}', { path: { namespace }, body: { ids } }),
};

/** Texts without a vector are embedded by the server. */
function areTexts(items: unknown): boolean {
  const list = (Array.isArray(items) ? items : [items]) as readonly (Partial<Item> | null)[];
  return list.every((item) => item?.vector === undefined && item?.sparseVector === undefined);
}

interface Info {
  readonly vectorCount: number;
  readonly pendingVectorCount: number;
  readonly indexSize: number;
  readonly namespaces: Readonly<Record<string, { readonly vectorCount: number } | undefined>>;
}

function contentOf(names: readonly string[], info: Info): IndexContent {
  const parts = names.map((name) => ({ name, items: info.namespaces[name]?.vectorCount ?? 0 }));
  return { items: info.vectorCount, pending: info.pendingVectorCount, bytes: info.indexSize, parts };
}

/** The default namespace has no name. */
export function shownPart(name: string): string {
  return name === '' ? '(default)' : name;
}

/** The API uses -1 for no limit. */
export function bound(value: number, shown: (value: number) => string): string {
  return value < 0 || value >= 1e12 ? 'no limit' : shown(value);
}

export async function resetTokens(plane: IndexPlane, { id, name }: IndexRecord): Promise<boolean> {
  const isSure = await asked({
    title: 'Give it new tokens?',
    text: 'The present ones are refused from then on: give the new ones to all clients.',
    action: 'Give new tokens',
    isDangerous: true,
    typed: name,
  });
  return isSure && doing(() => plane.resetTokens(id), 'It has new tokens');
}

export async function deleteIndex(plane: IndexPlane, { id, name }: IndexRecord): Promise<boolean> {
  const isSure = await asked({
    title: `Delete this ${plane.name}?`,
    text: `All its ${plane.item}s are deleted, and its tokens are refused. This cannot be undone.`,
    action: 'Delete it',
    isDangerous: true,
    typed: name,
  });
  return isSure && doing(() => plane.remove(id), `${name} is deleted`);
}
