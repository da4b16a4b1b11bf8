/**
 * A hundred thousand runs that sleep for a day: their memory, and the time of a restart after a `kill -9`, from the start of
 * the process to the first answer about one of them.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { until } from './child.js';
import { atMost, type Bench } from './figures.js';
import { tally } from './memory.js';
import { Millrace } from './millrace.js';
import { ownFlags, queueCall } from './queue-load.js';
import { sized } from './sizes.js';
import { WorkflowDriver } from './workflow-driver.js';

const RUNS = sized(100_000, 5000);
const AT_ONCE = 64;
/** Until snapshots are made and delivered messages are forgotten. */
const SETTLE_MS = sized(60_000, 15_000);
const TIMEOUT_MS = 480_000;
const ANSWER_TIMEOUT_MS = 60_000;
const MB = 1024 * 1024;

export const workflowSleeping: Bench = {
  name: 'workflow-sleeping',
  summary: `${RUNS} runs that sleep for a day: memory and restart`,
  async run(progress) {
    const millrace = await Millrace.create();
    let driver: WorkflowDriver | undefined;
    try {
      await millrace.start({ nodeFlags: ownFlags() });
      driver = await WorkflowDriver.start(millrace);
      const { lastRunId, firstMs, lastMs } = await driver.run(RUNS, AT_ONCE, { kind: 'sleep', for: '1d' }, TIMEOUT_MS);
      const perSecond = (RUNS * 1000) / (lastMs - firstMs);
      progress(`${RUNS} runs sleep, ${Math.round(perSecond)} a second`);
      await delay(SETTLE_MS);
      const serving = await millrace.probe();
      await millrace.stop('SIGKILL');
      progress('killed, starting again');
      const startedAtMs = performance.now();
      await millrace.start();
      await millrace.probe();
      const isThere = async () => (await queueCall(millrace, 'GET', `/v2/workflows/runs/${lastRunId}`)) !== undefined;
      await until(isThere, ANSWER_TIMEOUT_MS, 'the recovery');
      const restartMs = performance.now() - startedAtMs;
      const restarted = await millrace.probe();
      return {
        skipped: [],
        figures: [
          { name: 'resident, sleeping', value: serving.rssBytes / MB, unit: 'MB', target: atMost(250) },
          { name: '  heap, used', value: serving.heapUsedBytes / MB, unit: 'MB', note: tally([serving]) },
          { name: 'restart, to the first answer', value: restartMs / 1000, unit: 's', target: atMost(15) },
          { name: '  resident, restarted', value: restarted.rssBytes / MB, unit: 'MB', note: tally([restarted]) },
          { name: '  runs put to sleep', value: perSecond, unit: 'runs/s' },
        ],
      };
    } finally {
      await Promise.all([driver?.stop(), millrace.dispose()]);
    }
  },
};
