/** Runs seeds one after the other and says how a failing one is replayed. */
import type { RunReport } from './world.js';
import { World, type WorldOptions } from './world.js';

export interface SeedRange {
  readonly first: number;
  readonly count: number;
}

/** `SIM_SEED`: the first seed; `SIM_SEEDS`: how many. One given seed alone means that one. */
export function seedRange(environment: Record<string, string | undefined>, defaultCount: number): SeedRange {
  const first = environment['SIM_SEED'];
  const count = environment['SIM_SEEDS'];
  return { first: Number(first ?? 1), count: Number(count ?? (first === undefined ? defaultCount : 1)) };
}

export function runSeed(seed: number, options: WorldOptions = {}): Promise<RunReport> {
  return new World(seed, options).run();
}

/** What to print for a seed that failed: the line that replays it, the promise, and how it came to it. */
export function explain(report: RunReport): string {
  return [
    `seed ${report.seed} failed; replay it with: make test-sim SEED=${report.seed}`,
    report.violation?.message ?? 'no violation',
    ...report.traceTail,
  ].join('\n');
}
