/** Neutral numbers as points with a time, as all statistics of the management API have them. */
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
/** A dollar is shown in so many parts; what is less than one of them is rounded away. */
const SHOWN_PARTS = 10_000;

/** What each step has in all, or what it stood at when it ended. */
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

/** One for each day, at the time of day of the request. @param numberOf of a day since 1970-01-01 */
export function perDay(days: readonly number[], nowMs: number, numberOf: (day: number) => number): Point[] {
  return days.map((day) => ({ x: momentText(sameTimeOn(day, nowMs)), y: numberOf(day) }));
}

/** @param cents may have a fraction; what is beyond a ten-thousandth of a dollar is rounded away */
export function dollars(cents: number): number {
  return shownParts(cents) / SHOWN_PARTS;
}

/**
 * Each day has what the month is shown to cost up to its end, less what it was shown up to the day before: so the days
 * of a month add up to `dollars` of it, which days rounded by themselves do not.
 * @param cents of the days, in their order, from the first of a month on
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

/** The days that statistics show, and those of this month; what is not known of a day is left to whoever asks. */
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
