/** Proves PR1. */
import { expect } from 'chai';
import {
  BYTES_PER_GB,
  kvCents,
  monthCents,
  NO_PRICES,
  type Prices,
  queueCents,
  searchCents,
} from '../../../src/domain/statistics/index.js';

const PRICES: Prices = {
  kv: {
    centsPer100kCommands: 20,
    centsPerGbMonth: 25,
    freeStorageBytes: BYTES_PER_GB,
    centsPerGb: 3,
    freeBandwidthBytesPerMonth: 200 * BYTES_PER_GB,
  },
  queue: { centsPer100kMessages: 100, centsPerGb: 0, freeBandwidthBytesPerMonth: 0 },
  search: {
    centsPer100kRequests: 5,
    centsPerGbMonth: 0,
    freeStorageBytes: 0,
    centsPerGb: 0,
    freeBandwidthBytesPerMonth: 0,
  },
};
/** The first of September 2026, a month of thirty days. */
const FIRST = Date.UTC(2026, 8, 1) / 86_400_000;

function day(on: number, changes: object = {}) {
  const nothing = { commands: 0, requests: 0, queries: 0, updates: 0, reranks: 0, bandwidthBytes: 0, storageBytes: 0 };
  return { day: FIRST + on, ...nothing, ...changes };
}

describe('statistics: prices', () => {
  it('of commands, messages and search requests are per hundred thousand', () => {
    expect(kvCents([day(0, { commands: 250_000 }), day(1)], PRICES)).to.deep.equal([50, 0]);
    expect(queueCents([day(0, { requests: 1000 })], PRICES)).to.deep.equal([1]);
    const searched = day(0, { queries: 50_000, updates: 49_000, reranks: 1000 });
    expect(searchCents([searched], PRICES)).to.deep.equal([5]);
  });

  it('of storage are per month above the free amount, day by day', () => {
    const [cents] = kvCents([day(0, { storageBytes: 3 * BYTES_PER_GB })], PRICES);
    expect(cents).to.be.closeTo((2 * 25) / 30, 1e-9);
    expect(kvCents([day(0, { storageBytes: BYTES_PER_GB })], PRICES)).to.deep.equal([0]);
  });

  it('of bandwidth start above the free amount of a month, which is renewed each month', () => {
    const gb = (count: number) => ({ bandwidthBytes: count * BYTES_PER_GB });
    const days = [day(-1, gb(500)), day(0, gb(150)), day(1, gb(60)), day(2, gb(5))];
    expect(kvCents(days, PRICES)).to.deep.equal([900, 0, 30, 15]);
  });

  it('add up to the month', () => {
    const days = [day(-1, { commands: 1e6 }), day(0, { commands: 1e5 }), day(1, { commands: 2e5 }), day(2)];
    expect(monthCents(days, kvCents(days, PRICES), FIRST + 2)).to.equal(60);
  });

  it('may be zero', () => {
    const days = [day(0, { commands: 1e6, storageBytes: 1e12, bandwidthBytes: 1e12, requests: 7, queries: 7 })];
    expect([kvCents(days, NO_PRICES), queueCents(days, NO_PRICES), searchCents(days, NO_PRICES)]).to.deep.equal([
      [0],
      [0],
      [0],
    ]);
  });
});
