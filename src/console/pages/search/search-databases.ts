/** The API's types for search databases and documents. */
import type { Operations, Schemas } from '#api';
import { manage } from '../../api/call.js';
import { asked } from '../../parts/dialog.js';
import { doing } from '../../parts/toast.js';

export type SearchDatabase = Schemas['SearchIndexAnswer'];
export type SearchStatistics = Schemas['SearchStatisticsAnswer'];
export type FoundRecord = Operations['POST /search/{id}/search/{index}']['result'][number];
export type SearchDocument = Operations['POST /search/{id}/range/{index}']['result']['vectors'][number];

export function searchHref(id: string): string {
  return `/console/search/${id}`;
}

/** The API uses -1 for no limit. */
export function bound(value: number, shown: (value: number) => string): string {
  return value < 0 || value >= 1e12 ? 'no limit' : shown(value);
}

export async function resetTokens({ id, name }: SearchDatabase): Promise<boolean> {
  const isSure = await asked({
    title: 'Give it new tokens?',
    text: 'The present ones are refused from then on: give the new ones to all clients.',
    action: 'Give new tokens',
    isDangerous: true,
    typed: name,
  });
  if (!isSure) return false;
  return doing(() => manage('POST /v2/search/{id}/reset-password', { path: { id } }), 'It has new tokens');
}

export async function deleteDatabase({ id, name }: SearchDatabase): Promise<boolean> {
  const isSure = await asked({
    title: 'Delete this search database?',
    text: 'All its indexes and documents are deleted, and its tokens are refused. This cannot be undone.',
    action: 'Delete it',
    isDangerous: true,
    typed: name,
  });
  if (!isSure) return false;
  return doing(() => manage('DELETE /v2/search/{id}', { path: { id } }), `${name} is deleted`);
}
