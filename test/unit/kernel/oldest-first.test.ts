import { expect } from 'chai';
import { OldestFirst } from '../../../src/kernel/index.js';

describe('the oldest of a map', () => {
  it('come in the order of their insertion, while newer ones are added', () => {
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

  it('passes over what was removed by others, and counts what is set anew as new', () => {
    const set = new Set(['a', 'b', 'c', 'd']);
    const oldest = new OldestFirst(set);
    set.delete('a');
    set.delete('b');
    set.add('b');
    expect([oldest.next(), oldest.next(), oldest.next()]).to.deep.equal(['c', 'd', 'b']);
  });

  it('is nothing where nothing is, also after a clear, and goes on with what comes', () => {
    const map = new Map([[1, '']]);
    const oldest = new OldestFirst(map);
    map.clear();
    expect(oldest.next()).to.equal(undefined);
    map.set(2, '');
    expect(oldest.next()).to.equal(2);
  });

  it('finds again what was left standing', () => {
    const map = new Map([[1, '']]);
    const oldest = new OldestFirst(map);
    expect([oldest.next(), oldest.next()]).to.deep.equal([1, 1]);
  });
});
