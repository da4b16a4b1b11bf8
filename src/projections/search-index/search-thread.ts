/**
 * Options of the search indexes' thread. The pause before a restart grows, because work that was too much for one
 * thread is too much for the next.
 *
 *  STH1 every thread receives the list of all indexes when it starts, and after each change
 */
import { type IndexedDatabase, inSeconds, type Metrics } from '../../ports/index.js';
import { NOTHING_HELD, type SearchStatus } from './search-indexes.js';

/** Messages to the thread that are not questions. */
export type SearchWord =
  /** The complete list. */
  { readonly kind: 'indexes'; readonly indexes: readonly IndexedDatabase[] } | { readonly kind: 'rebuild' };

export const SEARCH_WORKER = {
  name: 'search indexes',
  events: 'search',
  /**
   * Heap limits, without the vectors, for about two million short documents (docs/decisions/search.md has the memory per
   * document).
   */
  limits: { maxOldGenerationSizeMb: 2048, maxYoungGenerationSizeMb: 24 },
  /** For all databases together; each database has a lower limit. */
  maxQuestions: 512,
  maxRestartMs: 60_000,
  /** The thread starts with the first index. */
  unneeded: NOTHING_HELD,
};

/** @param status undefined while no thread runs */
export function watchSearch(metrics: Metrics, status: () => SearchStatus | undefined) {
  return [
    metrics.gauge('millrace_search_behind_positions', () => status()?.behindPositions),
    metrics.gauge('millrace_search_behind_seconds', () => inSeconds(status()?.behindMs)),
    metrics.gauge('millrace_search_documents', () => (status()?.isCaughtUp ? status()?.documents : undefined)),
  ];
}
