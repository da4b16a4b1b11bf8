import { expect } from 'chai';
import { ManualTime } from '../../support/memory/index.js';

describe('timers', () => {
  let time: ManualTime;
  let isOver: boolean;
  const over = () => {
    isOver = true;
  };

  beforeEach(() => {
    time = new ManualTime();
    isOver = false;
  });

  it('pause ends after its time, and not before', async () => {
    time.pause(100).then(over);
    await time.advance(99);
    expect(isOver).to.equal(false);
    await time.advance(1);
    expect(isOver).to.equal(true);
  });

  it('pause ends immediately when it is aborted, and leaves no timer', async () => {
    const stop = new AbortController();
    time.pause(100, stop.signal).then(over);
    await time.advance(50);
    expect(isOver).to.equal(false);
    stop.abort();
    await time.advance(0);
    expect([isOver, time.pendingCount]).to.deep.equal([true, 0]);
    await time.pause(100, stop.signal);
  });

  it('pause ignores an abort after its end', async () => {
    const stop = new AbortController();
    time.pause(100, stop.signal).then(over);
    await time.advance(100);
    expect(isOver).to.equal(true);
    stop.abort();
  });

  it('every runs repeatedly, each time its delay after the end of the previous run, until it is cancelled', async () => {
    let runs = 0;
    let end = () => {};
    const timer = time.every(100, () => {
      runs += 1;
      return new Promise<void>((resolve) => {
        end = resolve;
      });
    });
    await time.advance(250);
    expect(runs).to.equal(1);
    end();
    await time.advance(99);
    expect(runs).to.equal(1);
    await time.advance(1);
    expect(runs).to.equal(2);
    timer.cancel();
    end();
    await time.advance(500);
    expect([runs, time.pendingCount]).to.deep.equal([2, 0]);
  });

  it('every runs a synchronous action again, unless that cancels it', async () => {
    let runs = 0;
    const timer = time.every(100, () => {
      runs += 1;
      if (runs === 3) timer.cancel();
    });
    await time.advance(1000);
    expect([runs, time.pendingCount]).to.deep.equal([3, 0]);
  });

  it('yieldToEventLoop lets others run without passing time', async () => {
    const order: string[] = [];
    time.soon(() => order.push('who was ready'));
    await time.yieldToEventLoop();
    expect([...order, time.monotonicMs()]).to.deep.equal(['who was ready', 0]);
  });
});
