import { expect } from 'chai';
import { ListMemory } from '../../../../src/actors/queue/list-memory.js';

const KIB = 1024;

describe('the room for lists of entries', () => {
  it('takes lists up to the bound of one', () => {
    expect(new ListMemory({ inlineBytes: 100 * KIB, inFlightBytes: 1000 * KIB }).maxBytes).to.equal(100 * KIB);
  });

  it('takes shorter ones when it fills, and short ones always', () => {
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

  it('takes long ones that nobody can fetch beside them, one at least', () => {
    const room = new ListMemory({ inlineBytes: 10 * KIB, inFlightBytes: 100 * KIB });
    expect([60, 60, 40].map((kib) => room.takeLong(kib * KIB))).to.deep.equal([true, false, true]);
    room.giveBackLong(60 * KIB);
    room.giveBackLong(40 * KIB);
    expect(room.takeLong(1000 * KIB)).to.equal(true);
    expect(room.takeLong(1)).to.equal(false);
    expect(room.maxBytes).to.equal(10 * KIB);
  });

  it('takes none where the bound of one says so', () => {
    expect(new ListMemory({ inlineBytes: 0, inFlightBytes: 1000 * KIB }).maxBytes).to.equal(0);
  });
});
