/** Limits on JSON from outside, counted before it is parsed, and the only place that parses it. */
import { MAX_BODY_DEPTH } from './http-limits.js';
import { invalid } from './refused.js';

export const QUOTE = 0x22;
export const COMMA = 0x2c;
export const COLON = 0x3a;
export const OPEN_ARRAY = 0x5b;
export const BACKSLASH = 0x5c;
export const CLOSE_ARRAY = 0x5d;
export const OPEN_OBJECT = 0x7b;
export const CLOSE_OBJECT = 0x7d;

/** Bytes scanned in one slice: well below a millisecond. */
export const JSON_SLICE_BYTES = 128 * 1024;

/** @throws Refused 400 */
export function parsed(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    throw notJson();
  }
}

/** Counts one comma; `maxValues` values have one comma less. @returns the commas so far. @throws Refused 400 */
export function more(commas: number, what: string, maxValues: number): number {
  if (commas + 1 === maxValues) throw invalid(`${what} has more than ${maxValues} values`);
  return commas + 1;
}

/** @returns the depth one level down. @throws Refused 400 */
export function deeper(depth: number, maxDepth = MAX_BODY_DEPTH): number {
  if (depth === maxDepth) throw invalid(`the body is nested deeper than ${maxDepth} levels`);
  return depth + 1;
}

export function notJson() {
  return invalid('the body is not valid JSON');
}
