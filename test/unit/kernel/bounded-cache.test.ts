import { expect } from 'chai';
import { BoundedCache, getOrCreate } from '../../../src/kernel/index.js';

describe('a bounded cache', () => {
  it('getOrCreate creates a value once', () => {
    const cache = new BoundedCache<string, number>(10);
    let looks = 0;
    const find = () => {
      looks += 1;
      return 7;
    };
    expect([getOrCreate(cache, 'a', find), getOrCreate(cache, 'a', find), looks]).to.deep.equal([7, 7, 1]);
  });

  it('is emptied by an entry above its bound, and not by an existing key', () => {
    const cache = new BoundedCache<string, number>(2);
    cache.set('a', 1).set('b', 2).set('a', 3);
    expect([...cache]).to.deep.equal([
      ['a', 3],
      ['b', 2],
    ]);
    cache.set('c', 4);
    expect([...cache]).to.deep.equal([['c', 4]]);
  });
});
