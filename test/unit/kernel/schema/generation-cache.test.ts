import { expect } from 'chai';
import { GenerationCache } from '../../../../src/kernel/schema/generation-cache.js';

describe('GenerationCache', () => {
  it('holds at most two generations of its weight, and forgets the older one first', () => {
    const cache = new GenerationCache<number, string>(10);
    for (let key = 0; key < 100; key += 1) {
      cache.set(key, `${key}`, 3);
      expect(cache.size).to.be.at.most(6);
    }
    expect(cache.get(99)).to.equal('99');
    expect(cache.get(0)).to.equal(undefined);
  });

  it('does not keep a value heavier than a generation', () => {
    const cache = new GenerationCache<string, string>(10);
    cache.set('light', 'kept', 10);
    cache.set('heavy', 'not kept', 11);
    expect([cache.get('light'), cache.get('heavy')]).to.deep.equal(['kept', undefined]);
  });

  it('keeps a value that is used, for any number of new ones', () => {
    const cache = new GenerationCache<string, string>(10);
    cache.set('asked', 'kept', 1);
    for (let key = 0; key < 100; key += 1) {
      cache.set(`${key}`, '', 1);
      expect(cache.get('asked')).to.equal('kept');
    }
  });
});
