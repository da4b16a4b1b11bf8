import { expect } from 'chai';
import { digestOf, KvEngine } from '../../../../src/domain/kv/index.js';
import { seededRandom } from '../../../support/kv-bench.js';

function engineOf(...entries: [string, string, number?][]): KvEngine {
  const engine = new KvEngine(seededRandom(1), { nowMicros: () => 0, info: () => new Map() });
  for (const [key, value, atMs] of entries) engine.keyspace.set(key, value, atMs);
  return engine;
}

describe('the digest of a keyspace', () => {
  const base = digestOf(engineOf(['a', '1'], ['b', '2', 500]));

  it('does not depend on the order of keys', () => {
    expect(digestOf(engineOf(['b', '2', 500], ['a', '1']))).to.equal(base);
  });

  it('does not depend on earlier contents', () => {
    const engine = engineOf(['b', '2', 500], ['c', '3', 9], ['a', 'x', 7]);
    engine.keyspace.delete('c');
    engine.keyspace.set('a', '1');
    expect(digestOf(engine)).to.equal(base);
  });

  it('is zero for an empty keyspace', () => {
    expect(digestOf(engineOf())).to.equal('0'.repeat(32));
  });

  const others: [string, KvEngine][] = [
    ['a name', engineOf(['A', '1'], ['b', '2', 500])],
    ['a value', engineOf(['a', '1 '], ['b', '2', 500])],
    ['an expiry', engineOf(['a', '1'], ['b', '2', 501])],
    ['whether there is an expiry', engineOf(['a', '1'], ['b', '2'])],
    ['which key has which value', engineOf(['a', '2'], ['b', '1', 500])],
    ['where a name ends', engineOf(['a1', ''], ['b', '2', 500])],
    ['a value that looks like an option', engineOf(['a', '1'], ['b', '2'], ['PXAT', '500'])],
  ];
  for (const [part, engine] of others) {
    it(`depends on ${part}`, () => expect(digestOf(engine)).not.to.equal(base));
  }
});
