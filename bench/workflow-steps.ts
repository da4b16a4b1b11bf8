/**
 * How fast runs go on: runs of ten sequential steps against a local endpoint, 50 at once, beside the plain queue
 * delivering waiting messages in the same round. A step is a submission by the endpoint and the next delivery.
 */
import { atLeast, type Bench, type Figure, median } from './figures.js';
import { Millrace } from './millrace.js';
import { drainOnce } from './queue-drain.js';
import { ownFlags } from './queue-load.js';
import { ranMs } from './redis.js';
import { Sink } from './sink.js';
import { sized } from './sizes.js';
import { WorkflowDriver } from './workflow-driver.js';

const RUNS = sized(1000, 200);
const STEPS = 10;
const AT_ONCE = 50;
const ROUNDS = sized(5, 2);
const TIMEOUT_MS = 120_000;

interface Round {
  readonly steps: number;
  readonly deliveries: number;
  readonly cpuMicros: number;
}

export const workflowSteps: Bench = {
  name: 'workflow-steps',
  summary: `${RUNS} runs of ${STEPS} steps, ${AT_ONCE} at once, beside deliveries of the plain queue`,
  async run(progress) {
    const [millrace, sink] = [await Millrace.create(), await Sink.start()];
    let driver: WorkflowDriver | undefined;
    try {
      await millrace.start({ isWatched: false, nodeFlags: ownFlags() });
      driver = await WorkflowDriver.start(millrace);
      const rounds: Round[] = [];
      // The first round warms up compilers and stores, and does not count.
      for (let round = 0; round <= ROUNDS; round += 1) {
        const { perSecond: deliveries } = await drainOnce(millrace, sink);
        const ranBeforeMs = await ranMs(millrace.pid);
        const report = await driver.run(RUNS, AT_ONCE, { kind: 'steps', steps: STEPS }, TIMEOUT_MS);
        const cpuMicros = (((await ranMs(millrace.pid)) - ranBeforeMs) * 1000) / report.steps;
        const steps = (report.steps * 1000) / (report.lastMs - report.firstMs);
        if (round > 0) rounds.push({ steps, deliveries, cpuMicros });
        const name = round === 0 ? 'warm-up' : `round ${round} of ${ROUNDS}`;
        progress(
          `${name}: ${Math.round(steps)} steps/s at ${cpuMicros.toFixed(0)} µs, ${Math.round(deliveries)} msg/s`,
        );
      }
      return { figures: figuresOf(rounds), skipped: [] };
    } finally {
      await Promise.all([driver?.stop(), millrace.dispose(), sink.stop()]);
    }
  },
};

function figuresOf(rounds: readonly Round[]): readonly Figure[] {
  const ratios = rounds.map(({ steps, deliveries }) => steps / deliveries);
  const cpu = median(rounds.map(({ cpuMicros }) => cpuMicros));
  return [
    {
      name: 'steps / deliveries of the queue',
      value: median(rounds.map(({ steps }) => steps)) / median(rounds.map(({ deliveries }) => deliveries)),
      unit: 'ratio',
      target: atLeast(0.45),
      note: `rounds ${Math.min(...ratios).toFixed(2)}–${Math.max(...ratios).toFixed(2)}`,
    },
    {
      name: '  steps',
      value: median(rounds.map(({ steps }) => steps)),
      unit: 'steps/s',
      note: `${cpu.toFixed(0)} µs of the main thread each`,
    },
    { name: '  deliveries', value: median(rounds.map(({ deliveries }) => deliveries)), unit: 'msg/s' },
  ];
}
