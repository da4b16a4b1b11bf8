import { expect } from 'chai';
import { SplitMap } from '../../../../src/domain/queue/collections/split-map.js';

describe('split map', () => {
  it('behaves like a Map', () => {
    const map = new SplitMap<string, number>();
    for (let at = 0; at < 5000; at += 1) map.set(`key ${at}`, at);
    map.set('key 7', -7);
    expect(map.size).to.equal(5000);
    expect(map.get('key 7')).to.equal(-7);
    expect(map.delete('key 7')).to.equal(true);
    expect(map.delete('key 7')).to.equal(false);
    expect(map.has('key 7')).to.equal(false);
    expect([...map.values()].length).to.equal(4999);
  });

  it('iterates like a map that was built in the same order', () => {
    const map = new SplitMap<string, string>();
    for (let at = 0; at < 5000; at += 1) map.set(`key ${at * 7919}`, `key ${at * 7919}`);
    const copy = new SplitMap<string, string>();
    for (const value of map.values()) copy.set(value, value);
    expect([...copy.values()]).to.deep.equal([...map.values()]);
  });

  it('spreads ids evenly', () => {
    const map = new SplitMap<string, number>();
    for (let at = 0; at < 50_000; at += 1) map.set(`${1_700_000_000_000 + at * 13}-${at}`, at);
    expect(Math.max(...[...map.parts()].map((part) => part.size))).to.be.lessThan(200);
  });
});
