/** Dump payloads of every kind of value, exchanged with real servers in both directions. */
import { expect } from 'chai';
import { encodeReply } from '../../src/codec/resp/index.js';
import { KvBench } from '../support/kv-bench.js';
import { REDIS_BINARIES, type RedisServer, redisVersion, startRedis } from '../support/redis-server.js';
import { bulks } from './pair.js';

const many = (count: number, word: (index: number) => string) => Array.from({ length: count }, (_, i) => word(i));

/** Commands that make a value under `k`, and the one that reads all of it. */
const VALUES: readonly (readonly [title: string, make: readonly string[][], read: string[], since?: number])[] = [
  ['a short list', [['RPUSH', 'k', 'a', '1', '-70000', 'long '.repeat(30)]], ['LRANGE', 'k', '0', '-1']],
  ['a long list', [['RPUSH', 'k', ...many(3000, (i) => `element ${i}`)]], ['LRANGE', 'k', '0', '-1']],
  ['a list of a large element', [['RPUSH', 'k', 'x'.repeat(20_000), 'b']], ['LRANGE', 'k', '0', '-1']],
  ['a set of integers', [['SADD', 'k', '1', '-5', '70000', '9223372036854775807']], ['SMEMBERS', 'k']],
  ['a short set', [['SADD', 'k', 'a', 'b', '']], ['SMEMBERS', 'k']],
  ['a large set', [['SADD', 'k', ...many(2000, (i) => `m${i}`)]], ['SMEMBERS', 'k']],
  ['a short hash', [['HSET', 'k', 'f', 'v', 'n', '12345']], ['HGETALL', 'k']],
  ['a large hash', [['HSET', 'k', ...many(2000, (i) => `w${i}`)]], ['HGETALL', 'k']],
  [
    'a short sorted set',
    [['ZADD', 'k', '1', 'a', '2.5', 'b', '-inf', 'c', '1e20', 'd']],
    ['ZRANGE', 'k', '0', '-1', 'WITHSCORES'],
  ],
  [
    'a large sorted set',
    [['ZADD', 'k', ...many(1000, (i) => [String(i / 7), `m${i}`] as never).flat()]],
    ['ZRANGE', 'k', '0', '-1'],
  ],
  [
    'a stream',
    [
      ['XADD', 'k', '5-1', 'f', 'v'],
      ['XADD', 'k', '5-2', 'g', 'w', 'h', 'x'],
      ['XADD', 'k', '900-0', 'f', '17'],
    ],
    ['XRANGE', 'k', '-', '+'],
  ],
  [
    'a stream with groups',
    [
      ...many(250, (i) => `${i + 1}-0`).map((id) => ['XADD', 'k', id, 'f', `value ${id}`]),
      ['XDEL', 'k', '7-0'],
      ['XGROUP', 'CREATE', 'k', 'g', '0'],
      ['XREADGROUP', 'GROUP', 'g', 'c', 'COUNT', '5', 'STREAMS', 'k', '>'],
      ['XREADGROUP', 'GROUP', 'g', 'd', 'COUNT', '3', 'STREAMS', 'k', '>'],
      ['XACK', 'k', 'g', '2-0'],
    ],
    ['XINFO', 'GROUPS', 'k'],
  ],
  [
    'a stream with pending entries that were deleted',
    [
      ...many(250, (i) => `${i + 1}-0`).map((id) => ['XADD', 'k', id, 'f', `value ${id}`]),
      ['XGROUP', 'CREATE', 'k', 'g', '0'],
      ['XGROUP', 'CREATE', 'k', 'h', '0'],
      ['XREADGROUP', 'GROUP', 'g', 'c', 'COUNT', '120', 'STREAMS', 'k', '>'],
      ['XREADGROUP', 'GROUP', 'h', 'd', 'COUNT', '3', 'STREAMS', 'k', '>'],
      ['XDEL', 'k', '1-0', '2-0', '119-0'],
    ],
    ['XPENDING', 'k', 'g'],
  ],
  [
    'a stream whose entries are all pending and deleted',
    [
      ['XADD', 'k', '5-1', 'f', 'v'],
      ['XADD', 'k', '5-2', 'f', 'v'],
      ['XGROUP', 'CREATE', 'k', 'g', '0'],
      ['XREADGROUP', 'GROUP', 'g', 'c', 'STREAMS', 'k', '>'],
      ['XTRIM', 'k', 'MAXLEN', '0'],
    ],
    ['XPENDING', 'k', 'g'],
  ],
  ['an empty stream', [['XGROUP', 'CREATE', 'k', 'g', '$', 'MKSTREAM']], ['XINFO', 'GROUPS', 'k']],
  [
    'a hash whose fields expire',
    [
      ['HSET', 'k', 'f', 'v', 'g', 'w'],
      ['HPEXPIREAT', 'k', '4102444800000', 'FIELDS', '1', 'f'],
    ],
    ['HPEXPIRETIME', 'k', 'FIELDS', '2', 'f', 'g'],
    8,
  ],
];
const UNORDERED = new Set(['SMEMBERS', 'HGETALL']);

for (const binary of Object.values(REDIS_BINARIES)) {
  const version = redisVersion(binary);
  describe(`differential: dump payloads of ${binary}`, () => {
    let server: RedisServer;
    before(async function () {
      if (version === undefined) return this.skip();
      server = await startRedis(binary);
    });
    after(async () => server?.stop());

    for (const [title, make, read, since = 7] of VALUES) {
      const same = (reply: string) => (UNORDERED.has(read[0] as string) ? bulks(reply).sort().join('\n') : reply);

      it(`of ${title} are accepted in both directions`, async function () {
        if (server.major < since) return this.skip();
        const bench = new KvBench();
        bench.nowMs = Date.now();
        await server.client.call(['FLUSHALL']);
        for (const words of make) {
          await server.client.call(words);
          bench.run(words);
        }
        const theirs = await server.client.call(read);
        expect(same(encodeReply(bench.run(read).reply)), 'made by the same commands').to.equal(same(theirs));
        const ours = bench.run(['DUMP', 'k']).reply as string;
        const [payload] = bulks(await server.client.call(['DUMP', 'k']));
        expect(await server.client.call(['RESTORE', 'k', '0', ours, 'REPLACE'])).to.equal('+OK\r\n');
        expect(same(await server.client.call(read)), 'ours, there').to.equal(same(theirs));
        expect(encodeReply(bench.run(['RESTORE', 'k', '0', payload as string, 'REPLACE']).reply)).to.equal('+OK\r\n');
        expect(same(encodeReply(bench.run(read).reply)), 'theirs, here').to.equal(same(theirs));
        bench.expectReplayed();
        bench.expectRebuilt();
      });
    }

    it('of a stream with messages of producers let both recognise them again', async function () {
      if (server.major < 8) return this.skip();
      const bench = new KvBench();
      bench.nowMs = Date.now();
      const again = ['XADD', 'k', 'IDMP', 'p', 'm1', '*', 'a', '1'];
      await server.client.call(['FLUSHALL']);
      const [theirs] = bulks(await server.client.call(again));
      const ours = bench.run(again).reply;
      const [payload] = bulks(await server.client.call(['DUMP', 'k']));
      const dumped = bench.run(['DUMP', 'k']).reply as string;
      expect(await server.client.call(['RESTORE', 'k', '0', dumped, 'REPLACE'])).to.equal('+OK\r\n');
      expect(bulks(await server.client.call(again))).to.deep.equal([ours]);
      bench.run(['RESTORE', 'k', '0', payload as string, 'REPLACE']);
      expect(bench.run(again).reply).to.equal(theirs);
      bench.expectReplayed();
      bench.expectRebuilt();
    });
  });
}
