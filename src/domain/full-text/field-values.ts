/** The values of fields: how those of documents and of filters become numbers, texts and truth values. */
import type { FieldType } from './definition.js';
import { MAX_FACET_LEVELS, MAX_KEYWORD_CHARACTERS } from './limits.js';

/** A scalar of a document or a filter; texts are decoded. */
export type Scalar = string | number | bigint | boolean;

/** Dates are milliseconds since 1970. Integers beyond 2^53 are bigints, all others numbers. */
export type FieldValue = string | number | bigint | boolean;

const INTEGER = /^-?\d{1,20}$/;
const NUMBER = /^-?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?$/;
const DATE = /^\d{4}-\d\d-\d\d(?:[Tt ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:[Zz]|[-+]\d\d:\d\d)?)?$/;
const HAS_ZONE = /(?:[Zz]|[-+]\d\d:\d\d)$/;
const MAX_U64 = 2n ** 64n - 1n;
const MAX_I64 = 2n ** 63n - 1n;

/** The value as a field of that type stores it; undefined: it is none of that type. */
export function typedValueOf(type: FieldType, given: Scalar): FieldValue | undefined {
  switch (type) {
    case 'TEXT':
      return String(given);
    case 'KEYWORD': {
      const text = String(given);
      return text.length > MAX_KEYWORD_CHARACTERS ? undefined : text;
    }
    case 'FACET':
      return typeof given === 'string' ? facetOf(given) : undefined;
    case 'BOOL':
      return booleanOf(given);
    case 'F64':
      return floatOf(given);
    case 'U64':
      return integerOf(given, 0n, MAX_U64);
    case 'I64':
      return integerOf(given, -MAX_I64 - 1n, MAX_I64);
    case 'DATE':
      return dateOf(given);
  }
}

function booleanOf(given: Scalar): boolean | undefined {
  if (typeof given === 'boolean') return given;
  if (given === 'true' || given === '1') return true;
  return given === 'false' || given === '0' ? false : undefined;
}

function floatOf(given: Scalar): number | undefined {
  if (typeof given === 'boolean') return undefined;
  if (typeof given === 'string' && !NUMBER.test(given)) return undefined;
  const value = Number(given);
  return Number.isFinite(value) ? value : undefined;
}

function integerOf(given: Scalar, least: bigint, most: bigint): number | bigint | undefined {
  let value: bigint;
  if (typeof given === 'bigint') value = given;
  else if (typeof given === 'number') {
    if (!Number.isInteger(given)) return undefined;
    value = BigInt(given);
  } else if (typeof given === 'string' && INTEGER.test(given)) value = BigInt(given);
  else return undefined;
  return value < least || value > most ? undefined : narrowed(value);
}

/** A number where it is exact. */
export function narrowed(value: bigint): number | bigint {
  const asNumber = Number(value);
  return Number.isSafeInteger(asNumber) ? asNumber : value;
}

function dateOf(given: Scalar): number | undefined {
  if (typeof given === 'number') return Number.isSafeInteger(given) ? given : undefined;
  if (typeof given !== 'string' || !DATE.test(given)) return undefined;
  const isTimeOfDay = given.length > 'yyyy-mm-dd'.length;
  const atMs = Date.parse(isTimeOfDay && !HAS_ZONE.test(given) ? `${given}Z` : given);
  return Number.isNaN(atMs) ? undefined : atMs;
}

/** `/a/b`, without a slash at the end. */
function facetOf(given: string): string | undefined {
  if (!given.startsWith('/') || given.length > MAX_KEYWORD_CHARACTERS) return undefined;
  const steps = given.split('/').filter((step) => step !== '');
  return steps.length === 0 || steps.length > MAX_FACET_LEVELS ? undefined : `/${steps.join('/')}`;
}

/** `/a/b/c` → `/a`, `/a/b`, `/a/b/c`. */
export function facetLevels(path: string): string[] {
  const levels: string[] = [];
  for (let at = path.indexOf('/', 1); at > 0; at = path.indexOf('/', at + 1)) levels.push(path.slice(0, at));
  levels.push(path);
  return levels;
}

/** Orders values of one field: numbers by size, texts by code points, false before true. */
export function compareValues(a: FieldValue, b: FieldValue): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
