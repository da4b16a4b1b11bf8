/** Proves DR1, DR2. */
import { expect } from 'chai';
import { DeliveryPlaces } from '../../../../src/actors/queue/index.js';
import type { AccountId } from '../../../../src/kernel/index.js';

const A = 'ac-aaaaaaaaaaaaaaaa' as AccountId;
const B = 'ac-bbbbbbbbbbbbbbbb' as AccountId;

describe('the delivery places of a process', () => {
  it('are never exceeded, and can be used up by as many accounts as there are places', () => {
    const room = new DeliveryPlaces(16);
    for (let n = 0; n < 16; n += 1) {
      const account = `ac-${n}` as AccountId;
      for (; room.roomFor(account) > 0; room.take(account, 1)) expect(room.inFlight).to.be.lessThan(16);
    }
    expect(room.inFlight).to.equal(16);
    expect(room.roomFor(A)).to.equal(0);
  });

  it('keep a part free for others while one account has much to send', () => {
    const room = new DeliveryPlaces(80);
    while (room.roomFor(A) > 0) room.take(A, room.roomFor(A));
    expect(room.inFlight).to.equal(63);
    expect(room.roomFor(B)).to.equal(10);
  });

  it('keep a place for one more account, for any number of accounts at their limit', () => {
    for (const count of [1, 3, 15]) {
      const room = new DeliveryPlaces(1000);
      for (let n = 0; n < count; n += 1) {
        const account = `ac-${n}` as AccountId;
        while (room.roomFor(account) > 0) room.take(account, room.roomFor(account));
      }
      expect(room.roomFor(A), `beside ${count}`).to.be.at.least(1);
    }
  });

  it('go to the account with fewer places when some become free', () => {
    const room = new DeliveryPlaces(80);
    room.take(A, 63);
    room.take(B, 11);
    room.release(A, 5);
    expect(room.roomFor(A)).to.equal(0);
    expect(room.roomFor(B)).to.equal(3);
  });

  it('include one for an account even where an eighth of them is less than one', () => {
    const room = new DeliveryPlaces(1);
    expect(room.roomFor(A)).to.equal(1);
    room.take(A, 1);
    expect(room.roomFor(B)).to.equal(0);
    room.release(A, 1);
    expect(room.roomFor(B)).to.equal(1);
  });

  it('wake each waiter once when a place becomes free', () => {
    const room = new DeliveryPlaces(1);
    let woken = 0;
    const wake = () => {
      woken += 1;
    };
    room.take(A, 1);
    room.whenFreed(wake);
    room.whenFreed(wake);
    expect(woken).to.equal(0);
    room.release(A, 1);
    room.take(A, 1);
    room.release(A, 1);
    expect(woken).to.equal(1);
  });
});
