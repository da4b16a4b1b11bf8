/** Runs seeds one after another, and prints how to replay a failing one. */

import { SimulatedInstallation, type SimulatedInstallationOptions } from './simulated-installation.js';
import { Violation } from './violation.js';

export interface RunReport {
  readonly seed: number;
  readonly traceHash: string;
  readonly violation: Violation | undefined;
  readonly traceTail: readonly string[];
  readonly virtualMs: number;
  readonly events: number;
  readonly answered: number;
  readonly failed: number;
  readonly unknown: number;
  readonly takeovers: number;
  readonly snapshots: number;
}

export interface SeedRange {
  readonly first: number;
  readonly count: number;
}

const LINES_OF_TAIL = 60;

/** `SIM_SEED` is the first seed and `SIM_SEEDS` the number of seeds. A seed without a number is run alone. */
export function seedRange(environment: Record<string, string | undefined>, defaultCount: number): SeedRange {
  const { SIM_SEED: first, SIM_SEEDS: count } = environment;
  return { first: Number(first ?? 1), count: Number(count ?? (first === undefined ? defaultCount : 1)) };
}

/**
 * Never throws for a broken promise, which is in the report. `scenario` is the course of the run, by default
 * `world.run`.
 */
export async function runSeed(
  seed: number,
  options: SimulatedInstallationOptions = {},
  scenario: (world: SimulatedInstallation) => Promise<void> = (world) => world.run(),
): Promise<RunReport> {
  const world = new SimulatedInstallation(seed, options);
  const { scheduler } = world.kit;
  let violation: Violation | undefined;
  try {
    await scenario(world);
  } catch (error) {
    violation = error instanceof Violation ? error : new Violation('nothing throws', String((error as Error).stack));
    scheduler.trace.note('checker', violation.message.split('\n')[0] ?? '');
  }
  return {
    seed,
    traceHash: scheduler.trace.hash,
    violation,
    traceTail: violation === undefined ? [] : scheduler.trace.tail(LINES_OF_TAIL),
    virtualMs: scheduler.nowMs,
    events: scheduler.eventsRun,
    answered: world.history.count('answered'),
    failed: world.history.count('failed'),
    unknown: world.history.count('unknown'),
    takeovers: world.takeovers,
    snapshots: world.snapshots,
  };
}

/** The report of a failed seed: the last events, the broken promise, and the command that replays it. */
export function explain(report: RunReport): string {
  return [
    `seed ${report.seed} failed; replay it with: make test-sim SEED=${report.seed}`,
    report.violation?.message ?? 'no violation',
    ...report.traceTail,
  ].join('\n');
}
