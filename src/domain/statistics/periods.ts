/**
 * The windows that statistics are asked for, and where the points of their series lie.
 *
 *  PE1 a step begins at a whole multiple of its length since the Unix epoch, whoever asks and when
 *  PE2 the last point is the step that has begun and is not over
 */
export const PERIODS = ['1h', '3h', '12h', '1d', '3d', '7d', '30d'] as const;
export type Period = (typeof PERIODS)[number];

/** A series has `count` values; the first one's step begins at `firstAtMs`. */
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

/** Beginnings of a series' steps, oldest first. */
export function pointTimes({ firstAtMs, stepMs, count }: SeriesTimes): number[] {
  return Array.from({ length: count }, (_, at) => firstAtMs + at * stepMs);
}

/** Where the step begins that `atMs` is in. */
export function stepOf(atMs: number, stepMs: number): number {
  return Math.floor(atMs / stepMs) * stepMs;
}
