/**
 * Several followers of one journal: the grouping of followers, and the messages that each receives. Proves SHJ1, SHJ2.
 */
import { expect } from 'chai';
import fc from 'fast-check';
import type { ShardName } from '../../../src/kernel/index.js';
import type { JournalFollower, StoredMessage, Subscription } from '../../../src/ports/index.js';
import { SharedJournal } from '../../../src/projections/shared-journal.js';

const SHARD = 'QUEUE_0' as ShardName;

/** A journal that sends each of its subscriptions the next message on request. */
class SteppedJournal {
  readonly open: { next: number; readonly follower: JournalFollower }[] = [];
  last = 0;

  follow(_: ShardName, from: number, follower: JournalFollower): Subscription {
    const one = { next: from, follower };
    this.open.push(one);
    return { stop: () => void this.open.splice(this.open.indexOf(one), 1) };
  }

  async readAt() {
    return undefined;
  }

  async tail() {
    return { first: 1, last: this.last, bytes: 0, holes: 0, createdAt: '' };
  }

  /** @returns whether this subscription has more entries */
  step(index: number): boolean {
    const one = this.open[index];
    if (one === undefined || one.next > this.last) return false;
    const message: StoredMessage = { position: one.next, bytes: new Uint8Array(1), storedAtMs: 0 };
    one.next += 1;
    one.follower.onMessage(message);
    return true;
  }

  all(): void {
    while (this.open.some((_, index) => this.step(index)));
  }
}

class Fold implements JournalFollower {
  readonly heard: StoredMessage[] = [];
  beats = 0;
  aliveEveryMs?: number;
  onMessage(message: StoredMessage): void {
    this.heard.push(message);
  }
  onAlive(): void {
    this.beats += 1;
  }
  get positions(): readonly number[] {
    return this.heard.map(({ position }) => position);
  }
}

describe('a journal shared by several folds of one thread', () => {
  let journal: SteppedJournal;
  let shared: SharedJournal;
  let one: Fold;
  let other: Fold;

  beforeEach(() => {
    journal = new SteppedJournal();
    shared = new SharedJournal(journal);
    [one, other] = [new Fold(), new Fold()];
  });

  it('is received once for followers at the same position, which get the same messages', () => {
    shared.follow(SHARD, 1, one);
    shared.follow(SHARD, 1, other);
    journal.last = 3;
    journal.all();
    journal.open[0]?.follower.onAlive();
    expect(journal.open).to.have.length(1);
    expect(one.positions).to.deep.equal([1, 2, 3]);
    expect(other.heard.every((message, at) => message === one.heard[at])).to.equal(true);
    expect([one.beats, other.beats]).to.deep.equal([1, 1]);
  });

  it('serves a follower with a lower position separately until it reaches the others', () => {
    journal.last = 4;
    shared.follow(SHARD, 4, one);
    shared.follow(SHARD, 1, other);
    expect(journal.open).to.have.length(2);
    journal.all();
    expect(journal.open).to.have.length(1);
    journal.last = 6;
    journal.all();
    expect(one.positions).to.deep.equal([4, 5, 6]);
    expect(other.positions).to.deep.equal([1, 2, 3, 4, 5, 6]);
  });

  it('continues for one follower when the other stops, and ends with the last', () => {
    const first = shared.follow(SHARD, 1, one);
    const second = shared.follow(SHARD, 1, other);
    journal.last = 1;
    journal.all();
    first.stop();
    first.stop();
    journal.last = 2;
    journal.all();
    second.stop();
    expect([one.positions, other.positions]).to.deep.equal([[1], [1, 2]]);
    expect(journal.open).to.have.length(0);
  });

  it('gives no message to a follower that another one stops during the delivery', () => {
    let stop = () => {};
    one.onMessage = () => stop();
    shared.follow(SHARD, 1, one);
    const subscription = shared.follow(SHARD, 1, other);
    stop = () => subscription.stop();
    journal.last = 1;
    journal.all();
    expect(other.positions).to.deep.equal([]);
  });

  it('keeps followers with different intervals separate', () => {
    other.aliveEveryMs = 100;
    shared.follow(SHARD, 1, one);
    shared.follow(SHARD, 1, other);
    journal.last = 2;
    journal.all();
    expect(journal.open).to.have.length(2);
  });

  it('gives each follower the messages after its position, in order and once, and ends as one feed', () => {
    const step = fc.oneof(
      { weight: 6, arbitrary: fc.record({ kind: fc.constant('receive' as const), at: fc.nat(3) }) },
      { weight: 2, arbitrary: fc.record({ kind: fc.constant('store' as const), at: fc.nat(3) }) },
      { weight: 2, arbitrary: fc.record({ kind: fc.constant('follow' as const), at: fc.nat(8) }) },
      { weight: 1, arbitrary: fc.record({ kind: fc.constant('stop' as const), at: fc.nat(8) }) },
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const stepped = new SteppedJournal();
        const together = new SharedJournal(stepped);
        const folds: { from: number; fold: Fold; subscription: Subscription; isStopped: boolean }[] = [];
        for (const { kind, at } of steps) {
          if (kind === 'receive') stepped.step(at);
          if (kind === 'store') stepped.last += at;
          if (kind === 'follow') {
            const [from, fold] = [Math.max(1, stepped.last + 1 - at), new Fold()];
            folds.push({ from, fold, subscription: together.follow(SHARD, from, fold), isStopped: false });
          }
          const stopped = kind === 'stop' ? folds[at] : undefined;
          stopped?.subscription.stop();
          if (stopped !== undefined) stopped.isStopped = true;
        }
        stepped.last += 1;
        stepped.all();
        for (const { from, fold, isStopped } of folds) {
          const upTo = isStopped ? from + fold.heard.length - 1 : stepped.last;
          expect(fold.positions).to.deep.equal(Array.from({ length: upTo - from + 1 }, (_, n) => from + n));
        }
        expect(stepped.open).to.have.length(folds.some(({ isStopped }) => !isStopped) ? 1 : 0);
      }),
    );
  });
});
