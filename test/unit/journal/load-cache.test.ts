/** Proves BRE3. */
import { expect } from 'chai';
import { LoadCache } from '../../../src/journal/load-cache.js';

describe('journal: a cache of loaded objects', () => {
  const cacheOf = (maxBytes: number, maxLoads = 4) => new LoadCache<string>(({ length }) => length, maxBytes, maxLoads);

  it('loads an object once, for concurrent and for later callers', async () => {
    const cache = cacheOf(100);
    let loads = 0;
    const load = async () => `value ${++loads}`;
    expect(await Promise.all([cache.get('a', load), cache.get('a', load)])).to.deep.equal(['value 1', 'value 1']);
    expect(await cache.get('a', load)).to.equal('value 1');
  });

  it('removes the least recently used object as soon as it holds one byte too many', async () => {
    const cache = cacheOf(10);
    const loaded: string[] = [];
    const get = (key: string, value: string) =>
      cache.get(key, async () => {
        loaded.push(key);
        return value;
      });
    await get('a', '12345');
    await get('b', '12345');
    await get('a', '12345');
    await get('c', '1');
    await get('a', '12345');
    expect(loaded).to.deep.equal(['a', 'b', 'c']);
    await get('b', '12345');
    expect(loaded).to.deep.equal(['a', 'b', 'c', 'b']);
  });

  it('returns an object larger than itself without caching it', async () => {
    const cache = cacheOf(3);
    let loads = 0;
    const load = async () => `too large ${++loads}`;
    expect([await cache.get('a', load), await cache.get('a', load)]).to.deep.equal(['too large 1', 'too large 2']);
  });

  it('caches neither a failure nor a missing object', async () => {
    const cache = cacheOf(100);
    const failure = await cache
      .get('a', () => Promise.reject(new Error('not now')))
      .catch((error: Error) => error.message);
    expect(failure).to.equal('not now');
    expect(await cache.get('a', async () => undefined)).to.equal(undefined);
    expect(await cache.get('a', async () => 'found')).to.equal('found');
  });

  it('runs a bounded number of loads at a time, also when some fail', async () => {
    const cache = cacheOf(100, 2);
    let running = 0;
    let most = 0;
    const load = (i: number) => async () => {
      running += 1;
      most = Math.max(most, running);
      await new Promise((resolve) => setImmediate(resolve));
      running -= 1;
      if (i % 3 === 0) throw new Error('failed');
      return String(i);
    };
    const results = await Promise.allSettled(Array.from({ length: 9 }, (_, i) => cache.get(`key ${i}`, load(i))));
    expect(most).to.equal(2);
    expect(results.filter(({ status }) => status === 'fulfilled')).to.have.length(6);
  });
});
