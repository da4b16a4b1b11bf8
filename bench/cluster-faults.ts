/**
 * The effect of a cluster's faults on its clients: three nats-servers, three processes, the load of the fault tests, and one
 * event after the other. The figures are medians over the rounds, each with the worst of all rounds.
 */
import { writeFile } from 'node:fs/promises';
import { ClusterLoad } from '../test/support/cluster-load/cluster-load.js';
import { ClusterStand, DEFAULT_TIMES } from '../test/support/cluster-load/cluster-stand.js';
import { FAULTS, type FaultName } from '../test/support/cluster-load/faults.js';
import { type Measured, measured } from '../test/support/cluster-load/measured.js';
import type { OutcomeSummary } from '../test/support/cluster-load/outcomes.js';
import { endEverything } from '../test/support/millrace-process.js';
import { seededRandom, seedOfThisRun } from '../test/support/seeded-random.js';
import { atMost, type Bench, type Figure, median, type Target } from './figures.js';
import { sized } from './sizes.js';

const ROUNDS = Number(process.env.CLUSTER_ROUNDS ?? sized(5, 1));
/** The measured events: those with names that match `CLUSTER`, or all; a quick run takes only the cheap ones. */
const WANTED = new RegExp(process.env.CLUSTER ?? '.');
const QUICK: readonly FaultName[] = ['join', 'leave', 'NATS connection lost for an instant'];

interface Goal {
  /** The part of the gap in shards that were moved or lost their owner. */
  readonly gapMs?: number;
  readonly worstMs?: number;
  /** Time from the moment when the broken part could work again. */
  readonly backMs?: number;
  readonly unreadyMs?: number;
  /** No call may fail, whichever its kind. */
  readonly isFaultless?: boolean;
}

const GOALS: Readonly<Partial<Record<FaultName, Goal>>> = {
  join: { worstMs: 1000, isFaultless: true },
  leave: { worstMs: 1000, isFaultless: true },
  'rolling restart': { worstMs: 1000, isFaultless: true },
  'kill -9 of an owner': { gapMs: 4000 },
  'SIGTERM of each nats-server': { gapMs: 500 },
  'kill -9 of a nats-server': { gapMs: 6000 },
  'two nats-servers killed': { backMs: 4000 },
  'everything stopped': { backMs: 15_000 },
  'cut off from NATS': { unreadyMs: 2000 },
  'NATS connection lost for an instant': { gapMs: 200 },
};

export const clusterFaults: Bench = {
  name: 'cluster-faults',
  summary:
    'what clients notice of joins, restarts, kills and cuts; CLUSTER="join|leave" takes the events whose names match',
  async run(progress) {
    const random = seededRandom(seedOfThisRun());
    const names = (Object.keys(GOALS) as FaultName[]).filter(
      (name) => WANTED.test(name) && sized(1, Number(QUICK.includes(name))) === 1,
    );
    const found: Measured[] = [];
    const stand = await ClusterStand.start(DEFAULT_TIMES);
    try {
      const load = await ClusterLoad.start(stand, seededRandom(seedOfThisRun() + 1));
      try {
        for (let round = 1; round <= ROUNDS; round += 1) {
          for (const name of names) {
            if (!(name in FAULTS)) continue;
            const one = await measured(name, { stand, load, random });
            found.push(one);
            progress(`${round} of ${ROUNDS}, ${lineOf(one)}`);
          }
        }
        await load.stop();
        const violations = await load.violations();
        if (violations.length > 0) throw new Error(violations.join('\n'));
      } finally {
        load.close();
      }
    } finally {
      await stand.stop();
      await endEverything();
    }
    if (process.env.CLUSTER_DETAILS) await writeFile(process.env.CLUSTER_DETAILS, JSON.stringify(found, undefined, 1));
    return {
      figures: names.flatMap((name) =>
        figuresOf(
          name,
          found.filter((one) => one.name === name),
        ),
      ),
      skipped: [],
    };
  },
};

function figuresOf(name: FaultName, found: readonly Measured[]): readonly Figure[] {
  const { gapMs, worstMs, backMs, unreadyMs, isFaultless = false } = GOALS[name] ?? {};
  const faultless = isFaultless ? 0 : undefined;
  return [
    row(`${name}: gap of the shards it touched`, found, ({ touched }) => touched.gapMs, 'ms', gapMs),
    row('  worst wait, of these', found, ({ touched }) => touched.worstMs, 'ms', worstMs),
    row('  p99, of these', found, ({ touched }) => touched.p99Ms, 'ms'),
    row('  refused, of these', found, ({ touched }) => touched.refused, '', faultless),
    row('  unknown, of these', found, ({ touched }) => touched.unknown, '', faultless),
    row('  refused and unknown, all others', found, ({ others }) => failuresOf(others), '', 0),
    row('  gap, all others', found, ({ others }) => others.gapMs, 'ms'),
    row('  refused and unknown, through the one struck', found, ({ victims }) => failuresOf(victims), ''),
    row('  serving after it could again', found, (one) => one.backMs ?? Number.NaN, 'ms', backMs),
    row('  until its clients are sent on', found, (one) => one.unreadyMs ?? Number.NaN, 'ms', unreadyMs),
  ].filter(({ value }) => !Number.isNaN(value));
}

function row(
  name: string,
  found: readonly Measured[],
  figureOf: (one: Measured) => number,
  unit: string,
  goal?: number,
): Figure {
  const values = found.map(figureOf).filter((value) => !Number.isNaN(value));
  const target: { target?: Target } = goal === undefined ? {} : { target: atMost(goal) };
  return { name, value: median(values), unit, ...target, note: ` at most ${Math.round(Math.max(...values))}` };
}

function failuresOf({ refused, unknown }: OutcomeSummary): number {
  return refused + unknown;
}

function lineOf({ name, touched, others, victims, shards, backMs, unreadyMs }: Measured): string {
  const of = (summary: OutcomeSummary): string =>
    `${summary.calls} calls, ${summary.refused} refused, ${summary.unknown} unknown, gap ${Math.round(summary.gapMs)}, p99 ${Math.round(summary.p99Ms)}, worst ${Math.round(summary.worstMs)} ms ${JSON.stringify(summary.codes)}`;
  return [
    `${name}: touched ${shards.join(' ') || 'nothing'}`,
    `    touched: ${of(touched)}`,
    `    others:  ${of(others)}`,
    ...(victims.calls > 0 ? [`    through the one struck: ${of(victims)}`] : []),
    ...(backMs === undefined ? [] : [`    back after ${backMs} ms, sent on after ${unreadyMs} ms`]),
  ].join('\n');
}
