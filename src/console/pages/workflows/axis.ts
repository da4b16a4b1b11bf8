/** Round marks of a time axis that begins at zero. */
const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const STEPS = [
  ...[1, 2, 5, 10, 20, 50, 100, 200, 500],
  ...[1, 2, 5, 10, 15, 30].map((count) => count * SECOND),
  ...[1, 2, 5, 10, 15, 30].map((count) => count * MINUTE),
  ...[1, 2, 3, 6, 12].map((count) => count * HOUR),
  ...[1, 2, 7, 14, 30, 90, 365].map((count) => count * DAY),
];

/** @returns milliseconds, the first is 0; at most `most` marks after it, unless the axis is longer than years */
export function marksOf(lengthMs: number, most: number): readonly number[] {
  const step = STEPS.find((one) => lengthMs / one <= most) ?? Math.ceil(lengthMs / most / DAY) * DAY;
  return Array.from({ length: Math.floor(lengthMs / step) + 1 }, (_, at) => at * step);
}
