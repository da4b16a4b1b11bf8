/** Documents of a search index that were stored and that no query finds yet. */
import type { DatabaseId } from '../../kernel/index.js';
import type { KvGateway, SearchQueries } from '../../ports/index.js';
import { DocumentStore } from './document-store.js';

/** @returns a function that throws what the gateway and the projection do */
export function pendingDocuments(gateway: KvGateway, queries: Pick<SearchQueries, 'info'>) {
  return async (index: DatabaseId): Promise<number> => {
    const [counts, indexed] = await Promise.all([new DocumentStore(gateway, index).counts(), queries.info(index)]);
    return counts.reduce((sum, { name, documents }) => {
      // The index may be ahead of what was counted a moment before.
      return sum + Math.max(0, documents - (indexed.namespaces.get(name)?.documents ?? 0));
    }, 0);
  };
}
