/** Proves EDS1. */
import { expect } from 'chai';
import { Effects, Keyspace } from '../../../../src/domain/kv/index.js';
import { BitString, MIN_BIT_STRING_BYTES } from '../../../../src/domain/kv/types/bit-string.js';

describe('a string under edit', () => {
  const long = 'x'.repeat(MIN_BIT_STRING_BYTES);

  function edited(): { keyspace: Keyspace; bits: BitString } {
    const keyspace = new Keyspace(new Effects());
    keyspace.set('k', long);
    const bits = keyspace.fetchBits('k') as BitString;
    bits.setByte(0, 0x79);
    keyspace.edited('k', bits, bits.length);
    return { keyspace, bits };
  }

  it('is read as a normal string', () => {
    const expected = `y${long.slice(1)}`;
    expect(edited().keyspace.peek('k')).to.equal(expected);
    expect(edited().keyspace.fetch('k')).to.equal(expected);
    expect([...edited().keyspace.entries()]).to.deep.equal([['k', expected, undefined]]);
    expect(edited().keyspace.scan(0, 10).entries).to.deep.equal([['k', expected]]);
  });

  it('stays under edit while single bits are read', () => {
    const { keyspace, bits } = edited();
    expect(keyspace.peekBits('k')).to.equal(bits);
    expect(keyspace.fetchBits('k')).to.equal(bits);
  });

  it('is counted with its current length', () => {
    const { keyspace, bits } = edited();
    const before = keyspace.bytes;
    const { length } = bits;
    bits.extend(length + 100);
    keyspace.edited('k', bits, length);
    expect(keyspace.bytes).to.equal(before + 100);
    keyspace.delete('k');
    expect([keyspace.bytes, keyspace.size, keyspace.peek('k')]).to.deep.equal([0, 0, undefined]);
  });

  it('is gone when it is replaced, or has expired', () => {
    const { keyspace } = edited();
    keyspace.set('k', 'short', 50);
    expect(keyspace.peekBits('k')).to.equal('short');
    expect(keyspace.bytes).to.equal(6);
    keyspace.set('k', long, 50);
    expect(keyspace.fetchBits('k')).to.be.instanceOf(BitString);
    keyspace.nowMs = 51;
    expect(keyspace.peekBits('k')).to.equal(undefined);
    expect(keyspace.fetchBits('k')).to.equal(undefined);
    expect(keyspace.size).to.equal(0);
  });

  it('becomes a normal string again when four others are edited', () => {
    const { keyspace, bits } = edited();
    for (let i = 0; i < 4; i += 1) {
      keyspace.set(`other:${i}`, long);
      keyspace.fetchBits(`other:${i}`);
    }
    expect(keyspace.peekBits('k')).to.equal(bits.text);
  });
});
