/**
 * A hundred thousand documents in a search index: our thread, measured from the question to the parsed hits, compared with
 * the library in a bare thread, in turn. One question runs at a time, so the processor time of the process is the cost of
 * the question. Use that figure on a busy machine.
 */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { connect, initCluster, JetStreamJournal, Names } from '../src/adapters/nats/index.js';
import { NodeTimers } from '../src/adapters/node/index.js';
import { encodeDocument } from '../src/domain/search/index.js';
import type { DatabaseId } from '../src/kernel/index.js';
import type { SearchQuery } from '../src/ports/index.js';
import { kvPartition } from '../src/protocol/index.js';
import { SearchClient } from '../src/query/index.js';
import { SHARD, ShardHistory } from '../test/spec/journal/shard-history.js';
import { startNatsServer } from '../test/support/nats-server.js';
import { documentsKey } from '../test/support/search-keys.js';
import { type SearchThread, searchThread, sendIndexes } from '../test/support/search-thread.js';
import { silentLog } from '../test/support/silent-log.js';
import { until } from './child.js';
import { atMost, type Bench, type Figure, percentile } from './figures.js';
import { searchCommandFigures } from './search-commands.js';
import type { ToLibrary } from './search-library.js';
import { SearchTexts } from './search-texts.js';
import { sized } from './sizes.js';

const DOCUMENTS = sized(100_000, 5000);
const WORDS = 20;
const DOCUMENTS_PER_ENTRY = 500;
const ROUNDS = 3;
const QUERIES_PER_ROUND = 150;
const LOAD_TIMEOUT_MS = 120_000;
const SEED = 12_345;
const PREFIX = 'bench';
const INDEX = 'db-aaaaaaaaaaaaaaaa' as DatabaseId;
const NAME = 'all';
const KINDS = 100;
const MS = 'ms';

const QUERY: Omit<SearchQuery, 'text'> = {
  topK: 10,
  filter: '',
  semanticWeight: 0.75,
  reranking: false,
  includeData: true,
  includeMetadata: true,
};
/** Other options of a query, next to the default. */
const VARIANTS: Readonly<Record<string, Partial<SearchQuery>>> = {
  'keywords alone': { semanticWeight: 0 },
  'likeness alone': { semanticWeight: 1 },
  'with a filter that one half fits': { filter: `kind < ${KINDS / 2}` },
  'with a filter that one in a hundred fits': { filter: 'kind = 7' },
  'with reranking': { reranking: true },
};

type Answer = (text: string) => Promise<unknown>;

export const search: Bench = {
  name: 'search',
  summary: `${DOCUMENTS} documents in a search index, asked beside minisearch alone`,
  async run(progress) {
    const texts = new SearchTexts(SEED);
    const documents = Array.from({ length: DOCUMENTS }, (_, at) => ({ id: `doc-${at}`, text: texts.text(WORDS) }));
    const ours = await Ours.start();
    const library = new Worker(new URL('./search-library.js', import.meta.url));
    try {
      const loadedMs = await ours.load(documents);
      progress(`ours has them after ${(loadedMs / 1000).toFixed(1)} s`);
      library.postMessage({ kind: 'add', documents } satisfies ToLibrary);
      await once(library, 'message');
      progress('the library has them');
      const askLibrary: Answer = async (text) => {
        library.postMessage({ kind: 'ask', question: JSON.stringify({ text }) } satisfies ToLibrary);
        return JSON.parse(String((await once(library, 'message'))[0]));
      };
      const times = { ours: [] as Cost[], library: [] as Cost[] };
      for (let round = 0; round <= ROUNDS; round += 1) {
        const queries = Array.from({ length: QUERIES_PER_ROUND }, () => texts.query());
        const ofOurs = await costsOf(queries, (text) => ours.ask({ ...QUERY, text }));
        const ofLibrary = await costsOf(queries, askLibrary);
        // The first round warms up.
        if (round === 0) continue;
        times.ours.push(...ofOurs);
        times.library.push(...ofLibrary);
      }
      const figures = [...figuresOf(times.ours, times.library)];
      for (const [name, changes] of Object.entries(VARIANTS)) {
        const queries = Array.from({ length: QUERIES_PER_ROUND }, () => texts.query());
        const found = await costsOf(queries, (text) => ours.ask({ ...QUERY, ...changes, text }));
        figures.push(processorTime(`  processor, p99, ${name}`, found));
      }
      figures.push(...searchCommandFigures(documents, texts));
      figures.push({ name: '  documents indexed', value: (DOCUMENTS * 1000) / loadedMs, unit: 'docs/s' });
      return { figures, skipped: [] };
    } finally {
      await Promise.all([ours.stop(), library.terminate()]);
    }
  },
};

function figuresOf(ours: readonly Cost[], library: readonly Cost[]): Figure[] {
  const [our, their] = [ours.map(({ ms }) => ms), library.map(({ ms }) => ms)];
  const beside = (p: number) => `beside ${percentile(their, p).toFixed(2)} ms`;
  const ratio = (p: number) => percentile(our, p) / percentile(their, p);
  return [
    { name: 'p50 / the library’s', value: ratio(50), unit: 'ratio', target: atMost(2) },
    { name: 'p99 / the library’s', value: ratio(99), unit: 'ratio', target: atMost(2) },
    { name: 'p99 of an answer', value: percentile(our, 99), unit: MS, target: atMost(20), note: beside(99) },
    { name: '  p50', value: percentile(our, 50), unit: MS, note: beside(50) },
    { ...processorTime('processor, p99', ours), target: atMost(20) },
    processorTime('  the library, p99', library),
  ];
}

function processorTime(name: string, costs: readonly Cost[]): Figure {
  const times = costs.map(({ processorMs }) => processorMs);
  const note = `p50 ${percentile(times, 50).toFixed(2)} ms`;
  return { name, value: percentile(times, 99), unit: MS, note };
}

interface Cost {
  readonly ms: number;
  /** Processor time of all threads of this process. */
  readonly processorMs: number;
}

async function costsOf(queries: readonly string[], answer: Answer): Promise<Cost[]> {
  const costs: Cost[] = [];
  for (const text of queries) {
    const startedAtMs = performance.now();
    const before = process.cpuUsage();
    await answer(text);
    const { user, system } = process.cpuUsage(before);
    costs.push({ ms: performance.now() - startedAtMs, processorMs: (user + system) / 1000 });
  }
  return costs;
}

/** The search thread as a process runs it, on its own journal. */
class Ours {
  private constructor(
    private readonly thread: SearchThread,
    private readonly history: ShardHistory,
    readonly stop: () => Promise<void>,
  ) {}

  static async start(): Promise<Ours> {
    const server = await startNatsServer();
    const connections = await connect({ servers: [server.url] });
    await initCluster(connections, { prefix: PREFIX, kvShards: 1, queueShards: 1, replicas: 1, allowUnsynced: true });
    const history = new ShardHistory(new JetStreamJournal(connections, new Names(PREFIX)), { shard: SHARD });
    await history.claim();
    const options = {
      entry: new URL('../src/composition/search-worker.js', import.meta.url),
      task: { nats: { servers: [server.url] }, prefix: PREFIX, options: { kvShards: 1 } },
      log: silentLog,
      timers: new NodeTimers(),
    };
    const thread = searchThread(options, () => [INDEX]);
    return new Ours(thread, history, async () => {
      await thread.stop();
      await connections.close();
      await server.stop();
    });
  }

  /** @returns milliseconds from the start of the thread until everything that was stored can be found */
  async load(documents: readonly { readonly id: string; readonly text: string }[]): Promise<number> {
    for (let from = 0; from < documents.length; from += DOCUMENTS_PER_ENTRY) {
      const words = documents.slice(from, from + DOCUMENTS_PER_ENTRY).flatMap(({ id, text }, at) => {
        const kind = (from + at) % KINDS;
        return [id, encodeDocument({ content: { text, kind } })];
      });
      await this.history.batch({ [kvPartition(INDEX, 0)]: [['HSET', documentsKey(NAME), ...words]] });
    }
    const startedAtMs = performance.now();
    this.thread.start();
    sendIndexes(this.thread, [INDEX]);
    const isLoaded = async () => this.thread.status?.documents === documents.length;
    await until(isLoaded, LOAD_TIMEOUT_MS, 'the indexing');
    return performance.now() - startedAtMs;
  }

  ask(query: SearchQuery): Promise<unknown> {
    return new SearchClient((question) => this.thread.ask(question)).search(INDEX, NAME, query);
  }
}
