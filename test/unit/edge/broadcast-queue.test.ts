/** Proves BQ1–BQ3. */
import { expect } from 'chai';
import { BroadcastQueue } from '../../../src/edge/index.js';
import { ALL_THAT_MAY_WAIT_BYTES, type BroadcastItem } from '../../../src/ports/index.js';

const MIB = 1024 * 1024;

/** Time that passes only when something is done, and rounds of the loop that are told. */
class Loop {
  nowMs = 0;
  readonly #soon: (() => void)[] = [];
  readonly queue = new BroadcastQueue(
    { nowMs: () => this.nowMs, monotonicMs: () => this.nowMs },
    { soon: (action) => this.#soon.push(action) },
  );
  /** What was done, in order. */
  readonly done: string[] = [];

  /** Takes so many milliseconds for each of its parts. */
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

  /** @returns what was done in it */
  round(): string[] {
    const before = this.done.length;
    for (const action of this.#soon.splice(0)) action();
    return this.done.slice(before);
  }

  get isIdle(): boolean {
    return this.#soon.length === 0;
  }
}

describe('what is said to many', () => {
  let loop: Loop;
  beforeEach(() => {
    loop = new Loop();
  });

  it('is handed on a millisecond at a time, in order, and then the loop goes round', () => {
    for (const name of ['a', 'b', 'c', 'd', 'e']) loop.queue.add('one', loop.item(name, 1, 0.5), 1);
    expect(loop.done).to.deep.equal([]);
    expect(loop.round()).to.deep.equal(['a', 'b']);
    expect(loop.round()).to.deep.equal(['c', 'd']);
    expect(loop.round()).to.deep.equal(['e']);
    expect(loop.isIdle).to.equal(true);
  });

  it('goes on where it has stopped, in front of what came behind it', () => {
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

  it('is handed on at once while there is time for it in a round', () => {
    loop.queue.handOnNow('one', loop.item('now', 2, 0.4));
    expect(loop.done).to.deep.equal(['now', 'now']);
    loop.queue.handOnNow('one', loop.item('later', 4, 0.4));
    expect(loop.done.slice(2)).to.deep.equal(['later', 'later']);
    expect(loop.round()).to.deep.equal(['later', 'later']);
  });

  it('makes whoever says more of the same tenant wait while too much is left, and lets it go on', async () => {
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

  it('makes nobody wait for longer than five seconds', async () => {
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
