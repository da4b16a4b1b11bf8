import { expect } from 'chai';
import { YieldBudget } from '../../../../src/actors/runtime/owned-shards.js';
import { type Clock, type Timer, Timers } from '../../../../src/ports/index.js';

/** At each yield, others take the processor for the time that a test sets. */
class BusyLoop extends Timers {
  nowMs = 0;
  othersMs = 0;
  readonly clock: Clock = { nowMs: () => this.nowMs, monotonicMs: () => this.nowMs };

  override after(): Timer {
    throw new Error('nothing waits here');
  }

  override roughlyAfter(): Timer {
    throw new Error('nothing waits here');
  }

  override soon(action: () => void): void {
    this.nowMs += this.othersMs;
    action();
  }
}

describe('a long piece of work', () => {
  async function sliceAfter(othersMs: number): Promise<number> {
    const loop = new BusyLoop();
    const budget = new YieldBudget(loop.clock, loop);
    loop.othersMs = othersMs;
    await budget.yield();
    const fromMs = loop.nowMs;
    while (!budget.isSpent) loop.nowMs += 0.5;
    return loop.nowMs - fromMs;
  }

  it('yields every two milliseconds where others need little time', async () => {
    expect(await sliceAfter(0.1)).to.equal(2);
  });

  it('runs for as long as others took, up to five milliseconds', async () => {
    expect(await sliceAfter(4)).to.equal(4);
    expect(await sliceAfter(60)).to.equal(5);
  });
});
