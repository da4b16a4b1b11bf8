/** The published REST package on a real process: values of every type, as its users see them. */
import { Redis } from '@upstash/redis';
import { expect } from 'chai';
import { eventually } from '../../support/eventually.js';
import { failureOf, startServed } from '../../support/millrace-clients.js';
import { endEverything, TOKEN } from '../../support/millrace-process.js';

describe('client package: @upstash/redis on a process, collections', function () {
  this.timeout(30_000);
  let redis: Redis;
  let single: Redis;
  before(async () => {
    const { kvUrl: url } = await startServed();
    redis = new Redis({ url, token: TOKEN });
    single = new Redis({ url, token: TOKEN, enableAutoPipelining: false });
  });
  after(endEverything);
  beforeEach(() => redis.flushdb());

  it('hash commands keep numbers, booleans and objects as field values', async () => {
    expect(await redis.hset('h', { n: 1, text: 'x', yes: true, object: { a: [1] } })).to.equal(4);
    expect(await redis.hgetall('h')).to.deep.equal({ n: 1, text: 'x', yes: true, object: { a: [1] } });
    expect(await redis.hgetall('missing')).to.equal(null);
    expect(await redis.hmget('h', 'n', 'none', 'text')).to.deep.equal({ n: 1, none: null, text: 'x' });
    expect(await redis.hincrby('h', 'n', 41)).to.equal(42);
    expect(await redis.hincrbyfloat('h', 'n', 0.5)).to.equal(42.5);
    expect(await redis.hsetnx('h', 'n', 1)).to.equal(0);
    expect(await redis.hexists('h', 'yes')).to.equal(1);
    expect(await redis.hstrlen('h', 'text')).to.equal(1);
    expect((await redis.hkeys('h')).sort()).to.deep.equal(['n', 'object', 'text', 'yes']);
    expect(await redis.hvals('h')).to.have.length(4);
    const [cursor, scanned] = await redis.hscan('h', 0, { match: 't*' });
    expect([cursor, scanned]).to.deep.equal(['0', ['text', 'x']]);
    expect(await redis.hrandfield('h', 4, true)).to.have.keys('n', 'object', 'text', 'yes');
    expect(await redis.hdel('h', 'n', 'none')).to.equal(1);
    expect(await redis.hlen('h')).to.equal(3);
  });

  it('HEXPIRE and HPEXPIRE expire fields, with one code for each field', async () => {
    await redis.hset('h', { a: 1, b: 2, c: 3 });
    expect(await redis.hpexpire('h', ['a', 'none'], 1000)).to.deep.equal([1, -2]);
    expect(await redis.hexpire('h', 'b', 100)).to.deep.equal([1]);
    expect(await redis.hexpire('h', 'b', 50, 'GT')).to.deep.equal([0]);
    expect((await redis.httl('h', 'b'))[0]).to.be.within(99, 100);
    expect(await redis.httl('h', ['c', 'none'])).to.deep.equal([-1, -2]);
    expect((await redis.hpttl('h', 'b'))[0]).to.be.within(90_000, 100_000);
    expect((await redis.hexpiretime('h', 'b'))[0]).to.be.closeTo(Date.now() / 1000 + 100, 5);
    expect((await redis.hpexpiretime('h', 'b'))[0]).to.be.closeTo(Date.now() + 100_000, 5000);
    expect(await redis.hpersist('h', ['b', 'c', 'none'])).to.deep.equal([1, -1, -2]);
    await eventually(async () => expect(await redis.hget('h', 'a')).to.equal(null));
    expect(await redis.hpexpireat('h', 'b', Date.now() - 1000)).to.deep.equal([2]);
    expect(await redis.hexpireat('h', 'c', Math.floor(Date.now() / 1000) + 100)).to.deep.equal([1]);
    expect(await redis.hlen('h')).to.equal(1);
  });

  it('HSETEX, HGETEX and HGETDEL set, read and delete fields with an expiry', async () => {
    expect(await redis.hsetex('h', { expiration: { ex: 60 } }, { a: 1, b: 'two' })).to.equal(1);
    expect(await redis.hsetex('h', { conditional: 'fnx' }, { a: 2 })).to.equal(0);
    expect(await redis.hgetex('h', { persist: true }, 'a', 'none')).to.deep.equal({ a: 1, none: null });
    expect(await redis.httl('h', ['a', 'b'])).to.deep.equal([-1, 60]);
    expect(await redis.hgetdel('h', 'a', 'b')).to.deep.equal({ a: 1, b: 'two' });
    expect(await redis.exists('h')).to.equal(0);
    expect(await redis.hgetdel('h', 'a')).to.equal(null);
    expect(await redis.hgetex('h', { ex: 5 }, 'a')).to.equal(null);
  });

  it('list commands push, insert, move and pop elements', async () => {
    expect(await redis.rpush<unknown>('l', 'a', { b: 1 }, 3)).to.equal(3);
    expect(await redis.lpush('l', 'z')).to.equal(4);
    expect(await redis.lrange('l', 0, -1)).to.deep.equal(['z', 'a', { b: 1 }, 3]);
    expect(await redis.linsert('l', 'before', 'a', 'y')).to.equal(5);
    expect(await redis.lpos('l', 'a')).to.equal(2);
    expect(await redis.lset('l', 0, 'Z')).to.equal('OK');
    expect(await failureOf(redis.lset('l', 99, 'x'))).to.contain('ERR index out of range');
    expect(await redis.lmove('l', 'm', 'left', 'right')).to.equal('Z');
    expect(await redis.lmpop(2, ['none', 'l'], 'LEFT', 2)).to.deep.equal(['l', ['y', 'a']]);
    expect(await redis.lmpop(1, ['none'], 'LEFT')).to.equal(null);
    expect(await redis.lpop('l', 2)).to.deep.equal([{ b: 1 }, 3]);
    expect(await redis.llen('l')).to.equal(0);
    expect(await redis.rpushx('l', 1)).to.equal(0);
    expect(await redis.lrange('l', 0, -1)).to.deep.equal([]);
  });

  it('set commands add, combine, move and remove members', async () => {
    expect(await redis.sadd<unknown>('s', 'a', 'b', 3)).to.equal(3);
    expect(await redis.sadd<unknown>('t', 'b', 3, 'd')).to.equal(3);
    expect((await redis.smembers('s')).sort()).to.deep.equal([3, 'a', 'b']);
    expect(await redis.smembers('none')).to.deep.equal([]);
    expect(await redis.smismember('s', ['a', 'x'])).to.deep.equal([1, 0]);
    expect(await redis.sinter('s', 't')).to.have.members(['b', 3]);
    expect(await redis.sdiff('s', 't')).to.deep.equal(['a']);
    expect(await redis.sunionstore('u', 's', 't')).to.equal(4);
    expect(await redis.smove('s', 't', 'a')).to.equal(1);
    const [cursor, members] = await redis.sscan('u', 0, { count: 100 });
    expect([cursor, members.length]).to.deep.equal(['0', 4]);
    expect(await redis.spop('u', 4)).to.have.length(4);
    expect(await redis.exists('u')).to.equal(0);
    expect(await failureOf(redis.exec(['SADD', 's']))).to.contain("wrong number of arguments for 'sadd'");
  });

  it('sorted set commands add, rank, combine and range over members', async () => {
    expect(await redis.zadd<unknown>('z', { score: 1, member: 'a' }, { score: 2.5, member: { b: 1 } })).to.equal(2);
    expect(await redis.zadd('z', { xx: true, ch: true }, { score: 3, member: 'a' })).to.equal(1);
    expect(await redis.zadd('z', { incr: true }, { score: 1, member: 'a' })).to.equal(4);
    expect(await redis.zrange('z', 0, -1, { withScores: true })).to.deep.equal([{ b: 1 }, 2.5, 'a', 4]);
    expect(await redis.zrange('z', '+inf', '(2.5', { byScore: true, rev: true })).to.deep.equal(['a']);
    expect(await redis.zmscore('z', ['a', 'none'])).to.deep.equal([4, null]);
    expect(await redis.zrank('z', 'a')).to.equal(1);
    expect(await redis.zscore('z', 'none')).to.equal(null);
    await redis.zadd('y', { score: 10, member: 'a' }, { score: 5, member: 'c' });
    expect(await redis.zunion(2, ['z', 'y'], { withScores: true, aggregate: 'sum' })).to.deep.equal([
      ...[{ b: 1 }, 2.5],
      ...['c', 5],
      ...['a', 14],
    ]);
    expect(await redis.zinterstore('x', 2, ['z', 'y'], { weights: [2, 1], aggregate: 'max' })).to.equal(1);
    expect(await redis.zscore('x', 'a')).to.equal(10);
    expect(await redis.zdiffstore('w', 2, 'z', 'y')).to.equal(1);
    expect(await redis.zpopmin('z', 2)).to.deep.equal([{ b: 1 }, 2.5, 'a', 4]);
    await redis.zadd('lex', { score: 0, member: 'a' }, { score: 0, member: 'b' }, { score: 0, member: 'c' });
    expect(await redis.zrange('lex', '[b', '+', { byLex: true })).to.deep.equal(['b', 'c']);
    expect(await redis.zlexcount('lex', '-', '(c')).to.equal(2);
    expect(await redis.zremrangebylex('lex', '-', '[b')).to.equal(2);
  });

  it('GEO commands answer positions and distances with the digits of Redis', async () => {
    const palermo = { longitude: 13.361389, latitude: 38.115556, member: 'Palermo' };
    const catania = { longitude: 15.087269, latitude: 37.502669, member: 'Catania' };
    expect(await redis.geoadd('g', palermo, catania)).to.equal(2);
    expect(await redis.geodist('g', 'Palermo', 'Catania', 'KM')).to.equal(166.2742);
    expect(await redis.geopos('g', 'Palermo', 'none')).to.deep.equal([
      { lng: 13.361389338970184, lat: 38.1155563954963 },
    ]);
    expect(await redis.geohash('g', ['Palermo', 'Catania'])).to.deep.equal(['sqc8b49rny0', 'sqdtr74hyu0']);
    const near = await redis.geosearch(
      'g',
      { type: 'FROMLONLAT', coordinate: { lon: 15, lat: 37 } },
      { type: 'BYRADIUS', radius: 200, radiusType: 'KM' },
      'ASC',
      { withDist: true, withHash: true },
    );
    expect(near).to.deep.equal([
      { member: 'Catania', dist: 56.4413, hash: '3479447370796909' },
      { member: 'Palermo', dist: 190.4424, hash: '3479099956230698' },
    ]);
    const box = { type: 'BYBOX', rect: { width: 400, height: 400 }, rectType: 'KM' } as const;
    expect(await redis.geosearchstore('found', 'g', { type: 'FROMMEMBER', member: 'Palermo' }, box, 'ASC')).to.equal(2);
    expect(await redis.zrange('found', 0, 0, { withScores: true })).to.deep.equal(['Palermo', 3479099956230698]);
  });

  it('PFCOUNT counts distinct members, and bit commands read and combine bits', async () => {
    expect(await redis.pfadd('p', 'a', 'b', 'c')).to.equal(1);
    await redis.pfadd('q', 'c', 'd');
    expect(await redis.pfcount('p', 'q')).to.equal(4);
    expect(await redis.pfmerge('r', 'p', 'q')).to.equal('OK');
    expect(await redis.pfcount('r')).to.equal(4);
    expect(await redis.setbit('b', 7, 1)).to.equal(0);
    expect(await redis.getbit('b', 7)).to.equal(1);
    expect(await redis.bitcount('b', 0, -1)).to.equal(1);
    expect(await redis.bitpos('b', 1)).to.equal(7);
    expect(await redis.bitpos('none', 0)).to.equal(0);
    await redis.setbit('c', 6, 1);
    expect(await redis.bitop('or', 'd', 'b', 'c')).to.equal(1);
    expect(await redis.bitcount('d', 0, -1)).to.equal(2);
    expect(await redis.bitop('diff', 'd', 'b', 'c')).to.equal(1);
    expect(await redis.bitop('one', 'd', 'b', 'c')).to.equal(1);
    // The package builds this command only where it does not gather commands by itself.
    expect(await single.bitfield('f').set('u4', '#0', 15).incrby('u4', '#0', 1).get('u4', 0).exec()).to.deep.equal([
      0, 0, 0,
    ]);
    expect(await single.bitfield('f').overflow('SAT').incrby('u2', 100, 9).exec()).to.deep.equal([3]);
  });

  it('SET IFEQ and DELEX act on a condition, and TYPE and SCAN name the types of keys', async () => {
    await redis.set('k', 'old');
    expect(await redis.exec(['SET', 'k', 'new', 'IFEQ', 'old'])).to.equal('OK');
    expect(await redis.exec(['SET', 'k', 'newer', 'IFEQ', 'old'])).to.equal(null);
    const digest = await redis.exec<string>(['DIGEST', 'k']);
    expect(digest).to.match(/^[0-9a-f]{16}$/);
    expect(await redis.exec(['DELEX', 'k', 'IFDEQ', digest])).to.equal(1);
    await redis.set('string', 1);
    await redis.lpush('list', 1);
    await redis.zadd('zset', { score: 1, member: 1 });
    await redis.hset('hash', { a: 1 });
    await redis.sadd('set', 1);
    await redis.xadd('stream', '*', { a: 1 });
    await redis.json.set('json', '$', {});
    const kinds = ['string', 'list', 'zset', 'hash', 'set', 'stream'];
    for (const kind of kinds) expect(await redis.type(kind)).to.equal(kind);
    expect(await redis.exec(['TYPE', 'json'])).to.equal('ReJSON-RL');
    const [, typed] = await redis.scan(0, { withType: true, count: 100 });
    expect(new Map(typed.map(({ key, type }) => [key, type])).get('zset')).to.equal('zset');
    expect(await redis.scan(0, { type: 'hash', count: 100 })).to.deep.equal(['0', ['hash']]);
    expect(await redis.copy('hash', 'hash2')).to.equal('COPIED');
    expect(await redis.copy('hash', 'hash')).to.equal('NOT_COPIED');
    expect(await redis.persist('hash')).to.equal(0);
    expect(await redis.touch('hash', 'none')).to.equal(1);
    expect(await failureOf(redis.lpush('string', 1))).to.contain('WRONGTYPE');
  });

  it('blocking commands and connection commands are refused over REST', async () => {
    for (const words of [
      ['BLPOP', 'l', '0'],
      ['BRPOPLPUSH', 'l', 'm', '0'],
      ['BLMOVE', 'l', 'm', 'LEFT', 'LEFT', '0'],
      ['BZPOPMIN', 'z', '0'],
      ['BZMPOP', '0', '1', 'z', 'MIN'],
    ] as [string, ...string[]][]) {
      expect(await failureOf(redis.exec(words))).to.contain(`ERR Command is not available: '${words[0]}'`);
    }
    expect(await failureOf(redis.exec(['XREAD', 'BLOCK', '0', 'STREAMS', 's', '$']))).to.contain('BLOCK');
    for (const name of ['WATCH', 'UNWATCH', 'DISCARD', 'MULTI', 'EXEC', 'CLIENT', 'HELLO', 'AUTH', 'SUBSCRIBE']) {
      expect(await failureOf(redis.exec([name, 'x'])), name).to.contain(`"${name}" is not allowed in REST`);
    }
  });

  it('array commands write, read and remove values by index', async () => {
    expect(await redis.arset<unknown>('a', 0, 'x', 2, true)).to.equal(3);
    expect(await redis.arget('a', 1)).to.equal(2);
    expect(await redis.arget('a', 9)).to.equal(null);
    expect(await redis.armset('a', { '5': { n: 1 }, '1': 'one' })).to.equal(1);
    expect(await redis.armset('a', [['18446744073709551614', 'last']])).to.equal(1);
    expect(await redis.armget('a', 1, 5, '18446744073709551614', 7)).to.deep.equal(['one', { n: 1 }, 'last', null]);
    expect(await redis.argetrange('a', 2, 0)).to.deep.equal([true, 'one', 'x']);
    expect(await redis.arscan('a', 1, '18446744073709551614')).to.deep.equal([
      ['1', 'one'],
      ['2', true],
      ['5', { n: 1 }],
      ['18446744073709551614', 'last'],
    ]);
    expect(await redis.arscan('a', 0, 9, { limit: 1 })).to.deep.equal([['0', 'x']]);
    expect(await redis.arlen('a')).to.equal('18446744073709551615');
    expect(await redis.arcount('a')).to.equal(5);
    expect(await redis.ardel('a', '18446744073709551614', 77)).to.equal(1);
    expect(await redis.ardelrange('a', [4, 9], [0, 0])).to.equal(2);
    expect(await redis.arlen('a')).to.equal('3');
    expect(await redis.type('a')).to.equal('array');
    expect(await redis.exec(['SCAN', '0', 'TYPE', 'array'])).to.deep.equal([0, ['a']]);
    expect(await failureOf(redis.arset('a', -1, 'x'))).to.include('invalid array index');
  });

  it('array commands append, in a ring too, and search and calculate', async () => {
    expect(await redis.arnext('a')).to.equal('0');
    expect(await redis.arseek('a', 3)).to.equal(0);
    expect(await redis.arinsert('a', 10, 20, 30)).to.equal('2');
    expect(await redis.arnext('a')).to.equal('3');
    expect(await redis.arlastitems('a', 2)).to.deep.equal([20, 30]);
    expect(await redis.arlastitems('a', 2, { rev: true })).to.deep.equal([30, 20]);
    expect(await redis.arseek('a', '18446744073709551615')).to.equal(1);
    expect(await redis.arnext('a')).to.equal(null);
    expect(await redis.arop('a', 0, 9, 'sum')).to.equal(60);
    expect(await redis.arop('a', 0, 9, 'xor')).to.equal(0);
    expect(await redis.arop('a', 0, 9, { match: '20' })).to.equal(1);
    expect(await redis.arop('missing', 0, 9, 'max')).to.equal(null);
    expect(await redis.arring('ring', 2, 'one', 'two', 'three')).to.equal('0');
    expect(await redis.arlastitems('ring', 9)).to.deep.equal(['two', 'three']);
    const predicates = [{ match: 'E' }, { re: '^t' }];
    expect(await redis.argrep('ring', '-', '+', { predicates, combine: 'and', noCase: true })).to.deep.equal(['0']);
    expect(await redis.argrep('ring', '-', '+', { predicates: [{ glob: 't*' }], withValues: true })).to.deep.equal([
      ['0', 'three'],
      ['1', 'two'],
    ]);
    expect(await redis.arinfo('ring')).to.include({ count: 2, sliceSize: 4096, slices: 1 });
    expect(await redis.arinfo('ring', { full: true })).to.include({ sparseSlices: 1, denseSlices: 0 });
    expect(await failureOf(single.arinfo('missing'))).to.include('no such key');
    const [inserted, last] = await redis.multi().arinsert('b', 'x').arget('b', 0).exec();
    expect([inserted, last]).to.deep.equal(['0', 'x']);
    expect(await redis.eval("return redis.call('ARINSERT', KEYS[1], 'y')", ['b'], [])).to.equal(1);
    expect(await single.pipeline().arget('b', 1).arcount('b').exec()).to.deep.equal(['y', 2]);
  });

  it('vector commands make an index, fill it and find the nearest', async () => {
    const shape = { name: 'v', dimension: 3, metric: 'COSINE' } as const;
    const index = await redis.vector.createIndex(shape);
    expect(await index.info()).to.deep.equal({ dimension: 3, metric: 'COSINE' });
    await redis.vector.createIndex({ ...shape, existsOk: true });
    expect(await failureOf(redis.vector.createIndex(shape))).to.include('already exists');
    expect(await index.add('a', [1, 0, 0])).to.equal(1);
    expect(await index.add('a', [1, 0.5, 0])).to.equal(0);
    expect(await index.add('b', new Float32Array([0, 0, -2]))).to.equal(1);
    expect(await index.get('a')).to.deep.equal([1, 0.5, 0]);
    expect(await index.get('none')).to.equal(null);
    expect(await index.count()).to.equal(2);
    const [first, second] = await index.query({ vector: [0, 0, -1], topK: 5, profile: 'PRECISE' });
    expect(first).to.deep.equal({ id: 'b', score: 1 });
    expect(second).to.deep.equal({ id: 'a', score: 0.5 });
    expect(await failureOf(index.query({ vector: [1], topK: 1 }))).to.include('dimension mismatch');
    expect(await index.delete('a')).to.equal(1);
    expect(await redis.expire('v', 100)).to.equal(1);
    expect(await redis.copy('v', 'w')).to.equal('COPIED');
    expect(await index.drop()).to.equal(1);
    expect(await index.info()).to.equal(null);
    expect(await redis.vector.index('w').count()).to.equal(1);
  });
});
