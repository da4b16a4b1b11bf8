/** The content of a search database: its indexes by name, with their numbers of documents. */
import { type Asked, useAsk } from '../../api/ask.js';
import { ofIndex } from '../../api/call.js';
import { usePageQuery } from '../../api/query.js';

export interface Held {
  readonly documents: number;
  /** Stored, but not found by queries yet. */
  readonly pending: number;
  readonly bytes: number;
  readonly indexes: readonly { readonly name: string; readonly documents: number }[];
}

const EVERY_MS = 15_000;
/** Shown for an empty database; its first document creates the index. */
const FIRST_INDEX = 'default';

/** @param id undefined: no request */
export function useHeld(id: string | undefined): Asked<Held> {
  return useAsk(id === undefined ? undefined : `held ${id}`, (signal) => ask(id as string, signal), EVERY_MS);
}

async function ask(id: string, signal: AbortSignal): Promise<Held> {
  const [{ result: names }, { result: info }] = await Promise.all([
    ofIndex(id, 'GET /search/{id}/list-namespaces', { signal }),
    ofIndex(id, 'GET /search/{id}/info', { signal }),
  ]);
  const indexes = names.map((name) => ({ name, documents: info.namespaces[name]?.vectorCount ?? 0 }));
  return { documents: info.vectorCount, pending: info.pendingVectorCount, bytes: info.indexSize, indexes };
}

/** The index in the address, or the first one. */
export function useIndexName({ indexes = [] }: Partial<Held>): string {
  const [query] = usePageQuery();
  return query.index ?? indexes[0]?.name ?? FIRST_INDEX;
}
