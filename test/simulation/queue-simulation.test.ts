/**
 * Queues on a cluster under seeded faults: every seed keeps every promise (simulated-queues.ts and the files it names).
 */
import { expect } from 'chai';
import { NO_FAULTS } from './faults.js';
import { explainQueue, runQueueSeed } from './queue-run-seeds.js';
import { seedRange } from './run-seeds.js';

const DEFAULT_SEEDS = 120;
/** The number of seeds per line of progress in a long run. */
const SEEDS_PER_LINE = 50;

describe('queue simulation', () => {
  it('answers every operation without faults', async function () {
    this.timeout(60_000);
    for (const seed of [1, 2, 3]) {
      const report = await runQueueSeed(seed, { faults: NO_FAULTS });
      expect(report.violation, explainQueue(report)).to.equal(undefined);
      expect([report.failed, report.unknown, report.answered > 100]).to.deep.equal([0, 0, true]);
    }
  });

  it('gives the same trace for the same seed', async function () {
    this.timeout(60_000);
    const [first, second] = [await runQueueSeed(5), await runQueueSeed(5)];
    expect(first.traceHash).to.equal(second.traceHash);
    expect([first.events, first.calls]).to.deep.equal([second.events, second.calls]);
    expect((await runQueueSeed(6)).traceHash).to.not.equal(first.traceHash);
  });

  const { first, count } = seedRange(process.env, DEFAULT_SEEDS);
  it(`keeps every promise for seeds ${first} to ${first + count - 1}`, async function () {
    this.timeout(0);
    const publishes = { answered: 0, failed: 0, unknown: 0, duplicates: 0, told: 0 };
    const workflows = { runs: 0, children: 0, entries: 0, notified: 0, timeouts: 0 };
    const totals = { ...publishes, ...workflows, calls: 0, takeovers: 0, virtualMs: 0 };
    const startedMs = performance.now();
    for (let seed = first; seed < first + count; seed += 1) {
      const report = await runQueueSeed(seed);
      if (report.violation !== undefined) throw new Error(explainQueue(report));
      for (const total of Object.keys(totals) as (keyof typeof totals)[]) totals[total] += report[total];
      if ((seed - first + 1) % SEEDS_PER_LINE === 0) console.log(`      ${seed - first + 1} seeds hold`);
    }
    const seconds = (performance.now() - startedMs) / 1000;
    const { answered, failed, unknown, duplicates, told, calls, takeovers, virtualMs } = totals;
    const { runs, children, entries, notified, timeouts } = totals;
    console.log(
      `      ${count} seeds, ${(virtualMs / 3_600_000).toFixed(1)} simulated hours in ${seconds.toFixed(0)} s: publishes ` +
        `${answered} answered, ${failed} failed, ${unknown} unknown, ${duplicates} duplicates, ${told} told; ` +
        `${calls} calls, ${takeovers} takeovers; ${runs} runs (${children} of them invoked) with ${entries} entries, waits ended by ` +
        `${notified} notifies and ${timeouts} deadlines`,
    );
    expect(calls).to.be.greaterThan(count * 20);
    expect(entries).to.be.greaterThan(count);
  });
});
