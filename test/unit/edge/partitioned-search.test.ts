/** Proves ACI1, CRS1, MET1 and AST1: an index in several partitions answers as one of all documents does. */
import { expect } from 'chai';
import {
  admit,
  type CommandSpec,
  findCommand,
  hashSlot,
  KvEngine,
  partitionOfSlot,
  type Reply,
} from '../../../src/domain/kv/index.js';
import { PartitionRouter } from '../../../src/edge/commands/partition-routing.js';
import { type DatabaseId, MillraceError, type PartitionName } from '../../../src/kernel/index.js';
import type { KvGrant } from '../../../src/ports/index.js';
import type { KvRequest, KvResponse } from '../../../src/protocol/index.js';
import { readable, seededRandom } from '../../support/kv-bench.js';
import { NOW } from '../../support/kv-case.js';
import { ManualTime } from '../../support/memory/index.js';

const DATABASE = 'db-aaaaaaaaaaaaaaaa' as DatabaseId;
const FACTS = { nowMicros: () => NOW * 1000, info: () => new Map() };
const CREATE =
  'SEARCH.CREATE i ON HASH PREFIX 1 d: SCHEMA t TEXT n I64 FAST x F64 FAST kind KEYWORD FAST tree FACET at DATE FAST';

/** A database with so many partitions, each an engine. */
class Partitions {
  readonly engines: KvEngine[];
  readonly asked: KvRequest[] = [];
  /** A partition that does not answer. */
  failing: number | undefined;
  readonly #grant: KvGrant;
  readonly #time = new ManualTime(0);
  readonly #router = new PartitionRouter(
    { execute: (request) => this.#execute(request) },
    { clock: this.#time, timers: this.#time, access: {} },
  );

  constructor(count: number) {
    this.engines = Array.from({ length: count }, (_, at) => new KvEngine(seededRandom(at), FACTS));
    this.#grant = {
      database: DATABASE,
      partitions: this.engines.map((_, at) => `kv:${DATABASE}:${at}` as PartitionName),
      role: 'standard',
      user: 'default',
      limits: { maxCommandBytes: 1000, maxRequestsPerDay: 0 },
    };
  }

  async all(...commands: (readonly string[])[]): Promise<unknown[]> {
    const specs = commands.map((words) => admit(words) as CommandSpec);
    const { replies } = await this.#router.run(this.#grant, 'pipeline', { specs, commands, bytes: 100 });
    return replies.map((reply) => readable(reply));
  }

  async ask(...words: string[]): Promise<unknown> {
    return (await this.all(words))[0];
  }

  async #execute({ partition, commands }: KvRequest): Promise<KvResponse> {
    const index = Number(partition.split(':').at(-1));
    if (index === this.failing) throw new MillraceError('SHARD_UNAVAILABLE', 'no owner');
    const { length } = this.engines;
    const engine = this.engines[index] as KvEngine;
    const caller = length === 1 ? {} : { slots: { index, partitions: length } };
    const replies = commands.map((words) => {
      const reply = engine.execute(findCommand(words) as CommandSpec, words, NOW, caller) as Reply;
      engine.searches.workUntil(() => false);
      return reply;
    });
    return { replies, syncToken: '1-0' };
  }
}

/** A few documents of few words, so that many scores differ and some are equal. */
function documents(seed: number): string[][] {
  const dice = seededRandom(seed);
  const below = (most: number) => Math.floor(dice.float() * most);
  const words = ['red', 'dark', 'blue', 'running', 'shoe', 'laptop'];
  return Array.from({ length: 60 }, (_, id) => {
    const text = Array.from({ length: 1 + below(7) }, () => words[below(words.length)]).join(' ');
    const fields = [
      't',
      text,
      'n',
      String(below(9) - 4),
      'kind',
      `k${below(12)}`,
      'tree',
      `/a/${below(3)}/${below(4)}`,
    ];
    const more = below(4) === 0 ? [] : ['x', String(below(100) / 8), 'at', `2026-01-0${1 + below(9)}`];
    return ['HSET', `d:${id}`, ...fields, ...more];
  });
}

const FILTERS = [
  '{}',
  '{"t":"red"}',
  '{"t":"runing sho"}',
  '{"t":{"$eq":"dark red"}}',
  '{"t":{"$phrase":{"value":"red la","prefix":true}}}',
  '{"t":{"$phrase":{"value":"red blue","slop":2}}}',
  '{"$should":[{"t":{"$eq":"laptop"}},{"n":{"$gt":1}}],"$mustNot":{"kind":"k3"}}',
  '{"t":{"$in":["red","blue"],"$boost":2}}',
  '{"t":{"$regex":"[bd].*"}}',
];
const METRICS = { c: { $count: { field: 'x' } }, s: { $sum: { field: 'n' } } };
const AGGREGATIONS = [
  { a: { $stats: { field: 'n' } }, b: { $avg: { field: 'x' } }, c: { $cardinality: { field: 'kind' } } },
  { a: { $extendedStats: { field: 'n' } }, b: { $min: { field: 'x' } }, c: { $max: { field: 'n' } } },
  { a: { $percentiles: { field: 'x' } }, b: { $percentiles: { field: 'n', percents: [10, 50], keyed: false } } },
  { a: { $terms: { field: 'kind', size: 4 }, $aggs: METRICS } },
  { a: { $terms: { field: 'kind', size: 3, order: { s: 'asc' } }, $aggs: METRICS } },
  { a: { $range: { field: 'n', ranges: [{ to: -1 }, { from: -1, to: 2 }, { from: 2 }] }, $aggs: METRICS } },
  {
    a: {
      $histogram: { field: 'x', interval: 2.5 },
      $aggs: { t: { $terms: { field: 'kind', size: 2 }, $aggs: METRICS } },
    },
  },
  { a: { $dateHistogram: { field: 'at', fixedInterval: '2d' } } },
  { a: { $facet: { field: 'tree', path: '/', depth: 3, size: 2 } } },
];

type Scores = readonly (readonly [key: string, score: string])[];

describe('edge/kv: an index in a database of several partitions', () => {
  let one: Partitions;
  let three: Partitions;

  async function both(...words: string[]): Promise<void> {
    expect(await three.ask(...words), words.join(' ')).to.deep.equal(await one.ask(...words));
  }

  beforeEach(async () => {
    one = new Partitions(1);
    three = new Partitions(3);
    await both(...CREATE.split(' '));
    for (const words of documents(7)) await both(...words);
    await both('SEARCH.WAITINDEXING', 'i');
  });

  it('SEARCH.QUERY and SEARCH.COUNT find the same documents with the same scores', async () => {
    for (const filter of FILTERS) {
      await both('SEARCH.COUNT', 'i', filter);
      const words = ['SEARCH.QUERY', 'i', filter, 'LIMIT', '1000', 'NOCONTENT'];
      const [left, right] = (await Promise.all([one.ask(...words), three.ask(...words)])) as [Scores, Scores];
      expect(right.length, filter).to.be.greaterThan(0);
      const sorted = (list: Scores) => list.map(([key, score]) => `${key} ${score}`).sort();
      expect(sorted(right), filter).to.deep.equal(sorted(left));
      const scores = right.map(([, score]) => Number(score));
      expect(scores, filter).to.deep.equal([...scores].sort((a, b) => b - a));
    }
  });

  it('SEARCH.QUERY pages through a field of different values as one index does, with contents and marks', async () => {
    const first = ['SEARCH.CREATE', 'o', 'ON', 'HASH', 'PREFIX', '1', 'o:', 'SCHEMA', 'n', 'I64', 'FAST', 't', 'TEXT'];
    await both(...first);
    for (let id = 0; id < 40; id += 1) await both('HSET', `o:${id}`, 'n', String((id * 7) % 41), 't', `red ${id}`);
    const marks = ['HIGHLIGHT', 'FIELDS', '1', 't'];
    for (const direction of ['ASC', 'DESC']) {
      for (const offset of ['0', '5', '33', '50']) {
        const page = ['LIMIT', '10', 'OFFSET', offset];
        await both('SEARCH.QUERY', 'o', '{"t":"red"}', ...page, 'ORDERBY', 'n', direction, ...marks);
        await both('SEARCH.QUERY', 'o', '{"t":"red"}', ...page, 'ORDERBY', 'n', direction, 'SELECT', '1', 'n');
      }
    }
    await both('SEARCH.QUERY', 'o', '{}', 'SCOREFUNC', 'FIELDVALUE', 'n', 'FACTOR', '2', 'LIMIT', '7');
  });

  it('SEARCH.AGGREGATE joins metrics, percentiles, groups, histograms and facets', async () => {
    const rounded = (value: unknown): unknown => {
      if (Array.isArray(value)) return value.map(rounded);
      return /^-?\d+(\.\d+)?$/.test(String(value)) ? Number(value).toPrecision(12) : value;
    };
    for (const aggregation of AGGREGATIONS) {
      for (const filter of ['{}', '{"t":"red"}', '{"n":99}']) {
        const words = ['SEARCH.AGGREGATE', 'i', filter, JSON.stringify(aggregation)];
        expect(rounded(await three.ask(...words)), words.join(' ')).to.deep.equal(rounded(await one.ask(...words)));
      }
    }
  });

  it('SEARCH.DESCRIBE, the lists, aliases and SCAN show it once', async () => {
    await both('SEARCH.ALIASADD', 'other', 'i');
    await both('SEARCH.ALIASADD', 'b', 'missing');
    await both('SEARCH.LISTALIASES');
    await both('SEARCH.COUNT', 'other', '{"t":"red"}');
    await both('SEARCH.COUNT', 'b', '{}');
    await both('SEARCH.DESCRIBE', 'i');
    await both('SEARCH.DESCRIBE', 'other');
    for (const name of ['a1', 'b2', 'c3']) await both(...CREATE.replace('i', name).split(' ').with(1, name));
    await both('SEARCH.LISTINDEXES');
    await both('SEARCH.LISTINDEXES', 'LIMIT', '2', 'OFFSET', '1');
    await both('SEARCH.LISTINDEXES', 'MATCH', '[ab]*');
    await both('SEARCH.LISTINDEXES', 'FIRST');
    await both('SEARCH.REINDEX', 'i');
    await both('SEARCH.ALIASDEL', 'other');
    await both('TYPE', 'i');
    await both('DBSIZE');
    const names = three.engines.flatMap(({ keyspace }) => [...keyspace.derived.searches]);
    expect(names.sort()).to.deep.equal(['a1', 'b2', 'c3', 'i']);
  });

  it('is gone from all partitions after SEARCH.DROP, and after FLUSHALL', async () => {
    const parts = () => three.engines.map(({ searches }) => searches.isInMemory);
    expect(parts()).to.deep.equal([true, true, true]);
    await both('SEARCH.DROP', 'i');
    await both('SEARCH.DROP', 'i');
    expect(parts()).to.deep.equal([false, false, false]);
    await both('SEARCH.QUERY', 'i', '{}');
    await both('SEARCH.AGGREGATE', 'i', '{}', '{}');
    await both(...CREATE.split(' '));
    await both('SEARCH.COUNT', 'i', '{}');
    await both('FLUSHALL');
    await both('SEARCH.COUNT', 'i', '{}');
    for (const { searches } of three.engines) searches.sync();
    expect(parts()).to.deep.equal([false, false, false]);
  });

  it('has the new definition after its key was deleted and made again', async () => {
    await both('DEL', 'i');
    await both('SEARCH.COUNT', 'i', '{}');
    await both('SEARCH.CREATE', 'i', 'SKIPINITIALSCAN', 'ON', 'HASH', 'PREFIX', '1', 'd:', 'SCHEMA', 'n', 'I64');
    await both('SEARCH.COUNT', 'i', '{}');
    await both('HSET', 'd:1', 'n', '1');
    await both('HSET', 'd:2', 'n', '1');
    await both('HSET', 'd:3', 'n', '1');
    await both('SEARCH.COUNT', 'i', '{"n":1}');
    for (const { searches } of three.engines) expect(searches.size).to.equal(1);
  });

  it('answers in a pipeline in the order of its commands', async () => {
    const commands = [
      ['HSET', 'd:new', 't', 'unique'],
      ['SEARCH.COUNT', 'i', '{"t":{"$eq":"unique"}}'],
      ['DEL', 'd:new'],
      ['SEARCH.COUNT', 'none', '{}'],
    ];
    const [written, found, , none] = await three.all(...commands);
    expect(written).to.equal(1);
    // The later command of the pipeline may already have been executed.
    expect(found).to.be.oneOf([0, 1]);
    expect(none).to.equal(-1);
  });

  it('refuses bad words with the errors of one partition', async () => {
    await both('SEARCH.QUERY', 'i', '{"t":{"$not":1}}');
    await both('SEARCH.QUERY', 'i', '{', 'LIMIT', '5');
    await both('SEARCH.QUERY', 'i', '{}', 'LIMIT', '0');
    await both('SEARCH.QUERY', 'i', '{}', 'OFFSET', '10001');
    await both('SEARCH.QUERY', 'i', '{}', 'ORDERBY', 't', 'ASC');
    await both('SEARCH.COUNT', 'i', '[]');
    await both('SEARCH.AGGREGATE', 'i', '{}', '{"a":{"$avg":{"field":"t"}}}');
    await both('SEARCH.CREATE', 'i', 'ON', 'HASH', 'PREFIX', '1', 'x:', 'SCHEMA', 't', 'TEXT');
    await both('SET', 'text', '1');
    await both('SEARCH.COUNT', 'text', '{}');
  });

  it('answers with an error, never with a part, when a partition cannot be reached', async () => {
    const home = partitionOfSlot(hashSlot('i'), 3);
    three.failing = (home + 1) % 3;
    expect(await three.ask('SEARCH.COUNT', 'i', '{}')).to.match(/^-ERR/);
    expect(await three.ask('SEARCH.QUERY', 'i', '{}')).to.match(/^-ERR/);
  });
});
