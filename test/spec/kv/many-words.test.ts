/** Commands of very many words run in slices, and do what they would do in one go. */
import { expect } from 'chai';
import { admit, type CommandSpec, digestOf, KvEngine, type Reply } from '../../../src/domain/kv/index.js';
import { KvBench, readable, seededRandom } from '../../support/kv-bench.js';
import { NOW } from '../../support/kv-case.js';

const MANY = 5000;
const keys = Array.from({ length: MANY }, (_, i) => `k${i}`);
const pairs = keys.flatMap((key, i) => [key, String(i)]);

describe('commands of many words', () => {
  const facts = { nowMicros: () => 0, info: () => new Map() };

  for (const [name, given, words, answer] of [
    ['MSET', [], ['MSET', ...pairs], '+OK'],
    ['MSETNX', [], ['MSETNX', ...pairs], 1],
    ['MGET', ['MSET', ...pairs], ['MGET', ...keys], keys.map((_, i) => String(i))],
    ['EXISTS', ['MSET', ...pairs], ['EXISTS', ...keys, 'none'], MANY],
    ['TOUCH', ['MSET', ...pairs], ['TOUCH', ...keys], MANY],
    ['DEL', ['MSET', ...pairs], ['DEL', ...keys, 'none'], MANY],
    ['UNLINK', ['MSET', ...pairs], ['UNLINK', ...keys], MANY],
  ] as const) {
    it(`${name} is long, takes several slices and answers as in one go`, () => {
      const bench = new KvBench();
      const engine = new KvEngine(seededRandom(1), facts);
      if (given.length > 0) {
        bench.run(given);
        for (let i = 0; i < pairs.length; i += 2) engine.keyspace.set(pairs[i] as string, pairs[i + 1] as string);
      }
      const spec = admit(words) as CommandSpec;
      expect(engine.isLong(spec, words, NOW)).to.equal(true);
      expect(engine.isLong(spec, words.slice(0, 5), NOW)).to.equal(false);
      const slices = engine.begin(spec, words);
      let reply: Reply | undefined;
      let count = 0;
      while (reply === undefined) {
        reply = slices.next(NOW);
        count += 1;
      }
      expect(count).to.be.greaterThan(4);
      expect(readable(reply)).to.deep.equal(answer);
      expect(readable(bench.run(words).reply)).to.deep.equal(answer);
      expect(engine.keyspace.size).to.equal(bench.engine.keyspace.size);
      bench.expectReplayed();
    });
  }

  const members = keys.flatMap((key) => ['1', key]);
  const places = keys.flatMap((key, i) => [String(i % 180), String(i % 80), key]);
  const fields = ['FIELDS', String(MANY), ...keys];
  const ids = keys.slice(0, 2500).map((_, i) => `${i + 1}-0`);
  const filled: (readonly string[])[] = [
    ['SADD', 's', ...keys],
    ['SADD', 'other', 'k1', 'x'],
    ['ZADD', 'z', ...members],
    ['HSET', 'h', ...pairs],
    ['GEOADD', 'g', ...places],
    ['PFADD', 'p', ...keys],
    ['RPUSH', 'l', 'a'],
    ...ids.map((id) => ['XADD', 'x', id, 'f', 'v']),
    ['XGROUP', 'CREATE', 'x', 'readers', '0'],
    ['XREADGROUP', 'GROUP', 'readers', 'one', 'COUNT', '500', 'STREAMS', 'x', '>'],
    ['JSON.SET', 'j', '$', '{"a":[1],"b":{"a":[2]}}'],
  ];
  /** Streams for those alone that need them: they take long to fill. */
  const filledFor = ([name = '']: readonly string[]) =>
    filled.filter(([first = '']) => name.startsWith('X') || !first.startsWith('X'));
  const many = (key: string) => keys.map(() => key);

  for (const words of [
    ['LPUSH', 'l', ...keys],
    ['RPUSH', 'new', ...keys],
    ['SADD', 'other', ...keys],
    ['SREM', 's', ...keys],
    ['SMISMEMBER', 'other', ...keys],
    ['SINTER', ...many('other')],
    ['SUNION', ...many('other')],
    ['SDIFF', 's', ...many('other').slice(0, 2100)],
    ['SINTERCARD', String(MANY), ...many('other')],
    ['SINTERSTORE', 'd', ...many('other')],
    ['SDIFFSTORE', 'd', 's', ...many('other').slice(0, 2100)],
    ['ZADD', 'new', ...members, ...members],
    ['ZREM', 'z', ...keys, ...keys],
    ['ZMSCORE', 'z', ...keys],
    ['ZINTER', String(MANY), ...many('other')],
    ['ZDIFF', '2101', 's', ...many('other').slice(0, 2100)],
    ['ZUNIONSTORE', 'd', String(MANY), ...many('other')],
    ['ZINTERCARD', String(MANY), ...many('other')],
    ['ZMPOP', String(MANY), ...keys, 'MIN'],
    ['LMPOP', String(MANY), ...keys, 'LEFT'],
    ['HMGET', 'h', ...keys],
    ['HSET', 'new', ...pairs],
    ['HDEL', 'h', ...keys],
    ['HSETEX', 'h', 'EX', '100', 'FIELDS', String(MANY), ...pairs],
    ['HEXPIRE', 'h', '100', ...fields],
    ['HTTL', 'h', ...fields],
    ['HPERSIST', 'h', ...fields],
    ['HGETEX', 'h', 'EX', '100', ...fields],
    ['HGETDEL', 'h', ...fields],
    ['GEOADD', 'new', ...places],
    ['GEOPOS', 'g', ...keys],
    ['GEOHASH', 'g', ...keys],
    ['PFCOUNT', ...many('p')],
    ['PFMERGE', 'd', ...many('p')],
    ['PFADD', 'p', 'a', 'l'.repeat(1_000_003), 'b'],
    ['MSETEX', String(MANY), ...pairs, 'EX', '100'],
    ['BITFIELD', 'b', ...keys.flatMap((_, i) => ['INCRBY', 'u8', `#${i % 10}`, '1'])],
    ['XDEL', 'x', ...ids],
    ['XDELEX', 'x', 'DELREF', 'IDS', String(ids.length), ...ids],
    ['XACK', 'x', 'readers', ...ids],
    ['XACKDEL', 'x', 'readers', 'IDS', String(ids.length), ...ids],
    ['XCLAIM', 'x', 'readers', 'two', '0', ...ids, 'FORCE'],
    ['XADD', 'x', '9999-0', ...pairs],
    ['JSON.ARRAPPEND', 'j', '$..a', ...keys.map((_, i) => String(i))],
    ['JSON.GET', 'j', ...keys.map((_, i) => `$.b.a[${i % 3}]`)],
    ['BITFIELD_RO', 's1', ...keys.flatMap(() => ['GET', 'u8', '0'])],
  ]) {
    it(`${words[0]} of ${words.length > 10 ? 'many' : 'long'} words takes slices, and says and does what it does in one go`, () => {
      const whole = new KvBench();
      const sliced = new KvBench();
      for (const line of filledFor(words)) {
        whole.run(line);
        sliced.run(line);
      }
      const { engine } = sliced;
      const spec = admit(words) as CommandSpec;
      expect(engine.isLong(spec, words, NOW)).to.equal(true);
      const slices = engine.begin(spec, words);
      let reply: Reply | undefined;
      let count = 0;
      for (; reply === undefined; count += 1) reply = slices.next(NOW);
      expect(count).to.be.greaterThan(4);
      expect(readable(reply)).to.deep.equal(readable(whole.run(words).reply));
      expect(digestOf(engine)).to.deep.equal(digestOf(whole.engine));
    });

    it(`${words[0]} of ${words.length > 10 ? 'many' : 'long'} words that is stopped at one of its pauses has done nothing`, () => {
      const bench = new KvBench();
      const { engine } = bench;
      for (const line of filledFor(words)) bench.run(line);
      const look = () => [digestOf(engine), engine.keyspace.bytes, engine.keyspace.expiring, engine.keyspace.perishing];
      const before = look();
      const spec = admit(words) as CommandSpec;
      let isDone = false;
      for (let pauses = 1; !isDone; pauses *= 8) {
        const slices = engine.begin(spec, words);
        for (let i = 0; i < pauses; i += 1) isDone ||= slices.next(NOW) !== undefined;
        if (isDone) break;
        expect(readable(slices.stop('it was too much'))).to.equal('-ERR command stopped: it was too much');
        expect([engine.effects.take().length, ...look()]).to.deep.equal([0, ...before]);
      }
    });
  }

  for (const words of [
    ['GEOSEARCH', 'g', 'FROMLONLAT', '90', '40', 'BYRADIUS', '20000', 'km', 'ASC', 'WITHDIST'],
    ['GEOSEARCHSTORE', 'd', 'g', 'FROMLONLAT', '90', '40', 'BYRADIUS', '20000', 'km', 'DESC'],
    ['SORT', 's', 'ALPHA', 'DESC', 'GET', '#', 'GET', 'w_*'],
    ['XAUTOCLAIM', 'x', 'readers', 'two', '0', '0', 'COUNT', '5000'],
    ['KEYS', '*'],
  ]) {
    it(`${words[0]} pauses among what it finds, and answers as in one go`, () => {
      const whole = new KvBench();
      const sliced = new KvBench();
      for (const line of [...filledFor(words), ['GEOADD', 'g', '1', '1', 'last', '2', '2', 'very-last']]) {
        whole.run(line);
        sliced.run(line);
      }
      const { engine } = sliced;
      const spec = admit(words) as CommandSpec;
      expect(engine.isLong(spec, words, NOW)).to.equal(true);
      const slices = engine.begin(spec, words);
      let reply: Reply | undefined;
      while (reply === undefined) reply = slices.next(NOW);
      expect(readable(reply)).to.deep.equal(readable(whole.run(words).reply));
      expect(digestOf(engine)).to.deep.equal(digestOf(whole.engine));
    });
  }

  it('looks at most some hundred times into sets between two pauses', () => {
    const engine = new KvEngine(seededRandom(1), facts);
    for (const words of filled) engine.execute(admit(words) as CommandSpec, words, NOW);
    for (const words of [
      ['SINTER', ...Array.from({ length: 1000 }, () => 's')],
      ['SDIFF', 's', ...Array.from({ length: 999 }, () => 'other')],
      ['ZINTER', '1000', ...Array.from({ length: 1000 }, () => 'z')],
    ]) {
      const slices = engine.begin(admit(words) as CommandSpec, words);
      let count = 0;
      while (slices.next(NOW) === undefined) count += 1;
      expect(count, words[0]).to.be.greaterThan((MANY * 900) / 1000);
    }
  });
});
