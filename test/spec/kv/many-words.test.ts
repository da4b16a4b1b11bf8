/** Commands with very many words run in slices, with the same result as in one slice. */
import { expect } from 'chai';
import { admit, type CommandSpec, digestOf, KvEngine, type Reply } from '../../../src/domain/kv/index.js';
import { KvBench, readable, seededRandom } from '../../support/kv-bench.js';
import { NOW } from '../../support/kv-case.js';

/** Above the 2,000 words from which a command runs in slices, and enough for more than four slices of 500. */
const MANY = 2600;
/** Enough for more than four slices of 1,000. */
const MORE = 4200;
const keys = Array.from({ length: MANY }, (_, i) => `k${i}`);
const pairs = keys.flatMap((key, i) => [key, String(i)]);
const moreKeys = Array.from({ length: MORE }, (_, i) => `k${i}`);
const morePairs = moreKeys.flatMap((key, i) => [key, String(i)]);

describe('commands with many words', () => {
  const facts = { nowMicros: () => 0, info: () => new Map() };

  for (const [name, given, words, answer] of [
    ['MSET', [], ['MSET', ...morePairs], '+OK'],
    ['MSETNX', [], ['MSETNX', ...morePairs], 1],
    ['MGET', ['MSET', ...morePairs], ['MGET', ...moreKeys], moreKeys.map((_, i) => String(i))],
    ['EXISTS', ['MSET', ...morePairs], ['EXISTS', ...moreKeys, 'none'], MORE],
    ['TOUCH', ['MSET', ...morePairs], ['TOUCH', ...moreKeys], MORE],
    ['DEL', ['MSET', ...morePairs], ['DEL', ...moreKeys, 'none'], MORE],
    ['UNLINK', ['MSET', ...morePairs], ['UNLINK', ...moreKeys], MORE],
  ] as const) {
    it(`${name} is long, takes several slices and answers as in one slice`, () => {
      const bench = new KvBench();
      const engine = new KvEngine(seededRandom(1), facts);
      if (given.length > 0) {
        bench.run(given);
        for (const [i, key] of moreKeys.entries()) engine.keyspace.set(key, String(i));
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
  const placesOf = (names: readonly string[]) => names.flatMap((name, i) => [String(i % 180), String(i % 80), name]);
  const places = placesOf(keys);
  /** Above 5,000 keys, a search among them counts as long. */
  const found = Array.from({ length: 5001 }, (_, i) => `k${i}`);
  const fields = ['FIELDS', String(MANY), ...keys];
  const ids = keys.slice(0, 2500).map((_, i) => `${i + 1}-0`);
  const filled: (readonly string[])[] = [
    ['SADD', 's', ...keys],
    ['SADD', 'other', 'k1', 'x'],
    ['SADD', 'some', ...keys.slice(0, 100)],
    ['ZADD', 'z', ...members],
    ['HSET', 'h', ...pairs],
    ['GEOADD', 'g', ...placesOf(found)],
    ['PFADD', 'p', ...keys],
    ['RPUSH', 'l', 'a'],
    ...ids.map((id) => ['XADD', 'x', id, 'f', 'v']),
    ['XGROUP', 'CREATE', 'x', 'readers', '0'],
    ['XREADGROUP', 'GROUP', 'readers', 'one', 'COUNT', '500', 'STREAMS', 'x', '>'],
    ['ARMSET', 'ar', ...keys.flatMap((key, i) => [String(3 * i), key])],
    ['JSON.SET', 'j', '$', '{"a":[1],"b":{"a":[2]}}'],
  ];
  const KEYS = ['s', 'other', 'some', 'z', 'h', 'g', 'p', 'l', 'x', 'j', 'ar'];
  /** Fills only the keys of a command, because filling all takes longer than the command. */
  const filledFor = (words: readonly string[]) => {
    const named = new Set(words);
    const wanted = KEYS.filter((key) => words[0] === 'KEYS' || named.has(key));
    return filled.filter((line) => wanted.some((key) => line.includes(key)));
  };
  const many = (key: string) => keys.map(() => key);

  for (const words of [
    ['LPUSH', 'l', ...keys],
    ['RPUSH', 'new', ...keys],
    ['SADD', 'other', ...keys],
    ['SREM', 's', ...keys],
    ['SMISMEMBER', 'other', ...keys],
    ['SINTER', ...many('other')],
    ['SUNION', ...many('other')],
    ['SDIFF', 'some', ...many('other').slice(0, 2100)],
    ['SINTERCARD', String(MANY), ...many('other')],
    ['SINTERSTORE', 'd', ...many('other')],
    ['SDIFFSTORE', 'd', 'some', ...many('other').slice(0, 2100)],
    ['ZADD', 'new', ...members, ...members],
    ['ZREM', 'z', ...keys, ...keys],
    ['ZMSCORE', 'z', ...keys],
    ['ZINTER', String(MANY), ...many('other')],
    ['ZDIFF', '2101', 'some', ...many('other').slice(0, 2100)],
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
    ['PFCOUNT', ...many('p').slice(0, 2100)],
    ['PFMERGE', 'd', ...many('p').slice(0, 2100)],
    ['PFADD', 'p', 'a', 'l'.repeat(1_000_003), 'b'],
    ['MSETEX', String(MANY), ...pairs, 'EX', '100'],
    ['BITFIELD', 'b', ...keys.flatMap((_, i) => ['INCRBY', 'u8', `#${i % 10}`, '1'])],
    ['XDEL', 'x', ...ids],
    ['XDELEX', 'x', 'DELREF', 'IDS', String(ids.length), ...ids],
    ['XACK', 'x', 'readers', ...ids],
    ['XACKDEL', 'x', 'readers', 'IDS', String(ids.length), ...ids],
    ['XCLAIM', 'x', 'readers', 'two', '0', ...ids, 'FORCE'],
    ['XADD', 'x', '9999-0', ...pairs],
    ['ARSET', 'ar', '100', ...keys],
    ['ARMSET', 'ar', ...keys.flatMap((key, i) => [String(1000 * i), key])],
    ['ARMGET', 'ar', ...keys.map((_, i) => String(i))],
    ['ARINSERT', 'ar', ...keys],
    ['ARRING', 'ar', '500', ...keys],
    ['ARDEL', 'ar', ...keys.map((_, i) => String(2 * i))],
    ['JSON.ARRAPPEND', 'j', '$..a', ...keys.map((_, i) => String(i))],
    ['JSON.GET', 'j', ...keys.map((_, i) => `$.b.a[${i % 3}]`)],
    ['BITFIELD_RO', 's1', ...keys.flatMap(() => ['GET', 'u8', '0'])],
  ]) {
    it(`${words[0]} of ${words.length > 10 ? 'many' : 'long'} words takes slices, with the same answer and effects as in one slice`, () => {
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

    it(`${words[0]} of ${words.length > 10 ? 'many' : 'long'} words that is stopped at a pause has changed no data`, () => {
      const bench = new KvBench();
      const { engine } = bench;
      for (const line of filledFor(words)) bench.run(line);
      const look = () => [
        digestOf(engine),
        engine.keyspace.bytes,
        engine.keyspace.expiring,
        engine.keyspace.keysWithFieldExpiry,
      ];
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
    ['ARSCAN', 'ar', '0', '100000'],
    ['ARDELRANGE', 'ar', '0', '100000'],
    ['ARGREP', 'ar', '+', '-', 'RE', 'k.*7$', 'MATCH', '3', 'WITHVALUES'],
    ['AROP', 'ar', '0', '100000', 'USED'],
    ['KEYS', '*'],
  ]) {
    it(`${words[0]} pauses within its results, and answers as in one slice`, () => {
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

  it('look up at most some hundred set members between two pauses', () => {
    const engine = new KvEngine(seededRandom(1), facts);
    const few = keys.slice(0, 500);
    for (const words of [
      ['SADD', 's', ...few],
      ['SADD', 'other', 'x'],
      ['ZADD', 'z', ...few.flatMap((key) => ['1', key])],
    ]) {
      engine.execute(admit(words) as CommandSpec, words, NOW);
    }
    for (const words of [
      ['SINTER', ...Array.from({ length: 1000 }, () => 's')],
      ['SDIFF', 's', ...Array.from({ length: 999 }, () => 'other')],
      ['ZINTER', '1000', ...Array.from({ length: 1000 }, () => 'z')],
    ]) {
      const slices = engine.begin(admit(words) as CommandSpec, words);
      let count = 0;
      while (slices.next(NOW) === undefined) count += 1;
      expect(count, words[0]).to.be.greaterThan((few.length * 900) / 1000);
    }
  });
});
