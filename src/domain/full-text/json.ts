/** JSON values of filters, aggregations and documents. Objects are maps; integers beyond 2^53 are bigints. */
import { SearchProblem } from './definition.js';
import type { Scalar } from './field-values.js';

export type FilterJson = null | Scalar | readonly FilterJson[] | FilterObject;
export type FilterObject = ReadonlyMap<string, FilterJson>;

export function isObject(value: FilterJson | undefined): value is FilterObject {
  return value instanceof Map;
}

export function isList(value: FilterJson | undefined): value is readonly FilterJson[] {
  return Array.isArray(value);
}

export function isScalar(value: FilterJson | undefined): value is Scalar {
  return value !== null && value !== undefined && typeof value !== 'object';
}

/** The member as an object. @throws SearchProblem */
export function objectIn(value: FilterJson | undefined, subject: string): FilterObject {
  if (isObject(value)) return value;
  throw new SearchProblem(`${subject} expects an object`);
}

/** A finite number, at least `least` and at most `most`. @throws SearchProblem */
export function numberIn(value: FilterJson | undefined, subject: string, least = -Infinity, most = Infinity): number {
  const isNumber = typeof value === 'number' || typeof value === 'bigint';
  const number = isNumber ? Number(value) : Number.NaN;
  if (number >= least && number <= most) return number;
  const range = least === -Infinity ? '' : ` from ${least}${most === Infinity ? '' : ` to ${most}`}`;
  throw new SearchProblem(`${subject} expects a number${range}`);
}

/** @throws SearchProblem */
export function integerIn(value: FilterJson | undefined, subject: string, least: number, most: number): number {
  const number = numberIn(value, subject, least, most);
  if (Number.isInteger(number)) return number;
  throw new SearchProblem(`${subject} expects an integer`);
}

/** @throws SearchProblem */
export function textIn(value: FilterJson | undefined, subject: string): string {
  if (typeof value === 'string') return value;
  throw new SearchProblem(`${subject} expects a text`);
}

/** @throws SearchProblem for a member that is not among `known` */
export function refuseOthers(given: FilterObject, known: readonly string[], subject: string): void {
  for (const name of given.keys()) {
    if (!known.includes(name)) throw new SearchProblem(`${subject} has no option ${name}`);
  }
}
