import { expect } from 'chai';
import { OldestFirst } from '../../../src/kernel/index.js';

describe('the oldest entry of a map', () => {
  it('is returned in the order of insertion, while newer ones are added', () => {
    const map = new Map<number, string>();
    const oldest = new OldestFirst(map);
    const left: (number | undefined)[] = [];
    for (let n = 0; n < 10_000; n += 1) {
      map.set(n, '');
      if (map.size <= 100) continue;
      const first = oldest.next();
      left.push(first);
      map.delete(first as number);
    }
    expect(left).to.deep.equal(Array.from({ length: 9900 }, (_, n) => n));
    expect([...map.keys()]).to.deep.equal(Array.from({ length: 100 }, (_, n) => 9900 + n));
  });

  it('skips entries that others removed, and treats an entry that was set again as new', () => {
    const set = new Set(['a', 'b', 'c', 'd']);
    const oldest = new OldestFirst(set);
    set.delete('a');
    set.delete('b');
    set.add('b');
    expect([oldest.next(), oldest.next(), oldest.next()]).to.deep.equal(['c', 'd', 'b']);
  });

  it('is undefined in an empty map, also after a clear, and continues with new entries', () => {
    const map = new Map([[1, '']]);
    const oldest = new OldestFirst(map);
    map.clear();
    expect(oldest.next()).to.equal(undefined);
    map.set(2, '');
    expect(oldest.next()).to.equal(2);
  });

  it('is returned again when it was not removed', () => {
    const map = new Map([[1, '']]);
    const oldest = new OldestFirst(map);
    expect([oldest.next(), oldest.next()]).to.deep.equal([1, 1]);
  });
});
