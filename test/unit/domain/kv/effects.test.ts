import { expect } from 'chai';
import { Effects } from '../../../../src/domain/kv/effects.js';

/** Enough that some of them are encoded early. */
const MANY = 5000;
const word = (i: number) => `word-${i}`;
const encoded = (words: readonly string[]) =>
  `*${words.length}\r\n${words.map((one) => `$${one.length}\r\n${one}\r\n`).join('')}`;

function pushed(count: number): { effects: Effects; resp: string[] } {
  const effects = new Effects();
  const resp: string[] = [];
  for (let i = 0; i < count; i += 1) {
    effects.push('DEL', word(i));
    resp.push(encoded(['DEL', word(i)]));
  }
  return { effects, resp };
}

const takenFrom = (effects: Effects) => effects.take().toString('latin1');

describe('effects with very many words', () => {
  it('are taken in the order in which they were pushed', () => {
    const { effects, resp } = pushed(MANY);
    expect([effects.count, effects.bytes]).to.deep.equal([MANY, resp.join('').length]);
    expect(takenFrom(effects)).to.equal(resp.join(''));
    expect([effects.count, effects.bytes]).to.deep.equal([0, 0]);
  });

  it('are encoded to the same bytes in slices as in one call', () => {
    const words = Array.from({ length: MANY }, (_, i) => word(i));
    const effects = new Effects();
    let slices = 0;
    for (const _ of effects.pushLong('SADD', words)) slices += 1;
    effects.pushSet('k', 'v');
    expect(slices).to.equal(5);
    expect(takenFrom(effects)).to.equal(encoded(['SADD', ...words]) + encoded(['SET', 'k', 'v']));
  });

  for (const kept of [0, 1, 700, 1500, MANY - 1, MANY]) {
    const bytesOf = (resp: readonly string[]) => resp.slice(0, kept).join('').length;

    it(`can be dropped after the first ${kept}`, () => {
      const { effects, resp } = pushed(MANY);
      effects.rollBack(kept, bytesOf(resp));
      effects.push('DEL', 'next');
      expect(effects.count).to.equal(kept + 1);
      expect(takenFrom(effects)).to.equal(resp.slice(0, kept).join('') + encoded(['DEL', 'next']));
    });

    it(`are taken up to the first ${kept} while the later ones are held, and the rest after release`, () => {
      const { effects, resp } = pushed(kept);
      effects.hold();
      for (let i = kept; i < MANY; i += 1) effects.push('DEL', word(i));
      expect(takenFrom(effects)).to.equal(resp.join(''));
      expect([effects.count, effects.hasHeld]).to.deep.equal([MANY - kept, kept < MANY]);
      expect(takenFrom(effects)).to.equal('');
      effects.letGo();
      effects.push('DEL', 'next');
      const others = Array.from({ length: MANY - kept }, (_, i) => encoded(['DEL', word(kept + i)]));
      expect(takenFrom(effects)).to.equal(others.join('') + encoded(['DEL', 'next']));
    });

    it(`are dropped after the first ${kept} when the later ones were held`, () => {
      const { effects, resp } = pushed(kept);
      effects.hold();
      for (let i = kept; i < MANY; i += 1) effects.push('DEL', word(i));
      effects.drop();
      effects.push('DEL', 'next');
      expect(takenFrom(effects)).to.equal(resp.join('') + encoded(['DEL', 'next']));
    });
  }
});
