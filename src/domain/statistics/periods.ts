/**
 * Periods of statistics, and the points of their series.
 *
 *  PE1 a step begins at a whole multiple of its length since the Unix epoch, independent of the query
 *  PE2 the last point is the step in progress
 */
export const PERIODS = ['1h', '3h', '12h', '1d', '3d', '7d', '30d'] as const;
export type Period = (typeof PERIODS)[number];

/** A series has `count` values; the first step begins at `firstAtMs`. */
export interface SeriesTimes {
  readonly firstAtMs: number;
  readonly stepMs: number;
  readonly count: number;
}

export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

const STEPS: Readonly<Record<Period, readonly [count: number, stepMinutes: number]>> = {
  '1h': [60, 1],
  '3h': [60, 3],
  '12h': [60, 12],
  '1d': [60, 24],
  '3d': [60, 72],
  '7d': [60, 168],
  '30d': [240, 180],
};

export function seriesTimes(period: Period, nowMs: number): SeriesTimes {
  const [count, stepMinutes] = STEPS[period];
  const stepMs = stepMinutes * MINUTE_MS;
  return { firstAtMs: stepOf(nowMs, stepMs) - (count - 1) * stepMs, stepMs, count };
}

/** Starts of a series' steps, oldest first. */
export function pointTimes({ firstAtMs, stepMs, count }: SeriesTimes): number[] {
  return Array.from({ length: count }, (_, at) => firstAtMs + at * stepMs);
}

/** The start of the step that contains `atMs`. */
export function stepOf(atMs: number, stepMs: number): number {
  return Math.floor(atMs / stepMs) * stepMs;
}
