import { expect } from 'chai';
import { digestOf, Effects, Keyspace } from '../../../../src/domain/kv/index.js';

function keyspaceOf(...entries: [string, string, number?][]): Keyspace {
  const keyspace = new Keyspace(new Effects());
  for (const [key, value, atMs] of entries) keyspace.set(key, value, atMs);
  return keyspace;
}

describe('the digest of a keyspace', () => {
  const base = digestOf(keyspaceOf(['a', '1'], ['b', '2', 500]));

  it('does not depend on the order', () => {
    expect(digestOf(keyspaceOf(['b', '2', 500], ['a', '1']))).to.equal(base);
  });

  it('does not depend on what was there before', () => {
    const keyspace = keyspaceOf(['b', '2', 500], ['c', '3', 9], ['a', 'x', 7]);
    keyspace.delete('c');
    keyspace.set('a', '1');
    expect(digestOf(keyspace)).to.equal(base);
  });

  it('is zero for nothing', () => {
    expect(digestOf(keyspaceOf())).to.equal('0'.repeat(32));
  });

  const others: [string, Keyspace][] = [
    ['a name', keyspaceOf(['A', '1'], ['b', '2', 500])],
    ['a value', keyspaceOf(['a', '1 '], ['b', '2', 500])],
    ['an expiry', keyspaceOf(['a', '1'], ['b', '2', 501])],
    ['whether there is an expiry', keyspaceOf(['a', '1'], ['b', '2'])],
    ['which key has which value', keyspaceOf(['a', '2'], ['b', '1', 500])],
    ['where a name ends', keyspaceOf(['a1', ''], ['b', '2', 500])],
    ['a value that looks like an option', keyspaceOf(['a', '1'], ['b', '2'], ['PXAT', '500'])],
  ];
  for (const [what, keyspace] of others) {
    it(`depends on ${what}`, () => expect(digestOf(keyspace)).not.to.equal(base));
  }
});
