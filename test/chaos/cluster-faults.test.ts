/**
 * A cluster of three nats-servers and three processes under load, while processes and servers are killed, frozen,
 * starved, cut off, restarted, set to a wrong time or reset to an older store, one at a time or two together.
 * Acknowledged writes are kept, and after each fault every request is served again.
 */
import { expect } from 'chai';
import { expectWholeJournals, judgeCluster } from '../support/cluster-load/cluster-judge.js';
import { ClusterLoad } from '../support/cluster-load/cluster-load.js';
import { ClusterStand } from '../support/cluster-load/cluster-stand.js';
import { keepEvidence } from '../support/cluster-load/evidence.js';
import {
  FAULTS,
  type FaultName,
  isPossible,
  OF_ALL,
  OF_PROCESSES,
  OF_SERVERS,
} from '../support/cluster-load/faults.js';
import { waitForNoFailures } from '../support/cluster-load/measured.js';
import { summaryOf } from '../support/cluster-load/outcomes.js';
import { endEverything } from '../support/millrace-process.js';
import { NOWHERE } from '../support/queue-conservation-sinks.js';
import { replayLine, seededRandom, seedOfThisRun } from '../support/seeded-random.js';

/** Duration of the faults; the checks after it take about a minute. */
const MINUTES = Number(process.env.CHAOS_MINUTES ?? '1.5');
/** Faults whose names match; all by default. */
const ONLY = new RegExp(process.env.CHAOS_ONLY ?? '');
const MINUTE_MS = 60_000;
/** The last fault may begin at the very end of the time. */
const LAST_FAULT_MS = 3 * MINUTE_MS;
const JUDGEMENT_MS = 5 * MINUTE_MS;
const PAIRS_OF = 3;

const REGIONS: Readonly<Record<string, string>> = { a: 'EU-CENTRAL-1', b: 'US-EAST-1' };

describe('a cluster of three processes and three nats-servers under load', function () {
  this.timeout(MINUTES * MINUTE_MS + LAST_FAULT_MS + JUDGEMENT_MS);
  const seed = seedOfThisRun();
  const random = seededRandom(seed);
  let stand: ClusterStand;
  let load: ClusterLoad | undefined;

  before(async () => {
    console.log(replayLine(seed, 'cluster-faults'));
    stand = await ClusterStand.start({}, { canSuffer: true, hasRealBalancer: true });
    // It has its own random numbers, because the number that it draws depends on the speed of answers.
    load = await ClusterLoad.start(stand, seededRandom(seed + 1));
  });
  after(async () => {
    load?.close();
    await stand?.stop();
    await endEverything();
  });

  it(`keeps every acknowledged write through ${MINUTES} minutes of faults`, async () => {
    const used = load as ClusterLoad;
    const untilMs = Date.now() + MINUTES * MINUTE_MS;
    let struck = 0;
    await waitForNoFailures(stand, used);
    for (; Date.now() < untilMs; struck += 1) {
      await strike(used, nextFaults());
    }
    expect(struck).to.be.greaterThan(0);
    await withEvidence('the judgement', () => judgeCluster(stand, used));
  });

  /** @throws an error with the topic and the place of the evidence */
  async function withEvidence<T>(about: string, act: () => Promise<T>): Promise<T> {
    try {
      return await act();
    } catch (error) {
      (error as Error).message += ` (${about}; logs are in ${await keepEvidence(stand)})`;
      throw error;
    }
  }

  /** One fault, or one of a process together with one of a server. */
  function nextFaults(): FaultName[] {
    const isWanted = (name: FaultName): boolean => ONLY.test(name) && isPossible(stand, name);
    const [processes, servers] = [OF_PROCESSES.filter(isWanted), OF_SERVERS.filter(isWanted)];
    if (random.below(PAIRS_OF) === 0 && processes.length > 0 && servers.length > 0) {
      return [random.pick(processes), random.pick(servers)];
    }
    return [random.pick([...processes, ...servers, ...OF_ALL.filter(isWanted)])];
  }

  async function strike(used: ClusterLoad, names: readonly FaultName[]): Promise<void> {
    const atMs = Date.now();
    const records = used.accounts.map(({ run }) => run.beginOutage());
    const struck = await withEvidence(names.join(' and '), async () => {
      const struck = await Promise.all(names.map((name) => FAULTS[name]({ stand, random })));
      await waitForNoFailures(stand, used);
      await expectWholeJournals(stand);
      return struck;
    });
    const untilMs = Date.now();
    for (const over of records) {
      for (const { victim } of struck) over(victim === undefined ? undefined : (REGIONS[victim] ?? NOWHERE));
    }
    const { calls, refused, unknown, gapMs, worstMs } = summaryOf(used.log.between(atMs, untilMs), atMs);
    const told = `${calls} calls, ${refused} refused, ${unknown} unknown, gap ${Math.round(gapMs)}, worst ${Math.round(worstMs)} ms`;
    console.log(`      ${names.join(' and ')}: ${told}`);
  }
});
