/** The times that are derived from settings. */
import { expect } from 'chai';
import { callerSilenceMs, callLimits, hostTimes } from '../../../../src/actors/runtime/index.js';

describe('derived times without a setting', () => {
  it('allow four tries of a held request, and let an owner wait for as many tries of its caller', () => {
    expect(callLimits(5000)).to.deep.equal({
      deadlineMs: 5000,
      tryMs: 1250,
      pauseMs: 50,
      settleMs: 1000,
      storingMs: 10_000,
    });
    expect(callerSilenceMs(5000)).to.equal(5000);
  });

  it('give a try of a briefly held request only the hold time', () => {
    expect(callLimits(400).tryMs).to.equal(200);
    expect(callerSilenceMs(400)).to.equal(800);
  });

  it('check the leases twice per heartbeat, and wait four heartbeats for a new process', () => {
    const times = { takeoverMs: 3000, readLeaseMs: 1000, marginMs: 100, followedWithinMs: 6000 };
    const rest = { ...times, highWaterEveryMs: 1000 };
    expect(hostTimes(500, times)).to.deep.equal({ ...rest, lookEveryMs: 250, settleMs: 2000, restartBackoffMs: 250 });
    expect(hostTimes(30, times)).to.deep.equal({ ...rest, lookEveryMs: 20, settleMs: 120, restartBackoffMs: 50 });
  });
});
