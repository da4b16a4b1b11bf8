import { expect } from 'chai';
import { BurstLimiter } from '../../../../src/edge/http/burst-limiter.js';
import { MAX_COUNTED_KEYS } from '../../../../src/edge/http/http-limits.js';
import type { AccountId } from '../../../../src/kernel/index.js';

const ONE = 'ac-1' as AccountId;
const OTHER = 'ac-2' as AccountId;

describe('edge/http: burst limiter', () => {
  let nowMs = 1000;
  const limiter = () => new BurstLimiter({ nowMs: () => 1_700_000_000_000 + nowMs, monotonicMs: () => nowMs });
  const taken = (bursts: BurstLimiter, calls: number, account = ONE) => {
    let count = 0;
    for (let call = 0; call < calls; call += 1) if (bursts.take(account, 10)) count += 1;
    return count;
  };

  it('lets the calls of one second through immediately, and no more', () => {
    expect(taken(limiter(), 11)).to.equal(10);
  });

  it('fills evenly, up to the calls of one second', () => {
    const bursts = limiter();
    taken(bursts, 10);
    nowMs += 250;
    expect(taken(bursts, 10)).to.equal(2);
    nowMs += 60_000;
    expect(taken(bursts, 20)).to.equal(10);
  });

  it('counts each account separately', () => {
    const bursts = limiter();
    taken(bursts, 10);
    expect(taken(bursts, 20, OTHER)).to.equal(10);
  });

  it('treats 0 as no limit', () => {
    const bursts = limiter();
    for (let call = 0; call < 100; call += 1) expect(bursts.take(ONE, 0)).to.equal(true);
  });

  it('takes several calls together, and more than one second’s calls only when it is full', () => {
    const bursts = limiter();
    expect(bursts.take(ONE, 10, 4)).to.equal(true);
    expect(bursts.take(ONE, 10, 7)).to.equal(false);
    expect(bursts.take(ONE, 10, 6)).to.equal(true);
    nowMs += 999;
    expect(bursts.take(ONE, 10, 30)).to.equal(false);
    nowMs += 1;
    expect(bursts.take(ONE, 10, 30)).to.equal(true);
    nowMs += 2000;
    expect(bursts.take(ONE, 10)).to.equal(false);
    nowMs += 100;
    expect(bursts.take(ONE, 10)).to.equal(true);
  });

  it('remembers a bounded number of accounts, and forgets the oldest', () => {
    const bursts = limiter();
    taken(bursts, 10);
    for (let account = 0; account < MAX_COUNTED_KEYS - 1; account += 1) bursts.take(`ac-x${account}` as AccountId, 10);
    expect(taken(bursts, 1)).to.equal(0);
    bursts.take('ac-last' as AccountId, 10);
    expect(taken(bursts, 1)).to.equal(1);
  });
});
