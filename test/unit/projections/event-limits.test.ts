/** The event limits of all accounts, as the thread of the read models receives them. Proves EL1, EL2. */
import { expect } from 'chai';
import type { AccountId } from '../../../src/kernel/index.js';
import { type EventLimit, EventLimits } from '../../../src/projections/event-limits.js';
import { ManualTime } from '../../support/memory/index.js';

const A = 'ac-a' as AccountId;
const B = 'ac-b' as AccountId;
const LONG_ENOUGH_MS = 1000;

class Stand {
  readonly time = new ManualTime();
  readonly accounts = new Map<AccountId, number>();
  isKnown = true;
  told: EventLimit[] = [];
  calls = 0;
  afterTell = () => {};
  readonly limits = new EventLimits({
    limits: () => (this.isKnown ? this.accounts : undefined),
    timers: this.time,
    tell: (changes) => {
      this.calls += 1;
      this.told.push(...changes);
      this.afterTell();
    },
  });

  /** The limits received since the last call. */
  async news(): Promise<EventLimit[]> {
    await this.time.advance(LONG_ENOUGH_MS);
    const { told } = this;
    this.told = [];
    return told;
  }
}

describe('the event limits of accounts', () => {
  it('are all sent when a thread starts, and again to the next thread', async () => {
    const stand = new Stand();
    stand.accounts.set(A, 10).set(B, 0);
    for (let thread = 0; thread < 2; thread += 1) {
      stand.limits.begun();
      expect(await stand.news()).to.deep.equal([
        [A, 10],
        [B, 0],
      ]);
    }
  });

  it('are sent again for changed accounts, once for a burst of changes', async () => {
    const stand = new Stand();
    stand.accounts.set(A, 10).set(B, 20);
    stand.limits.begun();
    await stand.news();
    stand.calls = 0;
    for (const number of [11, 12, 13]) {
      stand.accounts.set(A, number);
      stand.limits.changed();
    }
    expect(await stand.news()).to.deep.equal([[A, 13]]);
    expect(stand.calls).to.equal(1);
    stand.limits.changed();
    expect(await stand.news()).to.deep.equal([]);
  });

  it('are not sent while they may be out of date, and then immediately', async () => {
    const stand = new Stand();
    stand.isKnown = false;
    stand.accounts.set(A, 10);
    stand.limits.begun();
    expect(await stand.news()).to.deep.equal([]);
    stand.accounts.set(A, 1000);
    stand.isKnown = true;
    expect(await stand.news()).to.deep.equal([[A, 1000]]);
  });

  it('are sent in steps, and from the beginning when the copy becomes out of date in between', async () => {
    const stand = new Stand();
    for (let n = 0; n < 1200; n += 1) stand.accounts.set(`ac-${n}` as AccountId, n);
    stand.afterTell = () => {
      stand.isKnown = false;
    };
    stand.limits.begun();
    const first = await stand.news();
    expect(first).to.have.length(500);
    stand.accounts.set('ac-0' as AccountId, 7);
    stand.isKnown = true;
    stand.afterTell = () => {};
    const rest = await stand.news();
    expect(rest).to.have.length(701);
    expect(new Map([...first, ...rest])).to.deep.equal(stand.accounts);
  });

  it('are no longer sent after the stop', async () => {
    const stand = new Stand();
    stand.accounts.set(A, 10);
    stand.limits.begun();
    stand.limits.stop();
    stand.limits.changed();
    expect(await stand.news()).to.deep.equal([]);
  });
});
