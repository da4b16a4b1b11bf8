/** Series of the statistics, for charts: all series of an answer have the same times. */
import type { Schemas } from '#api';

type Points = readonly Schemas['Point'][];

export const PERIODS = [
  ['1h', 'Hour'],
  ['3h', '3 hours'],
  ['12h', '12 hours'],
  ['1d', 'Day'],
  ['3d', '3 days'],
  ['7d', 'Week'],
  ['30d', '30 days'],
] as const;
export type Period = (typeof PERIODS)[number][0];

/** @param text  any text of an address */
export function periodOf(text: string | undefined): Period {
  return PERIODS.find(([period]) => period === text)?.[0] ?? '1h';
}

/** Milliseconds since 1970. The API writes times in Go's format. */
export function timesOf(points: Points): number[] {
  return points.map(({ x }) => Date.parse(x.replace(' +0000 UTC', 'Z').replace(' ', 'T')));
}

export function valuesOf(points: Points): number[] {
  return points.map(({ y }) => y);
}

export function sumOf(points: Points): number {
  return points.reduce((sum, { y }) => sum + y, 0);
}

/** The value before the newest step, which is incomplete. */
export function lastOf(points: Points): number | undefined {
  return (points.at(-2) ?? points.at(-1))?.y;
}
