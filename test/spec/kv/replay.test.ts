/** Proves KE3. */
import { expect } from 'chai';
import { digestOf, KvEngine, rebuildingCommands } from '../../../src/domain/kv/index.js';
import { KvBench, seededRandom } from '../../support/kv-bench.js';
import { NOW } from '../../support/kv-case.js';
import { RandomCommands } from '../../support/random-commands.js';

const NEWEST = 8;
const SEEDS = 40;
const FACTS = { nowMicros: () => 0, info: () => new Map() };

describe('key-value: replay', () => {
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    it(`of the effects gives the keyspace of the random commands, while time passes (seed ${seed})`, () => {
      const bench = new KvBench(seed);
      const commands = new RandomCommands(seed, NEWEST);
      const { float } = seededRandom(seed * 7919);
      for (let i = 0; i < 400; i += 1) {
        bench.line(commands.next());
        if (float() < 0.1) bench.nowMs += Math.floor(float() * 10_000_000);
        if (float() < 0.05) bench.expireDue(3);
        if (i % 50 === 0) bench.expectReplayed();
      }
      bench.expectReplayed();
    });
  }

  it('of the rebuilding commands gives the same keyspace', () => {
    const bench = new KvBench();
    for (const line of ['SET a 1', 'SET b \\x00\\xff PX 500', "SET '' ''", 'SET gone x PX 1']) bench.line(line);
    bench.nowMs = NOW + 100;
    const rebuilt = new KvEngine(seededRandom(1), FACTS);
    for (const [key, value, atMs] of bench.engine.keyspace.entries()) {
      for (const words of rebuildingCommands(key, value, atMs)) rebuilt.replay(words);
    }
    expect(digestOf(rebuilt)).to.equal(digestOf(bench.engine));
  });

  it('stops at an effect that does not apply', () => {
    const engine = new KvEngine(seededRandom(1), FACTS);
    engine.replay(['SET', 'k', 'abc']);
    expect(() => engine.replay(['NOSUCH', 'k'])).to.throw('the effect NOSUCH, which this program does not know');
    expect(() => engine.replay(['RENAME', 'missing', 'k'])).to.throw('refused');
  });
});
