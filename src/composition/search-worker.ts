/**
 * Entry of the thread that keeps the search indexes, with connections to NATS of its own: neither a search over all
 * documents nor the loading of an index ever stands before a command. Started by SearchThread and told to stop by it.
 */
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { connect, JetStreamJournal, JetStreamObjectStore, Names, type NatsOptions } from '../adapters/nats/index.js';
import { answerUntilStopped, lowerPriority, NodeTimers, SystemClock, threadLog } from '../adapters/node/index.js';
import { type DatabaseId, MillraceError } from '../kernel/index.js';
import { SearchIndexes, type SearchIndexesOptions, type SearchStatus } from '../projections/index.js';
import { answerSearch } from '../query/index.js';

/** What the thread is started with: plain data. */
export interface SearchTask {
  readonly nats: NatsOptions;
  /** Of the installation's names on the server. */
  readonly prefix: string;
  readonly options: Omit<SearchIndexesOptions, 'embedding'>;
}

export type SearchWord =
  /** All that there are. */
  { readonly kind: 'indexes'; readonly indexes: readonly DatabaseId[] } | { readonly kind: 'rebuild' };

/** Live commands go first; somebody waits for an answer, so it comes before the read models. */
const NICENESS = 2;

const port = parentPort;
if (port === null) throw new MillraceError('DEFECT', 'the search indexes have to be started as a thread');

const log = threadLog((message) => port.postMessage(message));
lowerPriority(NICENESS, log);
await serve(port, workerData as SearchTask);

async function serve(to: MessagePort, { nats, prefix, options }: SearchTask): Promise<void> {
  const connections = await connect({ ...nats, name: 'search indexes' });
  const names = new Names(prefix);
  const journal = new JetStreamJournal(connections, names);
  const objects = new JetStreamObjectStore(connections, names);
  const ports = { journal, objects, timers: new NodeTimers(), log, clock: new SystemClock() };
  const indexes = new SearchIndexes(ports, options);
  await answerUntilStopped<SearchWord, SearchStatus>(to, {
    answer: (question) => answerSearch(indexes, question),
    hear: (word) => {
      if (word.kind === 'indexes') indexes.setIndexes(word.indexes);
      else indexes.rebuild();
    },
    status: () => indexes.status(),
  });
  await indexes.stop();
  await connections.close();
  to.close();
}
