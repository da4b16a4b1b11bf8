import { Redis } from '@upstash/redis';
import { expect } from 'chai';
import { eventually } from '../../support/eventually.js';
import { KvEndpointHarness, READ_ONLY_TOKEN, TOKEN } from '../../support/kv-endpoint.js';
import { standOfAllTests } from '../../support/stand-hooks.js';

const ALIAS = { headerWord: 'Upstash', queueWord: 'qstash', kvWord: 'redis' };

/** The published package, unmodified: only its address and its token are ours. */
describe('client package: @upstash/redis', () => {
  const face = standOfAllTests(() => new KvEndpointHarness({ aliases: [ALIAS] }).start());
  let redis: Redis;

  beforeEach(async () => {
    redis = new Redis({ url: face.url, token: TOKEN });
    await redis.flushall();
    face.gateway.requests.length = 0;
  });

  async function failureOf(action: Promise<unknown>): Promise<string> {
    try {
      await action;
    } catch (error) {
      return (error as Error).message;
    }
    throw new Error('it did not fail');
  }

  it('writes and reads strings, numbers, booleans, objects and null', async () => {
    expect(await redis.set('text', 'bar')).to.equal('OK');
    expect(await redis.get('text')).to.equal('bar');
    await redis.set('number', 4);
    expect(await redis.get('number')).to.equal(4);
    expect(await redis.incrby('number', 38)).to.equal(42);
    await redis.set('object', { a: [1, 'x', null], b: true });
    expect(await redis.get('object')).to.deep.equal({ a: [1, 'x', null], b: true });
    expect(await redis.get('missing')).to.equal(null);
    await redis.set('yes', true);
    expect(await redis.get('yes')).to.equal(true);
    await redis.set('empty', '');
    expect(await redis.get('empty')).to.equal('');
  });

  it('joins the commands of one tick into a pipeline automatically', async () => {
    const values = Array.from({ length: 250 }, (_, i) => i);
    expect(await Promise.all(values.map((i) => redis.set(`auto-${i}`, i)))).to.deep.equal(values.map(() => 'OK'));
    expect(face.gateway.requests.map(({ mode, commands }) => [mode, commands.length])).to.deep.equal([
      ['pipeline', 250],
    ]);
    expect(await Promise.all(values.map((i) => redis.get(`auto-${i}`)))).to.deep.equal(values);
  });

  it('sends single commands with enableAutoPipelining off', async () => {
    const single = new Redis({ url: `${face.url}/`, token: TOKEN, enableAutoPipelining: false });
    await single.set('one', 'a');
    expect(await single.get('one')).to.equal('a');
    expect(face.gateway.requests.map(({ mode }) => mode)).to.deep.equal(['single', 'single']);
  });

  it('runs pipelines, and an error names the command that failed', async () => {
    const pipeline = redis.pipeline().set('p', 'x').get('p').strlen('p');
    expect(await pipeline.exec()).to.deep.equal(['OK', 'x', 1]);
    const failing = await failureOf(redis.pipeline().set('p', 'x').incr('p').exec());
    expect(failing).to.include('Command 2 [ incr ] failed: ERR value is not an int or out of range');
    const kept = await redis.pipeline().set('p', '1').incr('p').exec({ keepErrors: true });
    expect(kept.map((item) => item.result)).to.deep.equal(['OK', 2]);
  });

  it('runs transactions', async () => {
    expect(await redis.multi().set('m', 1).incr('m').get('m').exec()).to.deep.equal(['OK', 2, 2]);
    expect(face.gateway.requests.at(-1)?.mode).to.equal('transaction');
  });

  it('keeps Unicode text, and integers above 2^53 as text', async () => {
    const text = 'é€😀 日本語 \u0000 "quoted" \\ \n';
    await redis.set('text', text);
    expect(await redis.get('text')).to.equal(text);
    await redis.set('big', '12345678901234567890');
    expect(await redis.get('big')).to.equal('12345678901234567890');
    expect(await redis.mget('text', 'missing', 'big')).to.deep.equal([text, null, '12345678901234567890']);
  });

  it('keeps Unicode text without base64 too', async () => {
    const plain = new Redis({ url: face.url, token: TOKEN, responseEncoding: false });
    await plain.set('text', 'é€😀');
    expect(await plain.get('text')).to.equal('é€😀');
    expect(await plain.ping()).to.equal('PONG');
  });

  it('reads status replies other than OK', async () => {
    expect(await redis.ping()).to.equal('PONG');
    expect(await redis.ping(['hello'])).to.equal('hello');
    expect(await redis.echo('x')).to.equal('x');
    await redis.set('s', 'OK');
    expect(await redis.get('s')).to.equal('OK');
    expect(await redis.type('s')).to.equal('string');
  });

  it('SETEX, SET PX, KEEPTTL and GETEX set, keep and change expiries', async () => {
    await redis.setex('s', 60, 'v');
    expect(await redis.ttl('s')).to.equal(60);
    await redis.set('short', 'v', { px: 200 });
    expect(await redis.get('short')).to.equal('v');
    await eventually(async () => expect(await redis.get('short')).to.equal(null));
    expect(await redis.set('s', 'w', { nx: true })).to.equal(null);
    expect(await redis.set('none', 'w', { xx: true })).to.equal(null);
    expect(await redis.set('s', 'w', { keepTtl: true, get: true })).to.equal('v');
    expect(await redis.ttl('s')).to.be.within(58, 60);
    expect(await redis.getex('s', { exat: 1 })).to.equal('w');
    expect(await redis.get('s')).to.equal(null);
  });

  it("generic and server commands answer in the package's types", async () => {
    await redis.mset({ a: 1, b: 2 });
    expect(await redis.copy('a', 'c')).to.equal('COPIED');
    expect(await redis.copy('a', 'a')).to.equal('NOT_COPIED');
    expect(await redis.exists('a', 'b', 'nothing')).to.equal(2);
    expect((await redis.keys('*')).sort()).to.deep.equal(['a', 'b', 'c']);
    const [cursor, keys] = await redis.scan(0, { match: '*', count: 100 });
    expect([cursor, keys.sort()]).to.deep.equal(['0', ['a', 'b', 'c']]);
    const [, typed] = await redis.scan(0, { withType: true, match: 'a' });
    expect(typed).to.deep.equal([{ key: 'a', type: 'string' }]);
    expect(await redis.dbsize()).to.equal(3);
    expect(await redis.randomkey()).to.be.oneOf(['a', 'b', 'c']);
    expect(await redis.getrange('missing', 0, -1)).to.equal('');
    const [seconds, micros] = await redis.time();
    expect([typeof seconds, typeof micros]).to.deep.equal(['number', 'number']);
    expect(await redis.exec<number>(['MEMORY', 'USAGE', 'a'])).to.be.greaterThan(0);
    expect(await redis.del('a', 'b')).to.equal(2);
    expect(await redis.rename('c', 'd')).to.equal('OK');
    expect(await redis.unlink('d')).to.equal(1);
    expect(await redis.dbsize()).to.equal(0);
  });

  it('throws the error of a command together with the command', async () => {
    await redis.set('x', 'text');
    expect(await failureOf(redis.incr('x'))).to.include('ERR value is not an int or out of range');
    const single = new Redis({ url: face.url, token: TOKEN, enableAutoPipelining: false });
    expect(await failureOf(single.exec(['GET'] as [string]))).to.include(
      `ERR wrong number of arguments for 'get' command, command was: ["GET"]`,
    );
    expect(await failureOf(single.exec(['NOPE', 'x']))).to.include("ERR Command is not available: 'NOPE'");
    const discarded = redis.multi();
    discarded.set('y', '1').getrange('y', undefined as unknown as number, 1);
    expect(await failureOf(discarded.exec())).to.include('ERR null args are not supported');
    expect(await redis.exists('y')).to.equal(0);
  });

  it('a wrong token is refused, and the read-only token is refused writes', async () => {
    const stranger = new Redis({ url: face.url, token: 'wrong' });
    expect(await failureOf(stranger.get('a'))).to.include('WRONGPASS invalid or missing auth token');
    const reader = new Redis({ url: face.url, token: READ_ONLY_TOKEN });
    expect(await reader.get('a')).to.equal(null);
    expect(await failureOf(reader.set('a', 1))).to.include("NOPERM this user has no permissions to run the 'set'");
    expect(await failureOf(reader.scan(0))).to.include("'scan'");
  });

  it('receives a sync token that changes with each write, and sends it back', async () => {
    const syncTokenOf = (client: Redis) =>
      (client as unknown as { client: { upstashSyncToken?: string } }).client.upstashSyncToken;
    const seen = new Set<unknown>();
    for (let i = 0; i < 3; i += 1) {
      await redis.set('rw', i);
      expect(await redis.get('rw')).to.equal(i);
      seen.add(syncTokenOf(redis));
    }
    expect(seen.size).to.equal(3);
    expect(seen.has(undefined) || seen.has('')).to.equal(false);
    (redis as unknown as { client: { upstashSyncToken: string } }).client.upstashSyncToken = 'my-new-sync-token';
    expect(await redis.get('rw')).to.equal(2);
  });

  it('sends 600 requests in parallel', async () => {
    const single = new Redis({ url: face.url, token: TOKEN, enableAutoPipelining: false });
    const counts = await Promise.all(Array.from({ length: 600 }, () => single.incr('count')));
    expect(new Set(counts).size).to.equal(600);
  });
});
