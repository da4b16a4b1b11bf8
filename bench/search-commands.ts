/**
 * The same documents as strings of a database with a full-text index: the processor time of SET, of indexing, and of
 * SEARCH.QUERY, in the engine of a partition alone.
 */
import { type CommandSpec, findCommand, KvEngine, type Reply } from '../src/domain/kv/index.js';
import { seededRandom } from '../test/support/kv-bench.js';
import { atMost, type Figure, median, percentile } from './figures.js';
import { SqliteTexts } from './search-sqlite.js';
import type { SearchTexts } from './search-texts.js';
import { sized } from './sizes.js';

const QUERIES = sized(300, 50);
const INDEX = ['SEARCH.CREATE', 'i', 'ON', 'STRING', 'PREFIX', '1', 'd:', 'SCHEMA', 'text', 'TEXT', 'n', 'U64', 'FAST'];
const PERCENT = 99;

interface Stored {
  readonly id: string;
  readonly text: string;
}

export function searchCommandFigures(documents: readonly Stored[], texts: SearchTexts): Figure[] {
  const engine = new KvEngine(seededRandom(1), { nowMicros: () => performance.now() * 1000, info: () => new Map() });
  const run = (...words: string[]) => engine.execute(findCommand(words) as CommandSpec, words, 1) as Reply;
  const writtenMs = processorMs(() => {
    for (const [n, { id, text }] of documents.entries()) {
      run('SET', `d:${id}`, JSON.stringify({ text, n }));
      engine.effects.take();
    }
  });
  run(...INDEX);
  const indexedMs = processorMs(() => engine.searches.workUntil(() => false));
  const twoWords = Array.from({ length: QUERIES }, () => texts.text(2));
  const sqlite = new SqliteTexts(documents);
  // Both run in turn, so that other load of the machine affects both.
  const [ours, theirs]: [number[], number[]] = [[], []];
  for (const words of twoWords) {
    const filter = JSON.stringify({ $and: words.split(' ').map((word) => ({ text: { $eq: word } })) });
    ours.push(processorMs(() => run('SEARCH.QUERY', 'i', filter)));
    theirs.push(processorMs(() => sqlite.both(words)));
  }
  sqlite.close();
  const timesOf = (filter: (text: string) => unknown) =>
    Array.from({ length: QUERIES }, () => {
      const words = ['SEARCH.QUERY', 'i', JSON.stringify(filter(texts.query()))];
      return processorMs(() => run(...words));
    });
  const row = (name: string, times: readonly number[]): Figure => ({
    name: `  SEARCH.QUERY, processor, p${PERCENT}, ${name}`,
    value: percentile(times, PERCENT),
    unit: 'ms',
    note: `p50 ${median(times).toFixed(2)} ms`,
  });
  const perSecond = (ms: number) => (documents.length * 1000) / ms;
  return [
    {
      name: '  SEARCH, indexed in a second of processor time',
      value: perSecond(indexedMs),
      unit: 'docs/s',
      note: `SET alone ${Math.round(perSecond(writtenMs))}`,
    },
    {
      name: '  SEARCH, read from its file and compared, in a second of processor time',
      value: perSecond(readMs(engine, documents)),
      unit: 'docs/s',
    },
    {
      name: '  SEARCH.QUERY / SQLite FTS5, two words, p99',
      value: percentile(ours, PERCENT) / percentile(theirs, PERCENT),
      unit: 'ratio',
      target: atMost(1.5),
      note: `${percentile(ours, PERCENT).toFixed(2)} ms beside ${percentile(theirs, PERCENT).toFixed(2)} ms`,
    },
    {
      name: '  SEARCH, memory charged for a document',
      value: engine.keyspace.derivedBytes / documents.length,
      unit: 'bytes',
    },
    row(
      'any word',
      timesOf((text) => ({ $or: text.split(' ').map((word) => ({ text: { $eq: word } })) })),
    ),
    row(
      'a smart match',
      timesOf((text) => ({ text })),
    ),
    row(
      'two changes',
      timesOf((text) => ({ text: { $fuzzy: { value: text.split(' ')[0], distance: 2 } } })),
    ),
    row(
      'a range',
      timesOf((text) => ({ n: { $gte: text.length, $lt: text.length + documents.length / 100 } })),
    ),
  ];
}

/** The time to read the stored contents of the index, with the same keys in another engine. */
function readMs(engine: KvEngine, documents: readonly Stored[]): number {
  const pieces = [...engine.searches.all()].flatMap((live) =>
    [...live.pieces()].filter((piece) => piece !== undefined),
  );
  const other = new KvEngine(seededRandom(1), { nowMicros: () => 0, info: () => new Map() });
  other.searches.hasFiles = true;
  const run = (...words: string[]) => other.execute(findCommand(words) as CommandSpec, words, 1);
  for (const [n, { id, text }] of documents.entries()) run('SET', `d:${id}`, JSON.stringify({ text, n }));
  run(...INDEX);
  for (const live of other.searches.all()) live.begin(Buffer.concat(pieces));
  return processorMs(() => other.searches.workUntil(() => false));
}

function processorMs(work: () => unknown): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}
