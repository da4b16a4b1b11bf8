/**
 * Entry of the thread that keeps the search indexes, with connections to NATS of its own: neither a search over all
 * documents nor the loading of an index ever stands before a command. Started and told to stop by search-module.ts.
 */
import { answerUntilStopped, enterAnswering } from '../adapters/node/index.js';
import { SearchIndexes, type SearchIndexesOptions, type SearchStatus, type SearchWord } from '../projections/index.js';
import { answerSearch } from '../query/index.js';
import { openThread, type ThreadTask } from './thread-container.js';

/** What the thread is started with: plain data. */
export interface SearchTask extends ThreadTask {
  readonly options: Omit<SearchIndexesOptions, 'embedding'>;
}

/** Live commands go first; somebody waits for an answer, so it comes before the read models. */
const NICENESS = 2;

const { port, data, log } = await enterAnswering<SearchTask>('the search indexes', NICENESS);
const { close, ...parts } = await openThread(data, 'search indexes', log);
const indexes = new SearchIndexes(parts, data.options);
await answerUntilStopped<SearchWord, SearchStatus>(port, {
  answer: (question) => answerSearch(indexes, question),
  hear: (word) => {
    if (word.kind === 'indexes') indexes.setIndexes(word.indexes);
    else indexes.rebuild();
  },
  status: () => indexes.status(),
});
await indexes.stop();
await close();
port.close();
