/** The cluster under seeded faults: every seed keeps every promise (simulated-installation.ts, journal-checks.ts). */
import { expect } from 'chai';
import { NO_FAULTS } from './faults.js';
import { explain, runSeed, seedRange } from './run-seeds.js';

const DEFAULT_SEEDS = 600;
/** The number of seeds per line of progress in a long run. */
const SEEDS_PER_LINE = 50;

describe('simulation', () => {
  it('answers every operation without faults', async function () {
    this.timeout(60_000);
    for (const seed of [1, 2, 3]) {
      const report = await runSeed(seed, { faults: NO_FAULTS });
      expect(report.violation, explain(report)).to.equal(undefined);
      expect([report.unknown, report.answered > 1000]).to.deep.equal([0, true]);
    }
  });

  it('gives the same trace for the same seed', async function () {
    this.timeout(60_000);
    for (const seed of [5, 6]) {
      const [first, second] = [await runSeed(seed), await runSeed(seed)];
      expect(first.traceHash).to.equal(second.traceHash);
      expect([first.events, first.answered]).to.deep.equal([second.events, second.answered]);
    }
    expect((await runSeed(5)).traceHash).to.not.equal((await runSeed(6)).traceHash);
  });

  const { first, count } = seedRange(process.env, DEFAULT_SEEDS);
  it(`keeps every promise for seeds ${first} to ${first + count - 1}`, async function () {
    this.timeout(0);
    const totals = { answered: 0, failed: 0, unknown: 0, events: 0, virtualMs: 0 };
    const startedMs = performance.now();
    for (let seed = first; seed < first + count; seed += 1) {
      const report = await runSeed(seed);
      if (report.violation !== undefined) throw new Error(explain(report));
      for (const total of Object.keys(totals) as (keyof typeof totals)[]) totals[total] += report[total];
      if ((seed - first + 1) % SEEDS_PER_LINE === 0) console.log(`      ${seed - first + 1} seeds hold`);
    }
    const seconds = (performance.now() - startedMs) / 1000;
    console.log(
      `      ${count} seeds, ${(totals.virtualMs / 3_600_000).toFixed(1)} simulated hours in ${seconds.toFixed(0)} s: ` +
        `${totals.answered} answered, ${totals.failed} failed, ${totals.unknown} unknown, ${totals.events} events`,
    );
    expect(totals.answered).to.be.greaterThan(count * 100);
  });
});
