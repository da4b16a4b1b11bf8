import { expect } from 'chai';
import fc from 'fast-check';
import { BEAT_MS, beatFor, coalescedTimer } from '../../../../src/adapters/node/coalesced-timer.js';
import { eventually } from '../../../support/eventually.js';

const moments = fc.double({ min: 0, max: 1e9, noNaN: true });

describe('coalesced timers', () => {
  it('run early or late by at most half of their delay, together with others that are due at about that time', () => {
    fc.assert(
      fc.property(moments, (nowMs) => {
        const delays = [500, 510, 520];
        const beats = delays.map((delayMs) => beatFor(delayMs, nowMs));
        for (const [at, delayMs] of delays.entries()) {
          const lateMs = (beats[at] as number) * BEAT_MS - (nowMs + delayMs);
          expect(Math.abs(lateMs)).to.be.at.most(delayMs / 2);
        }
        // Timers with such delays use every second beat. If they are 20 ms apart, they fall on one beat or on two successive
        // ones.
        const [first, last] = [Math.min(...beats), Math.max(...beats)];
        expect([0, 2]).to.include(last - first);
      }),
    );
  });

  it('of periods of about a second or more wake the thread at the same beats, for any start', () => {
    const late = fc.array(fc.double({ min: 0, max: 100, noNaN: true }), { minLength: 5, maxLength: 5 });
    fc.assert(
      fc.property(moments, fc.constantFrom(900, 1000, 2000), late, (beganMs, everyMs, lateMs) => {
        let nowMs = beganMs;
        for (const afterMs of lateMs) {
          const beat = beatFor(everyMs, nowMs);
          expect((beat * BEAT_MS) % 1000).to.equal(0);
          nowMs = beat * BEAT_MS + afterMs;
        }
      }),
    );
  });

  it('run at their beat and not before', async () => {
    const dueMs = beatFor(300, performance.now()) * BEAT_MS;
    await new Promise<void>((resolve) => void coalescedTimer(300, resolve));
    // Node counts in whole milliseconds.
    expect(performance.now()).to.be.at.least(dueMs - 1);
  });

  it('run like other timers after a delay shorter than a beat', async () => {
    const startedMs = performance.now();
    await new Promise<void>((resolve) => void coalescedTimer(40, resolve));
    expect(performance.now() - startedMs).to.be.at.least(38);
  });

  it('do not affect others at the same beat when one is cancelled', async () => {
    const ran: string[] = [];
    const cancelled = coalescedTimer(300, () => ran.push('cancelled'));
    coalescedTimer(300, () => ran.push('kept'));
    cancelled.cancel();
    await eventually(() => expect(ran).to.deep.equal(['kept']));
  });
});
