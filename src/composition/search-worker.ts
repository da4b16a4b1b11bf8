/**
 * Entry of the thread of the search indexes. It has its own NATS connections, so that searches and the loading of an
 * index never delay a command. search-module.ts starts and stops it.
 */
import { answerUntilStopped, enterAnswering, NodeIndexFiles } from '../adapters/node/index.js';
import { SearchIndexes, type SearchStatus, type SearchWord } from '../projections/index.js';
import { answerSearch } from '../query/index.js';
import { openThread } from './thread-container.js';
import type { SearchTask } from './thread-tasks.js';

/**
 * Live commands have priority over it, and it has priority over the read models, because clients wait for its
 * answers.
 */
const NICENESS = 2;

const { port, data, log } = await enterAnswering<SearchTask>('the search indexes', NICENESS);
const { close, ...parts } = await openThread(data, 'search indexes', log);
const { graphs, options } = data;
const files = graphs === undefined ? {} : { graphFiles: new NodeIndexFiles(graphs.directory, graphs.key) };
const indexes = new SearchIndexes({ ...parts, ...files }, options);
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
