/**
 * The delay that a destination asks for: the first usable of four response headers, each a number of seconds, a Unix
 * time, an RFC 1123 date, or a duration with units from nanoseconds to hours.
 */
import { MAX_RETRY_DELAY_MS } from '../model/limits.js';
import type { HeaderList } from '../model/records.js';

/** In order of precedence. */
const RESET_HEADERS = [
  'retry-after',
  'x-ratelimit-reset',
  'x-ratelimit-reset-requests',
  'x-ratelimit-reset-tokens',
] as const;

/** Milliseconds of each unit. The micro sign occurs as itself, as the Greek letter, or as its two UTF-8 bytes. */
const UNIT_MS: ReadonlyMap<string, number> = new Map([
  ['ns', 1e-6],
  ['us', 1e-3],
  ['\u00b5s', 1e-3],
  ['\u03bcs', 1e-3],
  ['\u00c2\u00b5s', 1e-3],
  ['ms', 1],
  ['s', 1000],
  ['m', 60_000],
  ['h', 3_600_000],
]);
const SECONDS = /^\d{1,15}(?:\.\d{1,9})?$/;
/** As a Unix time this is in 2001; as a delay it is thirty years. */
const FIRST_UNIX_SECONDS = 1e9;
/** As seconds this is in the year 5138; as milliseconds, which some servers send, in 1973. */
const FIRST_UNIX_MILLISECONDS = 1e11;
const RFC_1123 = /^[A-Z][a-z]{2}, \d{1,2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} (?:GMT|UTC|UT|[+-]\d{4})$/;
const GROUP = /(\d{1,15}(?:\.\d{1,9})?)([a-z\u00b5\u03bc\u00c2]{1,3})/y;
/** Longer texts have none of the forms. */
const MAX_CHARACTERS = 64;

/** @returns whole milliseconds from now, at most a day; undefined: no header is usable */
export function resetDelayMs(header: HeaderList, nowMs: number): number | undefined {
  for (const wanted of RESET_HEADERS) {
    for (const [name, value] of header) {
      if (name.length !== wanted.length || name.toLowerCase() !== wanted) continue;
      const delayMs = parseResetMs(value.trim(), nowMs);
      if (delayMs !== undefined && delayMs <= MAX_RETRY_DELAY_MS) return Math.ceil(delayMs);
    }
  }
  return undefined;
}

function parseResetMs(text: string, nowMs: number): number | undefined {
  if (text === '' || text.length > MAX_CHARACTERS) return undefined;
  if (SECONDS.test(text)) return numberMs(Number(text), nowMs);
  if (RFC_1123.test(text)) {
    const atMs = Date.parse(text);
    return Number.isNaN(atMs) ? undefined : Math.max(0, atMs - nowMs);
  }
  return parseUnitsMs(text);
}

/** A number too large for a delay is an instant. */
function numberMs(given: number, nowMs: number): number {
  if (given < FIRST_UNIX_SECONDS) return given * 1000;
  return Math.max(0, (given < FIRST_UNIX_MILLISECONDS ? given * 1000 : given) - nowMs);
}

function parseUnitsMs(text: string): number | undefined {
  let totalMs = 0;
  GROUP.lastIndex = 0;
  for (let end = 0; end < text.length; end = GROUP.lastIndex) {
    const group = GROUP.exec(text);
    const unitMs = group === null ? undefined : UNIT_MS.get(group[2] as string);
    if (group === null || unitMs === undefined) return undefined;
    totalMs += Number(group[1]) * unitMs;
  }
  return totalMs;
}
