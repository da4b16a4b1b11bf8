/**
 * Evaluates filters. A comparison is true only for two single, comparable values: numbers with numbers, strings with
 * strings; `==` and `!=` also accept other types. With a path that matches no value or several, a comparison is false.
 */

import { compilePattern } from '../../pattern.js';
import { ErrorReply } from '../../reply.js';
import type { Steps } from '../../steps.js';
import { MAX_MATCHED_BYTES, MAX_PATTERN_BYTES } from './json-limits.js';
import type { CompareOperator, Filter, FilterTerm, PathSegment } from './json-path-parser.js';
import { areEqualJson, isJsonNumber, type JsonNumber, type JsonValue, WholeFloat } from './json-value.js';

/** The context of a filter's evaluation. */
export interface FilterScope {
  readonly root: JsonValue;
  /** The matches of a path that starts at the candidate. */
  from(candidate: JsonValue, segments: readonly PathSegment[]): Steps<readonly JsonValue[]>;
  /** The matches of a path that starts at the root; the same for every candidate. */
  fromRoot(segments: readonly PathSegment[]): Steps<readonly JsonValue[]>;
}

const tooLongToMatch = new ErrorReply('ERR string is too long for a regular expression');

export function* passes(filter: Filter, candidate: JsonValue, scope: FilterScope): Steps<boolean> {
  switch (filter.kind) {
    case 'or':
      for (const part of filter.parts) if (yield* passes(part, candidate, scope)) return true;
      return false;
    case 'and':
      for (const part of filter.parts) if (!(yield* passes(part, candidate, scope))) return false;
      return true;
    case 'not':
      return !(yield* passes(filter.part, candidate, scope));
    case 'test': {
      const { term } = filter;
      if (term.kind === 'literal') return term.value === true;
      return (yield* valuesOf(term, candidate, scope)).length > 0;
    }
    case 'compare':
      return compares(
        filter,
        yield* valuesOf(filter.left, candidate, scope),
        yield* valuesOf(filter.right, candidate, scope),
      );
  }
}

function* valuesOf(term: FilterTerm, candidate: JsonValue, scope: FilterScope): Steps<readonly JsonValue[]> {
  if (term.kind === 'literal') return [term.value];
  if (term.steps === undefined) {
    return yield* term.isFromRoot ? scope.fromRoot(term.segments) : scope.from(candidate, term.segments);
  }
  const value = valueAlong(term.isFromRoot ? scope.root : candidate, term.steps);
  return value === undefined ? [] : [value];
}

function valueAlong(from: JsonValue, steps: readonly (string | number)[]): JsonValue | undefined {
  let value: JsonValue | undefined = from;
  for (const step of steps) {
    if (Array.isArray(value)) value = typeof step === 'number' ? value.at(step) : undefined;
    else if (value instanceof Map) value = typeof step === 'string' ? value.get(step) : undefined;
    else return undefined;
  }
  return value;
}

function compares(
  { operator, right }: Filter & { kind: 'compare' },
  lefts: readonly JsonValue[],
  rights: readonly JsonValue[],
): boolean {
  if (lefts.length !== 1 || rights.length !== 1) return false;
  const [a, b] = [lefts[0] as JsonValue, rights[0] as JsonValue];
  if (operator !== '=~') return holds(a, operator, b);
  if (typeof a !== 'string' || typeof b !== 'string') return false;
  if (a.length > MAX_MATCHED_BYTES) throw tooLongToMatch;
  const pattern = right.kind === 'literal' ? right.pattern : undefined;
  return (pattern ?? compilePattern(b, MAX_PATTERN_BYTES)).matches(a);
}

function holds(a: JsonValue, operator: Exclude<CompareOperator, '=~'>, b: JsonValue): boolean {
  if (operator === '==') return areAlike(a, b);
  if (operator === '!=') return !areAlike(a, b);
  if (isJsonNumber(a) && isJsonNumber(b)) return isInOrder(comparable(a), operator, comparable(b));
  if (typeof a === 'string' && typeof b === 'string') return isInOrder(a, operator, b);
  return false;
}

/** Numbers are equal by value, whether integers or floats. */
function areAlike(a: JsonValue, b: JsonValue): boolean {
  if (!isJsonNumber(a) || !isJsonNumber(b)) return areEqualJson(a, b);
  const [x, y] = [comparable(a), comparable(b)];
  return !(x < y) && !(x > y);
}

function comparable(value: JsonNumber): number | bigint {
  return value instanceof WholeFloat ? value.value : value;
}

function isInOrder<T extends number | bigint | string>(a: T, operator: '<' | '<=' | '>' | '>=', b: T): boolean {
  switch (operator) {
    case '<':
      return a < b;
    case '<=':
      return a <= b;
    case '>':
      return a > b;
    case '>=':
      return a >= b;
  }
}
