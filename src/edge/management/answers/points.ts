/** Statistics as points with a time, as the management API shows them. */
import {
  boundaryText,
  firstDayOfMonth,
  lastFiveDays,
  momentText,
  pointTimes,
  type SeriesTimes,
  sameTimeOn,
} from '../../../domain/statistics/index.js';
import type { Point } from '../../http/shapes.js';

const SECOND_MS = 1000;
const CENTS = 100;
/** Amounts are rounded to this fraction of a dollar. */
const SHOWN_PARTS = 10_000;

/** The total of each step, or the value at its end. */
export function perStep(times: SeriesTimes, values: readonly number[]): Point[] {
  return pointTimes(times).map((atMs, at) => ({ x: boundaryText(atMs), y: values[at] ?? 0 }));
}

/** Averages per second over each step. */
export function perSecond(times: SeriesTimes, counts: readonly number[]): Point[] {
  const seconds = times.stepMs / SECOND_MS;
  return perStep(
    times,
    counts.map((count) => count / seconds),
  );
}

/** One point per day, at the time of day of the request. @param numberOf of a day since 1970-01-01 */
export function perDay(days: readonly number[], nowMs: number, numberOf: (day: number) => number): Point[] {
  return days.map((day) => ({ x: momentText(sameTimeOn(day, nowMs)), y: numberOf(day) }));
}

/** @param cents may have a fraction; the result is rounded to a ten-thousandth of a dollar */
export function dollars(cents: number): number {
  return shownParts(cents) / SHOWN_PARTS;
}

/**
 * Each day gets the difference of the rounded month totals at its end and its start. The days of a month then add up
 * to `dollars` of the month, which separately rounded days would not.
 * @param cents of the days in order, from the first of a month
 */
export function dollarsOfDays(days: readonly { readonly day: number }[], cents: readonly number[]): number[] {
  let month: number | undefined;
  let sum = 0;
  let before = 0;
  return days.map(({ day }, at) => {
    const first = firstDayOfMonth(day);
    if (first !== month) {
      sum = 0;
      before = 0;
    }
    month = first;
    sum += cents[at] ?? 0;
    const after = shownParts(sum);
    const parts = after - before;
    before = after;
    return parts / SHOWN_PARTS;
  });
}

export function sumOf<Item>(items: readonly Item[], numberOf: (item: Item) => number): number {
  return items.reduce((sum, item) => sum + numberOf(item), 0);
}

/** The days that statistics show, and those of this month; the caller decides about days without data. */
export function recentDays<Day extends { readonly day: number }>(days: readonly Day[], nowMs: number) {
  const lastFive = lastFiveDays(nowMs);
  const today = lastFive.at(-1) as number;
  const known: ReadonlyMap<number, Day> = new Map(days.map((each) => [each.day, each]));
  const month = days.filter(({ day }) => day >= firstDayOfMonth(today) && day <= today);
  return { lastFive, today, known, month };
}

function shownParts(cents: number): number {
  return Math.round((cents / CENTS) * SHOWN_PARTS);
}
