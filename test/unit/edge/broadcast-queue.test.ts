/** Proves BQ1–BQ3. */
import { expect } from 'chai';
import { BroadcastQueue } from '../../../src/edge/index.js';
import { ALL_THAT_MAY_WAIT_BYTES, type BroadcastItem } from '../../../src/ports/index.js';

const MIB = 1024 * 1024;

/** Time that passes only with work, and rounds of the loop that the test starts. */
class Loop {
  nowMs = 0;
  readonly #soon: (() => void)[] = [];
  readonly queue = new BroadcastQueue(
    { nowMs: () => this.nowMs, monotonicMs: () => this.nowMs },
    { soon: (action) => this.#soon.push(action) },
  );
  /** The finished items, in order. */
  readonly done: string[] = [];

  /** Takes this many milliseconds for each of its parts. */
  item(name: string, parts: number, ms: number): BroadcastItem {
    let left = parts;
    return {
      handOn: (mayGoOn) => {
        for (; left > 0; left -= 1) {
          if (left < parts && !mayGoOn()) return left;
          this.done.push(name);
          this.nowMs += ms;
        }
        return 0;
      },
    };
  }

  /** @returns the items that were finished in it */
  round(): string[] {
    const before = this.done.length;
    for (const action of this.#soon.splice(0)) action();
    return this.done.slice(before);
  }

  get isIdle(): boolean {
    return this.#soon.length === 0;
  }
}

describe('the broadcast queue', () => {
  let loop: Loop;
  beforeEach(() => {
    loop = new Loop();
  });

  it('hands on items in order for a millisecond per round of the event loop', () => {
    for (const name of ['a', 'b', 'c', 'd', 'e']) loop.queue.add('one', loop.item(name, 1, 0.5), 1);
    expect(loop.done).to.deep.equal([]);
    expect(loop.round()).to.deep.equal(['a', 'b']);
    expect(loop.round()).to.deep.equal(['c', 'd']);
    expect(loop.round()).to.deep.equal(['e']);
    expect(loop.isIdle).to.equal(true);
  });

  it('continues an interrupted item before later ones', () => {
    loop.queue.add('one', loop.item('long', 3, 0.6), 1);
    loop.queue.add('one', loop.item('next', 1, 0.1), 1);
    expect(loop.round()).to.deep.equal(['long', 'long']);
    expect(loop.round()).to.deep.equal(['long', 'next']);
  });

  it('lets tenants take turns', () => {
    for (let i = 0; i < 4; i += 1) loop.queue.add('one', loop.item('one', 1, 0.5), 1);
    loop.queue.add('two', loop.item('two', 1, 0.5), 1);
    expect(loop.round()).to.deep.equal(['one', 'two']);
    expect(loop.round()).to.deep.equal(['one', 'one']);
  });

  it('hands on an item immediately while the round has time for it', () => {
    loop.queue.handOnNow('one', loop.item('now', 2, 0.4));
    expect(loop.done).to.deep.equal(['now', 'now']);
    loop.queue.handOnNow('one', loop.item('later', 4, 0.4));
    expect(loop.done.slice(2)).to.deep.equal(['later', 'later']);
    expect(loop.round()).to.deep.equal(['later', 'later']);
  });

  it('makes senders of a tenant wait while it holds too many bytes, and releases them', async () => {
    const goneOn: string[] = [];
    const turn = loop.queue.add('one', loop.item('a', 1, 0.5), 4 * MIB - 4096);
    expect(loop.queue.whenCaughtUp('one')).to.equal(undefined);
    turn.more(1);
    expect(loop.queue.whenCaughtUp('two')).to.equal(undefined);
    const waiting = loop.queue.whenCaughtUp('one')?.then(() => goneOn.push('one'));
    await Promise.resolve();
    expect(goneOn).to.deep.equal([]);
    loop.round();
    await waiting;
    expect(loop.queue.whenCaughtUp('one')).to.equal(undefined);
  });

  it('makes no sender wait for longer than five seconds', async () => {
    const endless: BroadcastItem = {
      handOn: () => {
        loop.nowMs += 1;
        return ALL_THAT_MAY_WAIT_BYTES;
      },
    };
    loop.queue.add('one', endless, 1);
    loop.round();
    let hasGoneOn = false;
    const waiting = loop.queue.whenCaughtUp('one')?.then(() => {
      hasGoneOn = true;
    });
    for (let round = 0; round < 4_900; round += 1) loop.round();
    await Promise.resolve();
    expect(hasGoneOn).to.equal(false);
    for (let round = 0; round < 200; round += 1) loop.round();
    await waiting;
    expect(hasGoneOn).to.equal(true);
  });
});
