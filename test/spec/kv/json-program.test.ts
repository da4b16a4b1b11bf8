/**
 * No server with the JSON module is available: random programs prove the properties that need no comparison. Proves
 * JD1.
 */
import { expect } from 'chai';
import { inOneStep, JsonDocument, measured } from '../../../src/domain/kv/types/json/index.js';
import { KvBench, readable } from '../../support/kv-bench.js';
import { Dice } from '../../support/random-programs/index.js';
import { json } from '../../support/random-programs/json.js';

/** A path to exactly one value. */
const CONCRETE = /^\$(\[\d+\]|\["([^"\\]|\\["\\])*"\])*$/;

const SEEDS = Number(process.env.JSON_SEEDS ?? 20);
const STEPS = 500;

describe('key-value: random programs of the JSON family', () => {
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    it(`replay and are rebuilt to the same documents, with the same byte counts (seed ${seed})`, () => {
      const bench = new KvBench(seed);
      bench.onEffect = ([name = '', , path = '']) => {
        if (name.startsWith('JSON.')) expect(path, name).to.match(CONCRETE);
      };
      const dice = new Dice(seed);
      const shapes = json(dice, 8);
      let answered = 0;
      for (let step = 0; step < STEPS; step += 1) {
        const words = dice.pick(shapes)();
        const { reply, effects } = bench.run(words);
        const text = JSON.stringify(readable(reply), (_, value) => (typeof value === 'bigint' ? `${value}` : value));
        if (/^"-[A-Z]/.test(text)) expect(effects, `${words.join(' ')}: ${text}`).to.deep.equal([]);
        else answered += 1;
        if (step % 25 === 0) expectSound(bench);
      }
      expectSound(bench);
      expect(answered).to.be.greaterThan(STEPS / 3);
    });
  }
});

function expectSound(bench: KvBench): void {
  bench.expectReplayed();
  bench.expectRebuilt();
  for (const [, value] of bench.engine.keyspace.entries()) {
    if (value instanceof JsonDocument) expect(value.bytes).to.equal(inOneStep(measured(value.root)));
  }
}
