/** What follows from the times that settings name. */
import { expect } from 'chai';
import { callerSilenceMs, callLimits, hostTimes } from '../../../../src/actors/runtime/index.js';

describe('times that no setting names', () => {
  it('let a request that is held be asked four times, and an owner wait for as many tries of its caller', () => {
    expect(callLimits(5000)).to.deep.equal({ deadlineMs: 5000, tryMs: 1250, pauseMs: 50, settleMs: 1000 });
    expect(callerSilenceMs(5000)).to.equal(5000);
  });

  it('leave a try of a request that is held for a moment only its time', () => {
    expect(callLimits(400).tryMs).to.equal(200);
    expect(callerSilenceMs(400)).to.equal(800);
  });

  it('have the leases looked at twice in a heartbeat, and a new process be heard four times', () => {
    const times = { takeoverMs: 3000, readLeaseMs: 1000, marginMs: 100 };
    const rest = { ...times, highWaterEveryMs: 1000 };
    expect(hostTimes(500, times)).to.deep.equal({ ...rest, lookEveryMs: 250, settleMs: 2000, restartBackoffMs: 250 });
    expect(hostTimes(30, times)).to.deep.equal({ ...rest, lookEveryMs: 20, settleMs: 120, restartBackoffMs: 50 });
  });
});
