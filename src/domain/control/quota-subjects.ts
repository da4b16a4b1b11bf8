/**
 * Subjects of daily limits and use: the id of a database or search index, or that id with a slash and the counted
 * kind. Subjects are leased and metered like databases, so they have the type `DatabaseId`.
 */
import type { DatabaseId } from '../../kernel/index.js';

export type SearchSubject = 'updates' | 'queries' | 'reranks';

/** Documents upserted into a search index. */
export function searchUpdates(index: DatabaseId): DatabaseId {
  return `${index}/updates` as DatabaseId;
}

export function searchQueries(index: DatabaseId): DatabaseId {
  return `${index}/queries` as DatabaseId;
}

/** Units of 100 reranked documents: counted, but never leased. */
export function searchReranks(index: DatabaseId): DatabaseId {
  return `${index}/reranks` as DatabaseId;
}

export function searchSubjectsOf(index: DatabaseId): readonly DatabaseId[] {
  return [searchUpdates(index), searchQueries(index), searchReranks(index)];
}

/** Undefined for the plain id of a database or search index. */
export function readSubject(
  subject: DatabaseId,
): { readonly index: DatabaseId; readonly of: SearchSubject } | undefined {
  const slash = subject.indexOf('/');
  if (slash < 0) return undefined;
  return { index: subject.slice(0, slash) as DatabaseId, of: subject.slice(slash + 1) as SearchSubject };
}
