/**
 * Lengths of time as configuration headers give them: groups of a whole number and a unit without anything between
 * (`1d10h30m`), or a bare number of seconds. A unit may come once only; the order of units does not matter.
 */

const UNIT_SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };
const ZERO = 48;
/** What does not fit 15 digits is no length of time that anybody means. */
const MAX_SECONDS = 999_999_999_999_999;

/** @returns whole seconds; undefined when the text is no duration */
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

/** A whole number without a sign; undefined for anything else, and beyond 15 digits. */
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
