/**
 * The speed of runs: runs of ten sequential steps against a local endpoint, 50 at a time, compared with the plain queue
 * delivering waiting messages in the same round. A step is a submission by the endpoint and the next delivery.
 *
 * On two processors the threads of all processes share them, including the endpoint's. The processor time of our process for
 * a step and for a delivery is therefore reported too: it depends on neither the endpoint nor other load.
 */
import { atLeast, type Bench, type Figure, median } from './figures.js';
import { Millrace } from './millrace.js';
import { ranMsOf, withServer } from './processor-time.js';
import { type Drain, drainOnce } from './queue-drain.js';
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
  readonly delivered: Drain;
  readonly cpuMicros: number;
  readonly allMicros: number;
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
      const all = await withServer(millrace.pid);
      const rounds: Round[] = [];
      // The first round warms up compilers and stores, and does not count.
      for (let round = 0; round <= ROUNDS; round += 1) {
        const delivered = await drainOnce(millrace, sink);
        const [mainBeforeMs, allBeforeMs] = [await ranMs(millrace.pid), await ranMsOf(all)];
        const report = await driver.run(RUNS, AT_ONCE, { kind: 'steps', steps: STEPS }, TIMEOUT_MS);
        const cpuMicros = (((await ranMs(millrace.pid)) - mainBeforeMs) * 1000) / report.steps;
        const allMicros = (((await ranMsOf(all)) - allBeforeMs) * 1000) / report.steps;
        const steps = (report.steps * 1000) / (report.lastMs - report.firstMs);
        if (round > 0) rounds.push({ steps, delivered, cpuMicros, allMicros });
        const name = round === 0 ? 'warm-up' : `round ${round} of ${ROUNDS}`;
        const beside = told(delivered.perSecond, 'msg', delivered.cpuMicros, delivered.allMicros);
        progress(`${name}: ${told(steps, 'steps', cpuMicros, allMicros)}; ${beside}`);
      }
      return { figures: figuresOf(rounds), skipped: [] };
    } finally {
      await Promise.all([driver?.stop(), millrace.dispose(), sink.stop()]);
    }
  },
};

function figuresOf(rounds: readonly Round[]): readonly Figure[] {
  const medianOf = (value: (round: Round) => number) => median(rounds.map(value));
  const ratios = rounds.map(({ steps, delivered }) => steps / delivered.perSecond);
  const costs = rounds.map(({ allMicros, delivered }) => allMicros / delivered.allMicros);
  const [steps, perSecond] = [medianOf((round) => round.steps), medianOf(({ delivered }) => delivered.perSecond)];
  const spent = (main: (round: Round) => number, all: (round: Round) => number) =>
    `${medianOf(main).toFixed(0)} µs of the main thread each, ${medianOf(all).toFixed(0)} of all`;
  return [
    {
      name: 'steps / deliveries of the queue',
      value: steps / perSecond,
      unit: 'ratio',
      target: atLeast(0.45),
      note: spread(ratios),
    },
    {
      name: '  steps',
      value: steps,
      unit: 'steps/s',
      note: spent(
        ({ cpuMicros }) => cpuMicros,
        ({ allMicros }) => allMicros,
      ),
    },
    {
      name: '  deliveries',
      value: perSecond,
      unit: 'msg/s',
      note: spent(
        ({ delivered }) => delivered.cpuMicros,
        ({ delivered }) => delivered.allMicros,
      ),
    },
    { name: '  processor, a step / a delivery', value: median(costs), unit: 'ratio', note: spread(costs) },
  ];
}

function told(perSecond: number, what: string, mainMicros: number, allMicros: number): string {
  return `${Math.round(perSecond)} ${what}/s at ${mainMicros.toFixed(0)} µs, all ${allMicros.toFixed(0)}`;
}

function spread(ratios: readonly number[]): string {
  return `rounds ${Math.min(...ratios).toFixed(2)}–${Math.max(...ratios).toFixed(2)}`;
}
