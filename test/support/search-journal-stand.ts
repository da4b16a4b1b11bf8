/** The journal of a shard with search databases. Commands run in real engines, and indexes follow the journal. */
import { replayFold } from '../../src/actors/kv-shard/index.js';
import { admit, ErrorReply, KvEngine } from '../../src/domain/kv/index.js';
import { encodeDocument, type StoredDocument } from '../../src/domain/search/index.js';
import { compactShard } from '../../src/journal/index.js';
import type { DatabaseId, PartitionName } from '../../src/kernel/index.js';
import type { Journal, ObjectStore } from '../../src/ports/index.js';
import { SearchIndexes, type SearchIndexesOptions } from '../../src/projections/index.js';
import { kvPartition } from '../../src/protocol/index.js';
import { KEEP_NOTHING } from '../spec/journal/journal-stand.js';
import { CLUSTER, SHARD, ShardHistory } from '../spec/journal/shard-history.js';
import { eventually } from './eventually.js';
import { MemoryJournal, MemoryObjectStore } from './memory/index.js';
import { realTime } from './real-time.js';
import { documentsKey, orderKey } from './search-keys.js';
import { PLAIN_QUERY } from './search-stand.js';
import { silentLog } from './silent-log.js';

export const SHOP = 'db-aaaaaaaaaaaaaaaa' as DatabaseId;
export const LIBRARY = 'db-bbbbbbbbbbbbbbbb' as DatabaseId;
const RANDOM = { bytes: (count: number) => new Uint8Array(count), float: () => 0.5 };
const NO_AUDIENCE = { publish: () => 0, channels: () => new Set<string>(), subscribersOf: () => 0, patternCount: 0 };
const LIMITS = { stepBytes: 100_000, segmentBytes: 20_000, retention: KEEP_NOTHING };

export class SearchJournalStand {
  readonly journal = new MemoryJournal({ clock: realTime, timers: realTime, aliveEveryMs: 20 });
  readonly objects = new MemoryObjectStore();
  readonly history = new ShardHistory(this.journal);
  readonly #engines = new Map<PartitionName, KvEngine>();
  readonly #opened: SearchIndexes[] = [];

  constructor() {
    this.journal.createStream(SHARD);
  }

  /** Writes commands on one database's partition as one entry. */
  async write(database: DatabaseId, ...commands: readonly (readonly string[])[]): Promise<void> {
    if (this.history.epoch === 0) await this.history.claim();
    const partition = kvPartition(database, 0);
    const engine = this.#engine(partition);
    for (const words of commands) {
      const spec = admit(words);
      if (spec instanceof ErrorReply) throw new Error(`refused: ${words.join(' ')}`);
      engine.execute(spec, words, realTime.nowMs());
    }
    const effects = new Uint8Array(engine.effects.take());
    const section = this.history.section(partition, effects);
    await this.history.append({ kind: 'batch', commandIds: [], sections: [section] });
  }

  /** Stores documents as an edge does. */
  async store(database: DatabaseId, name: string, documents: Readonly<Record<string, StoredDocument>>): Promise<void> {
    const entries = Object.entries(documents);
    await this.write(
      database,
      ['HSET', 'i', name, '1'],
      ['HSET', documentsKey(name), ...entries.flatMap(([id, document]) => [id, encodeDocument(document)])],
      ['ZADD', orderKey(name), ...entries.flatMap(([id]) => ['0', id])],
    );
  }

  async storeTexts(database: DatabaseId, name: string, texts: Readonly<Record<string, string>>): Promise<void> {
    const documents = Object.entries(texts).map(([id, text]) => [id, { content: { text } }] as const);
    await this.store(database, name, Object.fromEntries(documents));
  }

  /** Makes a snapshot of the whole state and removes the journal before it. */
  async compactAndPurge(): Promise<void> {
    const { journal, objects, history } = this;
    const job = { shard: SHARD, clusterId: CLUSTER, upToPosition: history.head.position };
    const { coveredPosition } = await compactShard(
      { journal, objects, clock: realTime, log: silentLog },
      job,
      replayFold,
      LIMITS,
    );
    await journal.truncateFront(SHARD, coveredPosition);
  }

  open(
    options: Partial<SearchIndexesOptions> = {},
    ports: { readonly journal?: Pick<Journal, 'follow' | 'tail' | 'readAt'>; readonly objects?: ObjectStore } = {},
  ): SearchIndexes {
    const { journal, objects } = this;
    const indexes = new SearchIndexes(
      { journal, objects, timers: realTime, clock: realTime, log: silentLog, ...ports },
      { kvShards: 1, fold: { lingerMs: 1 }, retryMs: 10, ...options },
    );
    this.#opened.push(indexes);
    return indexes;
  }

  async ids(indexes: SearchIndexes, database: DatabaseId, name: string, text: string): Promise<string[]> {
    const hits = await indexes.search(database, name, { ...PLAIN_QUERY, text, semanticWeight: 0 });
    return hits.map(({ id }) => id);
  }

  /** The number of documents of each index. */
  async counts(indexes: SearchIndexes, database: DatabaseId): Promise<Record<string, number>> {
    const { namespaces } = await indexes.info(database);
    return Object.fromEntries([...namespaces].map(([name, { documents }]) => [name, documents]));
  }

  async untilCounted(indexes: SearchIndexes, database: DatabaseId, expected: Record<string, number>): Promise<void> {
    await eventually(async () => {
      const counts = await this.counts(indexes, database);
      if (JSON.stringify(counts) !== JSON.stringify(expected)) throw new Error(`there is ${JSON.stringify(counts)}`);
    });
  }

  async end(): Promise<void> {
    for (const indexes of this.#opened.splice(0)) await indexes.stop();
  }

  #engine(partition: PartitionName): KvEngine {
    let engine = this.#engines.get(partition);
    if (engine === undefined) {
      engine = new KvEngine(RANDOM, { nowMicros: () => realTime.nowMs() * 1000, info: () => new Map() }, NO_AUDIENCE);
      this.#engines.set(partition, engine);
    }
    return engine;
  }
}
