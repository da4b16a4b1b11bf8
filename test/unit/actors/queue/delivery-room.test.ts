import { expect } from 'chai';
import { DeliveryRoom } from '../../../../src/actors/queue/index.js';
import type { AccountId } from '../../../../src/kernel/index.js';

const A = 'ac-aaaaaaaaaaaaaaaa' as AccountId;
const B = 'ac-bbbbbbbbbbbbbbbb' as AccountId;

describe('the room for deliveries of a process', () => {
  it('is never exceeded', () => {
    const room = new DeliveryRoom(16);
    for (let taken = 0; room.roomFor(A) > 0; taken += 1) {
      expect(taken).to.be.lessThan(16);
      room.take(A, 1);
    }
    while (room.roomFor(B) > 0) room.take(B, 1);
    expect(room.inFlight).to.equal(16);
    expect(room.roomFor(A)).to.equal(0);
  });

  it('keeps an eighth for others, however much one account has to send', () => {
    const room = new DeliveryRoom(80);
    while (room.roomFor(A) > 0) room.take(A, room.roomFor(A));
    expect(room.inFlight).to.equal(70);
    expect(room.roomFor(B)).to.equal(10);
  });

  it('gives what becomes free to the account that has less than its share', () => {
    const room = new DeliveryRoom(80);
    room.take(A, 70);
    room.take(B, 10);
    room.release(A, 5);
    expect(room.roomFor(A)).to.equal(0);
    expect(room.roomFor(B)).to.equal(5);
  });

  it('has a place even where an eighth of it is none', () => {
    const room = new DeliveryRoom(1);
    expect(room.roomFor(A)).to.equal(1);
    room.take(A, 1);
    expect(room.roomFor(B)).to.equal(0);
    room.release(A, 1);
    expect(room.roomFor(B)).to.equal(1);
  });

  it('wakes whoever waits once, when something becomes free', () => {
    const room = new DeliveryRoom(1);
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
