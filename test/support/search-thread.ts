/** The thread of the search indexes, with the indexes of the test. */
import { AnsweringThread, type AnsweringThreadOptions } from '../../src/adapters/node/index.js';
import type { SearchTask } from '../../src/composition/thread-tasks.js';
import type { DatabaseId } from '../../src/kernel/index.js';
import { SEARCH_WORKER, type SearchStatus, type SearchWord } from '../../src/projections/index.js';

export type SearchThread = AnsweringThread<SearchTask, SearchWord, SearchStatus>;

/** The thread, not started. */
export function searchThread(
  options: Omit<AnsweringThreadOptions<SearchTask>, 'onBegun'>,
  indexes: () => readonly DatabaseId[],
): SearchThread {
  const onBegun = () => sendIndexes(thread, indexes());
  const thread: SearchThread = new AnsweringThread({ ...options, onBegun }, SEARCH_WORKER);
  return thread;
}

export function sendIndexes(thread: SearchThread, indexes: readonly DatabaseId[]): void {
  thread.tell({ kind: 'indexes', indexes: indexes.map((id) => ({ id })) });
}
