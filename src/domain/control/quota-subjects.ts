/**
 * What daily limits and use are counted by: a database's id, a search index's id, or that id with what is counted of it
 * behind a slash. They are leased and metered like databases, so they are written where a `DatabaseId` is.
 */
import type { DatabaseId } from '../../kernel/index.js';

export type SearchSubject = 'updates' | 'queries' | 'reranks';

/** Documents that are upserted into a search index. */
export function searchUpdates(index: DatabaseId): DatabaseId {
  return `${index}/updates` as DatabaseId;
}

export function searchQueries(index: DatabaseId): DatabaseId {
  return `${index}/queries` as DatabaseId;
}

/** Units of 100 reranked documents: counted, never leased. */
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
