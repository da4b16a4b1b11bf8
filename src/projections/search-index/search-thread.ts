/**
 * The thread of the search indexes, as whoever starts it needs to know it. What is too much for one thread is too much
 * for the next: the pause between them grows.
 *
 *  STH1 every thread is told all indexes when it begins, and again whenever one comes or goes
 */
import type { DatabaseId } from '../../kernel/index.js';
import { inSeconds, type Metrics } from '../../ports/index.js';
import { NOTHING_HELD, type SearchStatus } from './search-indexes.js';

/** What it is told beside questions. */
export type SearchWord =
  /** All that there are. */
  { readonly kind: 'indexes'; readonly indexes: readonly DatabaseId[] } | { readonly kind: 'rebuild' };

export const SEARCH_WORKER = {
  name: 'search indexes',
  events: 'search',
  /** Vectors are beside it: see docs/adr/0030 for what a document takes. Some two million short documents. */
  limits: { maxOldGenerationSizeMb: 2048, maxYoungGenerationSizeMb: 24 },
  /** It counts those of all databases; the indexes bound those of each. */
  maxQuestions: 512,
  maxRestartMs: 60_000,
  /** It begins with the first index. */
  unneeded: NOTHING_HELD,
};

/** @param status undefined while there is no thread */
export function watchSearch(metrics: Metrics, status: () => SearchStatus | undefined) {
  return [
    metrics.gauge('millrace_search_behind_positions', () => status()?.behindPositions),
    metrics.gauge('millrace_search_behind_seconds', () => inSeconds(status()?.behindMs)),
    metrics.gauge('millrace_search_documents', () => (status()?.isCaughtUp ? status()?.documents : undefined)),
  ];
}
