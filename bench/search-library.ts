/**
 * The library in a bare thread: the same documents and questions, and JSON in both directions as in our thread. It finds
 * prefixes and misspellings under the same conditions, and returns its ten best hits.
 */
import { parentPort } from 'node:worker_threads';
import MiniSearch from 'minisearch';

interface Stored {
  readonly id: string;
  readonly text: string;
}

export type ToLibrary =
  | { readonly kind: 'add'; readonly documents: readonly Stored[] }
  | { readonly kind: 'ask'; readonly question: string };

const HITS = 10;
const library = new MiniSearch<Stored>({
  fields: ['text'],
  storeFields: ['text'],
  searchOptions: {
    prefix: (term) => term.length >= 2,
    fuzzy: (term) => (term.length >= 8 ? 2 : term.length >= 4 ? 1 : false),
  },
});

parentPort?.on('message', (message: ToLibrary) => {
  if (message.kind === 'add') {
    library.addAll(message.documents);
    parentPort?.postMessage('');
    return;
  }
  const { text } = JSON.parse(message.question) as { text: string };
  const hits = library.search(text).slice(0, HITS);
  parentPort?.postMessage(
    JSON.stringify(hits.map(({ id, score, text: found }) => ({ id, score, content: { text: found } }))),
  );
});
