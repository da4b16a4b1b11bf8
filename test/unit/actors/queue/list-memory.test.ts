import { expect } from 'chai';
import { ListMemory } from '../../../../src/actors/queue/list-memory.js';

const KIB = 1024;

describe('the memory for entry lists', () => {
  it('accepts lists up to the bound of one list', () => {
    expect(new ListMemory({ inlineBytes: 100 * KIB, inFlightBytes: 1000 * KIB }).maxBytes).to.equal(100 * KIB);
  });

  it('accepts shorter lists as it fills, and short ones always', () => {
    const room = new ListMemory({ inlineBytes: 100 * KIB, inFlightBytes: 150 * KIB });
    room.take(100 * KIB);
    expect(room.maxBytes).to.equal(50 * KIB);
    room.take(50 * KIB);
    expect(room.maxBytes).to.equal(16 * KIB);
    room.take(16 * KIB);
    expect(room.maxBytes).to.equal(16 * KIB);
    room.giveBack(100 * KIB);
    expect(room.maxBytes).to.equal(84 * KIB);
  });

  it('accepts long lists that the endpoint cannot fetch up to the bound, and at least one', () => {
    const room = new ListMemory({ inlineBytes: 10 * KIB, inFlightBytes: 100 * KIB });
    expect([60, 60, 40].map((kib) => room.takeLong(kib * KIB))).to.deep.equal([true, false, true]);
    room.giveBackLong(60 * KIB);
    room.giveBackLong(40 * KIB);
    expect(room.takeLong(1000 * KIB)).to.equal(true);
    expect(room.takeLong(1)).to.equal(false);
    expect(room.maxBytes).to.equal(10 * KIB);
  });

  it('accepts no list when the bound of one is 0', () => {
    expect(new ListMemory({ inlineBytes: 0, inFlightBytes: 1000 * KIB }).maxBytes).to.equal(0);
  });
});
