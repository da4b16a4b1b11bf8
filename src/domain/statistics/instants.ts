/**
 * Text forms of instants in statistics: that of a UTC time in Go, which JavaScript's `Date` also parses. Source:
 * management reference 2.2.
 */
import { DAY_MS } from './periods.js';

const DAY_NAMES = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'] as const;

/** The start of a step: `2025-10-23 17:34:00.000 +0000 UTC`. */
export function boundaryText(atMs: number): string {
  return `${dateAndTime(atMs)}.${iso(atMs).slice(20, 23)} +0000 UTC`;
}

/** A moment without trailing zeros in its fraction: `2025-09-04 15:12:52.76 +0000 UTC`. */
export function momentText(atMs: number): string {
  const fraction = iso(atMs)
    .slice(19, 23)
    .replace(/\.?0+$/, '');
  return `${dateAndTime(atMs)}${fraction} +0000 UTC`;
}

/**
 * The time of day of `nowMs` on another day.
 * @param day since 1970-01-01
 */
export function sameTimeOn(day: number, nowMs: number): number {
  return day * DAY_MS + (((nowMs % DAY_MS) + DAY_MS) % DAY_MS);
}

/**
 * @param day since 1970-01-01, which was a Thursday
 * @returns for example `Wednesday`
 */
export function dayName(day: number): string {
  return DAY_NAMES[(((day + 4) % 7) + 7) % 7] as string;
}

/** All days of the UTC month of `nowMs`, future ones included, since 1970-01-01. */
export function daysOfMonth(nowMs: number): number[] {
  const first = firstDayOfMonth(Math.floor(nowMs / DAY_MS));
  const date = new Date(nowMs);
  const count = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate();
  return Array.from({ length: count }, (_, at) => first + at);
}

/** The first day of the month of `day`; both since 1970-01-01. */
export function firstDayOfMonth(day: number): number {
  return day - (new Date(day * DAY_MS).getUTCDate() - 1);
}

/** The number of days in the month of `day`. */
export function daysInMonthOf(day: number): number {
  return daysOfMonth(day * DAY_MS).length;
}

/** The last five days up to today, since 1970-01-01. */
export function lastFiveDays(nowMs: number): number[] {
  const today = Math.floor(nowMs / DAY_MS);
  return [4, 3, 2, 1, 0].map((ago) => today - ago);
}

function iso(atMs: number): string {
  return new Date(atMs).toISOString();
}

function dateAndTime(atMs: number): string {
  return iso(atMs).slice(0, 19).replace('T', ' ');
}
