/** The published package `redis` (node-redis) on a real process, in both versions of the protocol. */
import { expect } from 'chai';
import { createClient, defineScript, RESP_TYPES, WatchError } from 'redis';
import { eventually } from '../../support/eventually.js';
import { failureOf, startServed } from '../../support/millrace-clients.js';
import { endEverything, PASSWORD } from '../../support/millrace-process.js';

const MAX_TRIES = 200;

const scripts = {
  addUpTo: defineScript({
    SCRIPT: "return redis.call('SET', KEYS[1], math.min(tonumber(ARGV[1]), tonumber(ARGV[2])), 'GET')",
    NUMBER_OF_KEYS: 1,
    parseCommand(parser, key: string, amount: number, limit: number) {
      parser.pushKey(key);
      parser.push(String(amount), String(limit));
    },
    transformReply: (reply: unknown) => reply as string | null,
  }),
};

const LIBRARY = `#!lua name=library
redis.register_function{ function_name = 'total', flags = { 'no-writes' }, callback = function(keys)
  local sum = 0
  for _, key in ipairs(keys) do sum = sum + (redis.call('GET', key) or 0) end
  return sum
end }`;

describe('client package: redis on a process', function () {
  this.timeout(30_000);
  let port: number;
  before(async () => {
    port = (await startServed()).respPort;
  });
  after(endEverything);

  for (const RESP of [2, 3] as const) {
    describe(`in RESP${RESP}`, () => {
      const make = () => createClient({ RESP, password: PASSWORD, socket: { port }, scripts });
      type Client = ReturnType<typeof make>;
      const open = new Set<Client>();
      let client: Client;
      const connect = async (): Promise<Client> => {
        const made = make();
        made.on('error', () => undefined);
        open.add(made);
        await made.connect();
        return made;
      };
      beforeEach(async () => {
        client = await connect();
        await client.flushAll();
      });
      afterEach(() => {
        for (const each of open) each.destroy();
        open.clear();
      });
      const someoneRuns = (name: string) =>
        eventually(async () =>
          expect(String(await client.sendCommand(['CLIENT', 'LIST']))).to.match(new RegExp(`cmd=${name}\\b`)),
        );

      it('names its library with HELLO, and writes and reads values of every type', async () => {
        const info = await client.clientInfo();
        expect(info.libName).to.contain('node-redis');
        expect(info.resp).to.equal(RESP);
        await client.hSet('h', { a: '1', b: 'two' });
        expect({ ...(await client.hGetAll('h')) }).to.deep.equal({ a: '1', b: 'two' });
        expect(await client.hExpire('h', 'a', 100)).to.deep.equal([1]);
        expect(await client.hTTL('h', ['a', 'b', 'c'])).to.deep.equal([100, -1, -2]);
        expect(await client.hGetDel('h', ['b'])).to.deep.equal(['two']);
        await client.zAdd('z', [
          { score: 1, value: 'a' },
          { score: 2.5, value: 'b' },
          { score: Infinity, value: 'c' },
        ]);
        expect(await client.zRangeWithScores('z', 0, -1)).to.deep.equal([
          { score: 1, value: 'a' },
          { score: 2.5, value: 'b' },
          { score: Infinity, value: 'c' },
        ]);
        expect(await client.zScore('z', 'b')).to.equal(2.5);
        expect(await client.zPopMaxCount('z', 2)).to.deep.equal([
          { score: Infinity, value: 'c' },
          { score: 2.5, value: 'b' },
        ]);
        await client.sAdd('s', ['x', 'y']);
        expect([...(await client.sMembers('s'))].sort()).to.deep.equal(['x', 'y']);
        expect(await client.sIsMember('s', 'x')).to.equal(1);
        await client.rPush('l', ['a', 'b', 'c']);
        expect(await client.lPos('l', 'c')).to.equal(2);
        expect(await client.lmPop(['none', 'l'], 'LEFT', { COUNT: 2 })).to.deep.equal(['l', ['a', 'b']]);
        await client.geoAdd('g', { longitude: 15, latitude: 37, member: 'm' });
        expect((await client.geoSearchWith('g', 'm', { radius: 1, unit: 'm' }, ['WITHDIST']))[0]?.member).to.equal('m');
        expect(await client.incrByFloat('f', 1.5)).to.equal('1.5');
        await client.setEx('e', 60, 'v');
        expect(await client.ttl('e')).to.equal(60);
        const seen: string[] = [];
        for await (const keys of client.scanIterator({ TYPE: 'hash' })) seen.push(...keys);
        expect(seen).to.deep.equal(['h']);
        expect(await client.configGet('maxmemory')).to.have.property('maxmemory');
      });

      it('writes and reads JSON documents', async () => {
        expect(await client.json.set('doc', '$', { a: { b: [1, 2.5, 'x'] }, n: null })).to.equal('OK');
        expect(await client.json.get('doc')).to.deep.equal({ a: { b: [1, 2.5, 'x'] }, n: null });
        expect(await client.json.get('doc', { path: '$..b[0:2]' })).to.deep.equal([1, 2.5]);
        expect(await client.json.arrAppend('doc', '$.a.b', 4)).to.deep.equal([4]);
        expect(await client.json.objKeys('doc')).to.deep.equal(['a', 'n']);
        expect(await client.json.numIncrBy('doc', '$.a.b[0]', 41)).to.deep.equal([42]);
      });

      it('adds to Bloom and Cuckoo filters, and moves one with BF.SCANDUMP', async () => {
        await client.bf.reserve('b', 0.01, 1000);
        expect(await client.bf.add('b', 'x')).to.equal(true);
        expect(await client.bf.mAdd('b', ['x', 'y'])).to.deep.equal([false, true]);
        expect(await client.bf.insert('b', ['z'], { NOCREATE: true })).to.deep.equal([true]);
        expect(await client.bf.mExists('b', ['x', 'no'])).to.deep.equal([true, false]);
        expect(await client.bf.card('b')).to.equal(3);
        expect({ ...(await client.bf.info('b')) }).to.include({ Capacity: 1000, 'Number of items inserted': 3 });
        const inBytes = client.withTypeMapping({ [RESP_TYPES.BLOB_STRING]: Buffer });
        for (let iterator = 0; ; ) {
          const { iterator: next, chunk } = await inBytes.bf.scanDump('b', iterator);
          if (next === 0) break;
          await client.bf.loadChunk('moved', next, chunk);
          iterator = next;
        }
        expect(await client.bf.exists('moved', 'x')).to.equal(true);
        expect(await client.cf.add('c', 'x')).to.equal(true);
        expect(await client.cf.addNX('c', 'x')).to.equal(false);
        expect(await client.cf.insert('c', ['x', 'y'])).to.deep.equal([true, true]);
        expect(await client.cf.count('c', 'x')).to.equal(2);
        expect(await client.cf.del('c', 'y')).to.equal(true);
        expect(await client.cf.exists('c', 'y')).to.equal(false);
        expect({ ...(await client.cf.info('c')) }).to.include({ 'Bucket size': 2, 'Number of items deleted': 1 });
        expect(await client.type('b')).to.equal('MBbloom--');
      });

      it('counts with Count-Min and Top-K sketches, and reads quantiles of a t-digest', async () => {
        await client.cms.initByDim('s', 100, 5);
        expect(await client.cms.incrBy('s', [{ item: 'a', incrementBy: 3 }])).to.deep.equal([3]);
        await client.cms.initByDim('sum', 100, 5);
        await client.cms.merge('sum', [{ name: 's', weight: 2 }]);
        expect(await client.cms.query('sum', ['a', 'b'])).to.deep.equal([6, 0]);
        expect({ ...(await client.cms.info('s')) }).to.deep.equal({ width: 100, depth: 5, count: 3 });
        await client.topK.reserve('t', 2, { width: 50, depth: 4, decay: 0.9 });
        await client.topK.incrBy('t', [
          { item: 'a', incrementBy: 5 },
          { item: 'b', incrementBy: 2 },
        ]);
        expect(await client.topK.add('t', ['c'])).to.deep.equal([null]);
        expect(await client.topK.list('t')).to.deep.equal(['a', 'b']);
        expect(await client.topK.listWithCount('t')).to.deep.equal([
          { item: 'a', count: 5 },
          { item: 'b', count: 2 },
        ]);
        expect(await client.topK.query('t', ['a', 'c'])).to.deep.equal([true, false]);
        expect({ ...(await client.topK.info('t')) }).to.deep.equal({ k: 2, width: 50, depth: 4, decay: 0.9 });
        await client.tDigest.create('d', { COMPRESSION: 100 });
        await client.tDigest.add('d', [1, 2, 3, 4, 5]);
        expect(await client.tDigest.quantile('d', [0.5, 1])).to.deep.equal([3, 5]);
        expect(await client.tDigest.byRank('d', [1, 9])).to.deep.equal([2, Number.POSITIVE_INFINITY]);
        expect(await client.tDigest.rank('d', [3])).to.deep.equal([2]);
        expect(await client.tDigest.cdf('d', [3])).to.deep.equal([0.5]);
        expect(await client.tDigest.trimmedMean('d', 0.2, 0.8)).to.equal(3);
        await client.tDigest.merge('all', ['d']);
        expect([await client.tDigest.min('all'), await client.tDigest.max('all')]).to.deep.equal([1, 5]);
      });

      it('recognises repeated messages of a stream with XADD IDMP', async () => {
        const words = ['XADD', 's', 'IDMP', 'producer', 'message', '*', 'a', '1'];
        const first = await client.sendCommand(words);
        expect(await client.sendCommand(words)).to.equal(first);
        expect(await client.xLen('s')).to.equal(1);
      });

      it('runs scripts and functions', async () => {
        expect(await client.addUpTo('k', 12, 10)).to.equal(null);
        expect(await client.addUpTo('k', 4, 10)).to.equal('10');
        expect(await client.eval('return {1, {ok = "fine"}, "x", false}')).to.deep.equal([1, 'fine', 'x', null]);
        expect(await client.functionLoad(LIBRARY, { REPLACE: true })).to.equal('library');
        await client.mSet({ a: '1', b: '2' });
        expect(await client.fCallRo('total', { keys: ['a', 'b'] })).to.equal(3);
        const [library] = await client.functionList();
        expect(library?.library_name).to.equal('library');
        expect(await client.functionFlush()).to.equal('OK');
      });

      it('increments under WATCH without losing an update', async () => {
        await client.set('n', '0');
        const addOne = async (adder: Client): Promise<void> => {
          for (let attempt = 0; attempt < MAX_TRIES; attempt += 1) {
            try {
              await adder.watch('n');
              const now = Number(await adder.get('n'));
              await adder
                .multi()
                .set('n', String(now + 1))
                .exec();
              return;
            } catch (error) {
              if (!(error instanceof WatchError)) throw error;
            }
          }
          throw new Error('it was never alone');
        };
        const adders = await Promise.all(Array.from({ length: 3 }, connect));
        await Promise.all(
          adders.map(async (adder) => {
            for (let times = 0; times < 20; times += 1) await addOne(adder);
          }),
        );
        expect(await client.get('n')).to.equal('60');
        const failed = await client
          .multi()
          .set('k', 'text')
          .incr('k')
          .get('k')
          .exec()
          .then(
            () => [],
            (error: { replies: readonly unknown[] }) => error.replies,
          );
        expect([failed[0], failed[1] instanceof Error, failed[2]]).to.deep.equal(['OK', true, 'text']);
        expect(await failureOf(client.multi().addCommand(['NOSUCH']).exec())).to.match(/EXECABORT|unknown command/);
      });

      it("BLPOP and BZPOPMIN wait for another connection's push", async () => {
        const waiter = await connect();
        const waiting = waiter.blPop(['none', 'jobs'], 0);
        await someoneRuns('blpop');
        await client.rPush('jobs', 'first');
        expect(await waiting).to.deep.equal({ key: 'jobs', element: 'first' });
        const popped = waiter.bzPopMin('z', 5);
        await someoneRuns('bzpopmin');
        await client.zAdd('z', { score: 1.5, value: 'm' });
        expect(await popped).to.deep.equal({ key: 'z', value: 'm', score: 1.5 });
        expect(await waiter.blPop('jobs', 0.05)).to.equal(null);
      });

      it('reads a stream as a group of consumers', async () => {
        await client.xGroupCreate('events', 'g', '$', { MKSTREAM: true });
        const reader = await connect();
        const waiting = reader.xReadGroup('g', 'one', { key: 'events', id: '>' }, { BLOCK: 5000, COUNT: 5 });
        await someoneRuns('xreadgroup');
        const id = await client.xAdd('events', '*', { type: 'made' });
        const got = (await waiting) as unknown as { name: string; messages: { id: string; message: object }[] }[];
        expect(got[0]?.name).to.equal('events');
        expect(got[0]?.messages.map((one) => [one.id, { ...one.message }])).to.deep.equal([[id, { type: 'made' }]]);
        expect((await client.xPending('events', 'g')).pending).to.equal(1);
        const claimed = await client.xAutoClaim('events', 'g', 'two', 0, '0-0');
        expect(claimed.messages.map((one) => one?.id)).to.deep.equal([id]);
        expect(await client.xAck('events', 'g', id)).to.equal(1);
        const [group] = await client.xInfoGroups('events');
        expect([group?.name, group?.pending, group?.['entries-read'], group?.lag]).to.deep.equal(['g', 0, 1, 0]);
        expect((await client.xInfoStream('events'))['last-generated-id']).to.equal(id);
      });

      it('receives messages of channels, patterns and sharded channels, in order', async () => {
        const heard: string[] = [];
        const subscriber = await connect();
        await subscriber.subscribe('news', (message) => heard.push(message));
        await subscriber.pSubscribe('n?ws', (message) => heard.push(`~${message}`));
        await subscriber.sSubscribe('shard', (message) => heard.push(`s${message}`));
        const receivers = await Promise.all(Array.from({ length: 100 }, (_, at) => client.publish('news', String(at))));
        expect(new Set(receivers)).to.deep.equal(new Set([2]));
        expect(await client.sPublish('shard', 'x')).to.equal(1);
        await eventually(() => expect(heard).to.have.length(201));
        const plain = heard.filter((message) => /^\d/.test(message));
        expect(plain).to.deep.equal(Array.from({ length: 100 }, (_, at) => String(at)));
        expect(heard).to.include('sx');
        if (RESP === 3) expect(await subscriber.get('none')).to.equal(null);
        await subscriber.unsubscribe('news');
        await subscriber.pUnsubscribe();
        await subscriber.sUnsubscribe();
        await eventually(async () => expect(await client.publish('news', 'late')).to.equal(0));
      });
    });
  }

  it('invalidates its client-side cache after changes of every kind', async () => {
    const caching = createClient({
      RESP: 3,
      password: PASSWORD,
      socket: { port },
      clientSideCache: { ttl: 0, maxEntries: 100 },
    });
    const other = createClient({ password: PASSWORD, socket: { port } });
    try {
      await Promise.all([caching.connect(), other.connect()]);
      await other.flushAll();
      await other.hSet('h', 'f', '1');
      expect(await caching.hGet('h', 'f')).to.equal('1');
      await other.hSet('h', 'f', '2');
      await eventually(async () => expect(await caching.hGet('h', 'f')).to.equal('2'));
      await other.eval("redis.call('HSET', KEYS[1], 'f', '3')", { keys: ['h'] });
      await eventually(async () => expect(await caching.hGet('h', 'f')).to.equal('3'));
      await other.pExpire('h', 30);
      await eventually(async () => expect(await caching.hGet('h', 'f')).to.equal(null));
      await other.hSet('h', 'f', '4');
      await eventually(async () => expect(await caching.hGet('h', 'f')).to.equal('4'));
      await other.flushAll();
      await eventually(async () => expect(await caching.hGet('h', 'f')).to.equal(null));
    } finally {
      caching.destroy();
      other.destroy();
    }
  });
});
