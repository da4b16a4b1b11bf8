/** Commands of very many words run in slices, and do what they would do in one go. */
import { expect } from 'chai';
import { admit, type CommandSpec, KvEngine, type Reply } from '../../../src/domain/kv/index.js';
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
});
