/** Proves AID1, AID2. */
import { expect } from 'chai';
import { AcceptedIds } from '../../../../src/domain/queue/model/messages/accepted-ids.js';

const MINUTE_MS = 60_000;

describe('accepted ids', () => {
  it('are known for at least ten minutes, and forgotten after messages in eleven later minutes', () => {
    const ids = new AcceptedIds();
    ids.add('a', 0);
    for (let minute = 1; minute <= 10; minute += 1) ids.add(`in ${minute}`, minute * MINUTE_MS);
    expect(ids.has('a')).to.equal(true);
    ids.add('in 11', 11 * MINUTE_MS);
    expect(ids.has('a')).to.equal(false);
    expect(ids.has('in 1')).to.equal(true);
  });

  it('are kept over a downtime of any length, because the intake delivers afterwards', () => {
    const ids = new AcceptedIds();
    ids.add('asked and told', 0);
    ids.add('the first message after a day', 24 * 60 * MINUTE_MS);
    expect(ids.has('asked and told')).to.equal(true);
  });

  it('grow by moving one table, which holds a part of a minute (AID2)', () => {
    const largest: number[] = [];
    const Words = globalThis.Uint32Array;
    class Noted extends Words {
      constructor(length: number) {
        super(length);
        largest.push(length);
      }
    }
    const perMinute = 100_000;
    globalThis.Uint32Array = Noted as unknown as typeof Words;
    try {
      const ids = new AcceptedIds();
      for (let at = 0; at < 3 * perMinute; at += 1) ids.add(`msg_${at}`, Math.floor(at / perMinute) * MINUTE_MS);
      expect(ids.sizeAt(2 * MINUTE_MS)).to.equal(3 * perMinute);
    } finally {
      globalThis.Uint32Array = Words;
    }
    expect(largest.length).to.be.greaterThan(1000);
    // Two numbers for each id, with room to grow, of a table among 256.
    expect(Math.max(...largest)).to.be.below((perMinute / 256) * 2 * 2);
  });

  it('are distinguished, also in large numbers', () => {
    const ids = new AcceptedIds();
    for (let at = 0; at < 50_000; at += 1) ids.add(`msg_${at}`, at);
    for (let at = 0; at < 50_000; at += 1) expect(ids.has(`msg_${at}`)).to.equal(true);
    let strangers = 0;
    for (let at = 50_000; at < 150_000; at += 1) if (ids.has(`msg_${at}`)) strangers += 1;
    expect(strangers).to.equal(0);
  });

  it('take less than 12 bytes each in a snapshot, and are restored from it', () => {
    const ids = new AcceptedIds();
    for (let at = 0; at < 10_000; at += 1) ids.add(`msg_${at}`, at * 20);
    const packed = [...ids.packed()];
    expect(packed.reduce((sum, one) => sum + one.packed.length, 0)).to.equal(80_000);
    const copy = new AcceptedIds();
    for (const one of packed) copy.restore(one);
    for (let at = 0; at < 10_000; at += 1) expect(copy.has(`msg_${at}`)).to.equal(true);
    expect([...copy.packed()]).to.deep.equal(packed);
  });

  it('include an id that was looked up before it was accepted or restored', () => {
    const ids = new AcceptedIds();
    expect(ids.has('msg_1')).to.equal(false);
    expect(ids.has('msg_1')).to.equal(false);
    ids.add('msg_1', 0);
    expect(ids.has('msg_1')).to.equal(true);
    const restored = new AcceptedIds();
    expect(restored.has('msg_1')).to.equal(false);
    for (const packed of ids.packed()) restored.restore(packed);
    expect(restored.has('msg_1')).to.equal(true);
  });
});
