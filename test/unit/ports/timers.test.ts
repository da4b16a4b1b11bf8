import { expect } from 'chai';
import { ManualTime } from '../../../src/adapters/memory/index.js';

describe('waiting by timers', () => {
  let time: ManualTime;
  let isOver: boolean;
  const over = () => {
    isOver = true;
  };

  beforeEach(() => {
    time = new ManualTime();
    isOver = false;
  });

  it('is over after so long, and not before', async () => {
    time.pause(100).then(over);
    await time.advance(99);
    expect(isOver).to.equal(false);
    await time.advance(1);
    expect(isOver).to.equal(true);
  });

  it('is over at once when nobody waits any more, and leaves no timer behind', async () => {
    const stop = new AbortController();
    time.pause(100, stop.signal).then(over);
    await time.advance(50);
    expect(isOver).to.equal(false);
    stop.abort();
    await time.advance(0);
    expect([isOver, time.pendingCount]).to.deep.equal([true, 0]);
    await time.pause(100, stop.signal);
  });

  it('hears of an end only once: what is aborted later is nothing to it', async () => {
    const stop = new AbortController();
    time.pause(100, stop.signal).then(over);
    await time.advance(100);
    expect(isOver).to.equal(true);
    stop.abort();
  });

  it('lets others run, without any time passing', async () => {
    const order: string[] = [];
    time.soon(() => order.push('who was ready'));
    await time.breathe();
    expect([...order, time.monotonicMs()]).to.deep.equal(['who was ready', 0]);
  });
});
