/** Proves STI1. */

import { readdirSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { Redis, type Requester, s, type UpstashRequest } from '@upstash/redis';
import { expect } from 'chai';
import { Redis as IoRedis } from 'ioredis';
import { createClient } from 'redis';
import { eventually } from '../../support/eventually.js';
import { freePort } from '../../support/free-port.js';
import { endEverything, type MillraceProcess, PASSWORD, startMillrace, TOKEN } from '../../support/millrace-process.js';

/** More documents than an index has without a file. */
const LARGE = 6000;
/** Rounds of one of three writers, of 100 writes each. */
const MOST_ROUNDS = 30;
const ALIASES = { MILLRACE_WIRE_ALIAS: 'Upstash:QStash:redis:vercel' };
const PRODUCTS = [
  ['Laptop Pro', 'High performance laptop', 'electronics', 1299.99, 50, true],
  ['Laptop Basic', 'Budget friendly laptop', 'electronics', 599.99, 100, true],
  ['Wireless Mouse', 'Ergonomic wireless mouse', 'electronics', 29.99, 200, true],
  ['USB Cable', 'Fast charging USB cable', 'accessories', 9.99, 500, true],
  ['Phone Case', 'Protective phone case', 'accessories', 19.99, 300, false],
  ['Headphones', 'Noise cancelling headphones', 'audio', 199.99, 75, true],
] as const;

const SCHEMA = s.object({
  name: s.string(),
  description: s.string(),
  category: s.string().noTokenize(),
  group: s.keyword(),
  price: s.number(),
  stock: s.number('U64'),
  active: s.boolean(),
  tree: s.facet(),
  seller: s.object({ name: s.string().noStem() }),
});

function productOf([name, description, category, price, stock, active]: (typeof PRODUCTS)[number]) {
  const seller = { name: `Shop of ${name}` };
  return { name, description, category, group: category, price, stock, active, tree: `/all/${category}`, seller };
}

/** The package's commands over a native connection. */
interface NativeClient extends Requester {
  close(): void;
}

const NATIVE_CLIENTS = {
  ioredis: async (port: number): Promise<NativeClient> => {
    const client = new IoRedis({ port, password: PASSWORD });
    return nativeClient(
      ([name = '', ...words]) => client.call(name, words),
      () => client.disconnect(),
    );
  },
  redis: async (port: number): Promise<NativeClient> => {
    const client = createClient({ password: PASSWORD, socket: { port } });
    await client.connect();
    return nativeClient(
      (words) => client.sendCommand([...words]),
      () => client.destroy(),
    );
  },
};

function nativeClient(send: (words: readonly string[]) => Promise<unknown>, close: () => void): NativeClient {
  const one = async (words: readonly unknown[]) => ({ result: await send(words.map(String)) });
  const request = async ({ path, body }: UpstashRequest) => {
    const isPipeline = path?.[0] === 'pipeline';
    return isPipeline ? Promise.all((body as unknown[][]).map(one)) : one(body as unknown[]);
  };
  return { request: request as Requester['request'], close };
}

describe('client package: @upstash/redis, full-text indexes', function () {
  this.timeout(60_000);
  let server: MillraceProcess;
  let redis: Redis;
  let respPort: number;

  const indexOf = (name: string) => redis.search.index({ name, schema: SCHEMA });
  const namesOf = (found: readonly { data: { name: string } }[]) => found.map(({ data }) => data.name);

  before(async () => {
    respPort = await freePort();
    server = await startMillrace({ env: { ...ALIASES, MILLRACE_RESP_PORT: String(respPort) } });
    redis = new Redis({ url: server.kvUrl, token: TOKEN });
  });
  after(() => endEverything());

  for (const [dataType, transport] of [
    ['json', 'HTTP'],
    ['string', 'HTTP'],
    ['json', 'ioredis'],
    ['string', 'redis'],
  ] as const) {
    describe(`over values of type ${dataType}, through ${transport}`, () => {
      const name = `products-${dataType}${transport === 'HTTP' ? '' : `-${transport}`}`;
      const prefix = `${name}:`;
      let overHttp: Redis;
      let native: NativeClient | undefined;

      before(async () => {
        overHttp = redis;
        if (transport !== 'HTTP') {
          native = await NATIVE_CLIENTS[transport](respPort);
          redis = new Redis(native);
        }
        const index = await redis.search.createIndex({ name, schema: SCHEMA, dataType, prefix });
        const write = redis.pipeline();
        for (const [id, product] of PRODUCTS.entries()) {
          if (dataType === 'json') write.json.set(`${prefix}${id}`, '$', productOf(product));
          else write.set(`${prefix}${id}`, JSON.stringify(productOf(product)));
        }
        await write.exec();
        expect(await index.waitIndexing()).to.equal(1);
      });
      after(() => {
        native?.close();
        redis = overHttp;
      });

      it('query() finds texts by words, phrases, typing errors and expressions', async () => {
        const index = indexOf(name);
        expect(namesOf(await index.query({ filter: { name: { $eq: 'Laptop' } } }))).to.deep.equal([
          'Laptop Pro',
          'Laptop Basic',
        ]);
        expect(
          namesOf(await index.query({ filter: { name: { $fuzzy: { value: 'Laptopp', distance: 2 } } } })),
        ).to.have.length(2);
        expect(namesOf(await index.query({ filter: { name: { $fuzzy: 'laptopp' } } }))).to.have.length(2);
        expect(
          namesOf(await index.query({ filter: { description: { $phrase: { value: 'wireless mou', prefix: true } } } })),
        ).to.deep.equal(['Wireless Mouse']);
        expect(namesOf(await index.query({ filter: { name: { $regex: 'Laptop.*' } } }))).to.have.length(2);
        expect(namesOf(await index.query({ filter: { name: 'wireles mous' } }))).to.deep.equal(['Wireless Mouse']);
        expect(namesOf(await index.query({ filter: { 'seller.name': { $eq: 'Headphones' } } }))).to.deep.equal([
          'Headphones',
        ]);
      });

      it('query() finds numbers and truth values, and joins conditions', async () => {
        const index = indexOf(name);
        expect(namesOf(await index.query({ filter: { price: { $gt: 500 } } }))).to.have.length(2);
        expect(namesOf(await index.query({ filter: { active: { $eq: false } } }))).to.deep.equal(['Phone Case']);
        const joined = await index.query({
          filter: { $and: [{ category: 'electronics' }], $mustNot: [{ stock: { $gte: 200 } }] },
        });
        expect(namesOf(joined)).to.deep.equal(['Laptop Pro', 'Laptop Basic']);
      });

      it('query() orders, limits, selects and marks', async () => {
        const index = indexOf(name);
        const cheapest = await index.query({ filter: {}, orderBy: { price: 'ASC' }, limit: 2, offset: 1 });
        expect(namesOf(cheapest)).to.deep.equal(['Phone Case', 'Wireless Mouse']);
        expect(cheapest[0]?.score).to.equal(19.99);
        expect(await index.query({ filter: { name: { $eq: 'mouse' } }, select: {} })).to.have.nested.property(
          '[0].key',
          `${prefix}2`,
        );
        const selected = await index.query({
          filter: { description: { $eq: 'cable' } },
          select: { description: true, price: true },
          highlight: { fields: ['description'] },
        });
        expect(selected[0]?.data).to.deep.equal({ description: 'Fast charging USB <em>cable</em>', price: 9.99 });
        const nested = await index.query({
          filter: { name: { $eq: 'usb' } },
          select: { 'seller.name': true },
          highlight: { fields: [] },
        });
        expect(nested[0]?.data).to.deep.equal({ seller: { name: 'Shop of USB Cable' } });
        const scored = await index.query({ filter: {}, scoreFunc: { field: 'stock', modifier: 'log1p' }, limit: 1 });
        expect(namesOf(scored)).to.deep.equal(['USB Cable']);
      });

      it('count() and aggregate() count and group', async () => {
        const index = indexOf(name);
        expect(await index.count({ filter: { category: 'electronics' } })).to.deep.equal({ count: 3 });
        const result = await index.aggregate({
          aggregations: {
            mean: { $avg: { field: 'price' } },
            groups: { $terms: { field: 'group' }, $aggs: { most: { $max: { field: 'stock' } } } },
            tree: { $facet: { field: 'tree', path: '/all' } },
            middle: { $percentiles: { field: 'stock', percents: [50] } },
          },
        });
        expect(result.mean).to.deep.equal({ value: 359.99 });
        expect(result.groups).to.deep.equal({
          buckets: [
            { key: 'electronics', docCount: 3, most: { value: 200 } },
            { key: 'accessories', docCount: 2, most: { value: 500 } },
            { key: 'audio', docCount: 1, most: { value: 75 } },
          ],
          sumOtherDocCount: 0,
          docCountErrorUpperBound: 0,
        });
        expect(result.middle).to.deep.equal({ values: { '50.0': 150 } });
        expect(result.tree).to.have.nested.property('children[0].path', '/all/electronics');
      });

      it('describe() shows the definition', async () => {
        const described = await indexOf(name).describe();
        expect(described).to.deep.include({ name, dataType, prefixes: [prefix], language: 'english' });
        expect(described?.schema).to.deep.include({ category: { type: 'TEXT', noTokenize: true } });
      });
    });
  }

  describe('and other keys', () => {
    it('an index over hashes follows their fields, and expiry', async () => {
      const schema = s.object({ title: s.string(), count: s.number('U64') });
      const index = await redis.search.createIndex({ name: 'hashes', schema, dataType: 'hash', prefix: ['a:', 'b:'] });
      await redis.hset('a:1', { title: 'Red shoe', count: 7 });
      await redis.hset('b:1', { title: 'Red hat', count: 9 });
      await redis.hset('b:2', { title: 'Blue hat', count: 9 });
      await redis.hincrby('a:1', 'count', 5);
      await redis.pexpire('b:1', 1);
      await index.waitIndexing();
      const found = await index.query({ filter: { title: { $eq: 'red' } }, orderBy: { count: 'DESC' } });
      expect(found.map(({ key, data }) => [key, data])).to.deep.include.members([
        ['a:1', { title: 'Red shoe', count: 12 }],
      ]);
      expect(found).to.have.length(1);
    });

    it('an answer has the number of changes that the index lacks, in Millrace-Index-Lag', async () => {
      const ask = (...words: string[]) =>
        fetch(server.kvUrl, {
          method: 'POST',
          headers: { authorization: `Bearer ${TOKEN}` },
          body: JSON.stringify(words),
        });
      const counted = await ask('SEARCH.COUNT', 'products-json', '{}');
      expect(counted.headers.get('millrace-index-lag')).to.equal('0');
      expect((await ask('GET', 'x')).headers.has('millrace-index-lag')).to.equal(false);
    });

    it('aliases name indexes, and drop() keeps the keys', async () => {
      const index = indexOf('products-json');
      expect(await index.addAlias({ alias: 'shop' })).to.equal(1);
      expect(await redis.search.alias.list()).to.deep.equal({ shop: 'products-json' });
      expect(await indexOf('shop').count({ filter: {} })).to.deep.equal({ count: PRODUCTS.length });
      expect(await redis.search.alias.delete({ alias: 'shop' })).to.equal(1);
      expect(await indexOf('missing').query({ filter: {} })).to.equal(null);
      expect(await indexOf('missing').drop()).to.equal(0);
      expect((await redis.scan(0, { type: 'search', count: 100 }))[1]).to.include('products-json');
    });

    it('waitIndexing() answers when all earlier writes are found, while other clients write', async () => {
      const schema = s.object({ text: s.string() });
      const index = await redis.search.createIndex({ name: 'busy', schema, dataType: 'hash', prefix: 'busy:' });
      let isOver = false;
      let acknowledged = 0;
      // On a busy machine, writes without an end would fill the memory of the process before they are indexed.
      const writer = async (id: number) => {
        for (let round = 0; !isOver && round < MOST_ROUNDS; round += 1) {
          const write = redis.pipeline();
          for (let at = 0; at < 100; at += 1) write.hset(`busy:${id}:${round}:${at}`, { text: `word${at} common` });
          await write.exec();
          acknowledged += 100;
        }
      };
      const writers = Promise.all([1, 2, 3].map(writer));
      try {
        for (let round = 0; round < 4; round += 1) {
          await eventually(() => expect(acknowledged).to.be.above(round * 100));
          const before = acknowledged;
          expect(await index.waitIndexing()).to.equal(1);
          expect((await index.count({ filter: { text: { $eq: 'common' } } })).count).to.be.at.least(before);
        }
      } finally {
        isOver = true;
        await writers;
      }
      await index.waitIndexing();
      await redis.hset('busy:last', { text: 'common' });
      // A query takes in a few changes before it.
      expect(await index.count({ filter: { text: { $eq: 'common' } } })).to.deep.equal({ count: acknowledged + 1 });
      // The next test counts the files of large indexes.
      expect(await index.drop()).to.equal(1);
    });

    it('a killed process reads a large index from its file, or from the keys if the file is damaged; drop() removes it', async () => {
      const schema = s.object({ text: s.string(), n: s.number('U64') });
      const many = await redis.search.createIndex({ name: 'many', schema, dataType: 'string', prefix: 'many:' });
      const texts = (at: number) => JSON.stringify({ text: `word${at % 97} common`, n: at });
      for (let from = 0; from < LARGE; from += 1000) {
        const write = redis.pipeline();
        for (let at = from; at < from + 1000; at += 1) write.set(`many:${at}`, texts(at));
        await write.exec();
      }
      await many.waitIndexing();
      const files = () => readdirSync(join(server.dataDir, 'indexes'), { recursive: true, encoding: 'utf8' });
      const stored = () => files().filter((name) => name.endsWith('.index'));
      await eventually(() => expect(stored()).to.have.length(1), { timeoutMs: 30_000 });
      await redis.set('many:0', JSON.stringify({ text: 'word5 common', n: LARGE }));
      await redis.del('many:1');
      const search = async () => ({
        found: await many.query({ filter: { text: { $eq: 'word5' } }, orderBy: { n: 'ASC' }, limit: 1000 }),
        counted: await many.count({ filter: {} }),
      });
      await many.waitIndexing();
      const before = await search();
      expect(before.counted).to.deep.equal({ count: LARGE - 1 });
      const damaged = async () => {
        const [name = ''] = stored();
        const file = await open(join(server.dataDir, 'indexes', name), 'r+');
        await file.write('damage', 1000);
        await file.close();
      };
      for (const beforeStart of [async () => undefined, damaged]) {
        await server.kill('SIGKILL');
        await beforeStart();
        server = await startMillrace({ env: ALIASES, dataDir: server.dataDir });
        redis = new Redis({ url: server.kvUrl, token: TOKEN });
        const again = redis.search.index({ name: 'many', schema });
        const words = { filter: { text: { $eq: 'word5' } }, orderBy: { n: 'ASC' }, limit: 1000 } as const;
        // While it is built, the answer is an error, never a part of the documents.
        const found = await eventually(
          async () => {
            const answer = await again.query(words).catch((error: Error) => error);
            if (answer instanceof Error) expect(answer.message).to.include('Index many is being built, try again');
            if (answer instanceof Error) throw answer;
            return answer;
          },
          { timeoutMs: 40_000 },
        );
        expect(found).to.deep.equal(before.found);
        expect(await again.count({ filter: {} })).to.deep.equal(before.counted);
      }
      expect(await redis.search.index({ name: 'many', schema }).drop()).to.equal(1);
      await eventually(() => expect(stored()).to.deep.equal([]));
    });

    it('a killed process finds the same after its start', async () => {
      const search = async () => ({
        found: await indexOf('products-json').query({ filter: { name: 'laptop' } }),
        counted: await indexOf('products-string').count({ filter: {} }),
      });
      const before = await search();
      await server.kill('SIGKILL');
      server = await startMillrace({ env: ALIASES, dataDir: server.dataDir });
      redis = new Redis({ url: server.kvUrl, token: TOKEN });
      expect(await search()).to.deep.equal(before);
    });
  });
});
