/** Documents of a search index that are stored, and that no query finds yet. */
import type { DatabaseId } from '../../kernel/index.js';
import type { KvGateway, SearchIndexInfo, SearchQueries } from '../../ports/index.js';
import { DocumentStore, type NameCount } from './document-store.js';

/** @returns a function that throws what the gateway and the projection do */
export function pendingDocuments(gateway: KvGateway, queries: Pick<SearchQueries, 'info'>) {
  return async (index: DatabaseId): Promise<number> => {
    const [counts, indexed] = await Promise.all([new DocumentStore(gateway, index).counts(), queries.info(index)]);
    return counts.reduce((sum, count) => sum + pendingOf(count, indexed), 0);
  };
}

/** They are those of one name. The projection may be ahead of what was counted before, so it is never less than none. */
export function pendingOf({ name, documents }: NameCount, { namespaces }: SearchIndexInfo): number {
  return Math.max(0, documents - (namespaces.get(name)?.documents ?? 0));
}
