/** Proves SIW1–SIW3. */
import { expect } from 'chai';
import { type Reporting, ReportWatch } from '../../../../src/adapters/workers/report-watch.js';

const BOUND_MS = 20_000;

class Watched implements Reporting {
  readonly reasons: string[] = [];

  constructor(public silentMs: number | undefined) {}

  kill(reason: string): void {
    this.reasons.push(reason);
  }
}

describe('a worker that stops reporting', () => {
  function checkedAt(worker: Watched, timesMs: readonly number[], reports = false): readonly string[] {
    const watch = new ReportWatch(BOUND_MS, 0);
    for (const nowMs of timesMs) {
      watch.check([worker], nowMs);
      if (reports) worker.silentMs = 0;
    }
    return worker.reasons;
  }
  const everySecond = (from: number, to: number) =>
    Array.from({ length: to - from + 1 }, (_, at) => (from + at) * 1_000);

  it('is killed after 20 s, with the reason', () => {
    expect(checkedAt(new Watched(0), everySecond(1, 19))).to.deep.equal([]);
    expect(checkedAt(new Watched(0), everySecond(1, 20))).to.deep.equal(['no report for 20 s']);
  });

  it('is not killed while it reports', () => {
    expect(checkedAt(new Watched(0), everySecond(1, 100), true)).to.deep.equal([]);
  });

  it('is not killed for a pause of the supervisor, whose checks are late', () => {
    expect(checkedAt(new Watched(0), [1_000, 600_000, 601_000, 700_000, 702_001])).to.deep.equal([]);
  });

  it('is killed when the silence before and after a pause of the supervisor reaches the bound', () => {
    const times = [...everySecond(1, 10), ...everySecond(610, 620)];
    expect(checkedAt(new Watched(0), times.slice(0, -1))).to.deep.equal([]);
    expect(checkedAt(new Watched(0), times)).to.deep.equal(['no report for 20 s']);
  });

  it('is not killed if it has never reported', () => {
    expect(checkedAt(new Watched(undefined), everySecond(1, 100))).to.deep.equal([]);
  });
});
