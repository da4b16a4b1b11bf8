/** Proves AR1–AR3. */
import { expect } from 'chai';
import { AnswerMemory } from '../../../../src/adapters/http-delivery/answer-memory.js';

const ROOM = 1000;

describe('the memory for long answers', () => {
  let room: AnswerMemory;
  let went: string[];

  beforeEach(() => {
    room = new AnswerMemory(ROOM);
    went = [];
  });

  function place(tenant: string, bytes = 10) {
    const made = { tenant, bytes, goOn: () => void went.push(tenant) };
    return { made, isTaken: room.take(made) };
  }

  it('gives one tenant at most three quarters, and keeps some for each later tenant', () => {
    for (let n = 0; n < 200; n += 1) place('a');
    expect(room.usedBytes).to.be.within(700, 800);
    for (const tenant of 'bcdefghij') expect(place(tenant).isTaken, tenant).to.equal(true);
    expect(room.usedBytes).to.be.at.most(ROOM);
  });

  it('wakes waiting answers in order when memory is returned, each once', () => {
    const first = Array.from({ length: 200 }, () => place('a'));
    const waited = first.filter(({ isTaken }) => !isTaken).length;
    expect(room.waitingCount).to.equal(waited);
    for (const { made, isTaken } of first) if (isTaken) room.giveBack(made);
    expect(went).to.have.length(first.length - waited);
    for (const { made, isTaken } of first) if (!isTaken) room.giveBack(made);
    expect(room.usedBytes).to.equal(0);
    expect(room.waitingCount).to.equal(0);
  });

  it('forgets an answer that ended while it waited', () => {
    const large = place('a', ROOM);
    const other = place('b');
    room.giveBack(other.made);
    room.giveBack(large.made);
    expect(went).to.deep.equal([]);
    expect(room.usedBytes).to.equal(0);
  });

  it('admits one answer that is larger than all of it, and is then full', () => {
    expect(place('a', 10 * ROOM).isTaken).to.equal(true);
    expect(room.usedBytes).to.equal(ROOM);
    expect(place('b').isTaken).to.equal(false);
  });
});
