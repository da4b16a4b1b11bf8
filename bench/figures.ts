/**
 * The result of a bench: figures with their targets. A figure that misses its target is marked, but never fails the bench,
 * because the speed of a machine must not decide a build.
 */

export interface Target {
  readonly bound: 'at-least' | 'at-most';
  readonly value: number;
}

export interface Figure {
  readonly name: string;
  readonly value: number;
  /** The unit of the value: `ratio`, `ms`, `MB` … */
  readonly unit: string;
  readonly target?: Target;
  /** Where the value comes from, when its name does not say. */
  readonly note?: string;
}

export interface BenchResult {
  readonly bench: string;
  readonly figures: readonly Figure[];
  /** Skipped measurements, each with its reason. */
  readonly skipped: readonly string[];
}

export interface Bench {
  readonly name: string;
  readonly summary: string;
  run(progress: (line: string) => void): Promise<Omit<BenchResult, 'bench'>>;
}

export function atLeast(value: number): Target {
  return { bound: 'at-least', value };
}

export function atMost(value: number): Target {
  return { bound: 'at-most', value };
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}

export function percentile(values: readonly number[], percent: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor((sorted.length * percent) / 100))] ?? Number.NaN;
}

/** One line: name, value, target, and whether it was met. */
export function lineOf({ name, value, unit, target, note }: Figure): string {
  const shown = unit === 'ratio' ? value.toFixed(2) : `${rounded(value)} ${unit}`;
  const goal = target === undefined ? '' : `${target.bound === 'at-least' ? '≥' : '≤'} ${target.value}`;
  const verdict = target === undefined ? '' : isMet(value, target) ? 'met' : 'MISSED';
  return `  ${name.padEnd(52)} ${shown.padStart(14)}  ${goal.padEnd(8)} ${verdict.padEnd(7)}${note ?? ''}`.trimEnd();
}

function isMet(value: number, { bound, value: goal }: Target): boolean {
  return bound === 'at-least' ? value >= goal : value <= goal;
}

function rounded(value: number): string {
  return value >= 100 ? value.toFixed(0) : value.toFixed(value >= 10 ? 1 : 2);
}
