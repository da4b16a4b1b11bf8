/**
 * Durations in configuration headers: whole numbers with units and without separators (`1d10h30m`), or a plain number
 * of seconds. Each unit occurs at most once, in any order.
 */

const UNIT_SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };
const ZERO = 48;
/** The largest number of 15 digits. */
const MAX_SECONDS = 999_999_999_999_999;

/** @returns whole seconds; undefined if the text is not a duration */
export function parseDurationSeconds(text: string): number | undefined {
  let total = 0;
  let number = 0;
  let digits = 0;
  let units = '';
  for (let at = 0; at < text.length; at += 1) {
    const digit = text.charCodeAt(at) - ZERO;
    if (digit >= 0 && digit <= 9) {
      number = number * 10 + digit;
      digits += 1;
      continue;
    }
    const unit = text[at] as string;
    const seconds = UNIT_SECONDS[unit];
    if (seconds === undefined || digits === 0 || units.includes(unit)) return undefined;
    total += number * seconds;
    units += unit;
    number = 0;
    digits = 0;
  }
  if (digits > 0 && units !== '') return undefined;
  if (digits === 0 && units === '') return undefined;
  total += number;
  return total <= MAX_SECONDS ? total : undefined;
}

/** A whole number without a sign; undefined for any other text, and beyond 15 digits. */
export function parseWholeNumber(text: string): number | undefined {
  if (text.length === 0 || text.length > 15) return undefined;
  let number = 0;
  for (let at = 0; at < text.length; at += 1) {
    const digit = text.charCodeAt(at) - ZERO;
    if (digit < 0 || digit > 9) return undefined;
    number = number * 10 + digit;
  }
  return number;
}
