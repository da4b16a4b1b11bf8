/**
 * Compiles a filter into a function of a document, once per query.
 *
 *  FQ1 a missing field matches only HAS NOT FIELD and `NOT IN ()`
 *  FQ2 a value of another type matches no positive operator and every negated one; null is such a value
 *  FQ3 `1` and `0` also match true and false if the field is a boolean; `true` does not match a number
 *  FQ4 only a document's own properties are found, never inherited ones
 */
import { unreachable } from '../../kernel/index.js';
import type { StoredDocument } from './documents.js';
import { compileFilterGlob, type FilterMeter } from './filter-glob.js';
import { parseFilter } from './filter-parser.js';
import type { FilterLiteral, FilterNode, FilterPath, OrderOperator } from './filter-tree.js';

export type FilteredDocument = Pick<StoredDocument, 'content' | 'metadata'>;
export type FilterPredicate = (document: FilteredDocument) => boolean;

/** Reading and comparing a value, in compared characters. */
const CONDITION_STEPS = 50;

/** A condition on the value at a path. */
export interface FilterCondition {
  readonly kind: 'condition';
  readonly path: FilterPath;
  readonly read: (document: FilteredDocument) => unknown;
  /** @param value undefined if there is none */
  readonly fits: (value: unknown) => boolean;
}

export type FilterParts =
  | FilterCondition
  | { readonly kind: 'or' | 'and'; readonly parts: readonly [FilterParts, ...FilterParts[]] };

/**
 * @param meter counts the steps of evaluations
 * @returns undefined for an empty filter, which every document matches
 * @throws INVALID with the place in the text
 */
export function compileFilter(filter: string, meter?: FilterMeter): FilterPredicate | undefined {
  const parts = compileFilterParts(filter, meter);
  return parts === undefined ? undefined : predicateOf(parts);
}

/** As `compileFilter`, in conditions that can be evaluated for each value instead of each document. */
export function compileFilterParts(filter: string, meter?: FilterMeter): FilterParts | undefined {
  return filter.trim() === '' ? undefined : partsOf(parseFilter(filter), meter);
}

export function predicateOf(part: FilterParts): FilterPredicate {
  if (part.kind === 'condition') {
    const { read, fits } = part;
    return (document) => fits(read(document));
  }
  const parts = part.parts.map(predicateOf);
  return part.kind === 'or'
    ? (document) => parts.some((each) => each(document))
    : (document) => parts.every((each) => each(document));
}

function partsOf(node: FilterNode, meter: FilterMeter | undefined): FilterParts {
  const part = conditionOf(node, meter);
  if (part.kind !== 'condition' || meter === undefined) return part;
  const fits = (value: unknown) => {
    meter.steps += CONDITION_STEPS;
    return part.fits(value);
  };
  return { ...part, fits };
}

function conditionOf(node: FilterNode, meter: FilterMeter | undefined): FilterParts {
  switch (node.kind) {
    case 'or':
    case 'and': {
      const [first, ...others] = node.parts.map((each) => partsOf(each, meter));
      return { kind: node.kind, parts: [first as FilterParts, ...others] };
    }
    case 'has': {
      const { isNegated } = node;
      return condition(node.path, (value) => (value !== undefined) !== isNegated);
    }
    case 'equals':
      return ofPresent(node.path, equality(node.value), node.isNegated);
    case 'order':
      return ofPresent(node.path, ordering(node.operator, node.value), false);
    case 'glob': {
      const glob = compileFilterGlob(node.pattern);
      return ofPresent(node.path, (value) => typeof value === 'string' && glob.matches(value, meter), node.isNegated);
    }
    case 'in':
      if (node.values.length === 0) return condition(node.path, () => node.isNegated);
      return ofPresent(node.path, membership(node.values), node.isNegated);
    case 'contains': {
      const equals = equality(node.value);
      return ofPresent(node.path, (value) => has(value, equals, meter), node.isNegated);
    }
    default:
      return unreachable(node);
  }
}

/** @param equals tells the member of an array that is looked for */
function has(value: unknown, equals: (member: unknown) => boolean, meter: FilterMeter | undefined): boolean {
  if (!Array.isArray(value)) return false;
  if (meter !== undefined) meter.steps += value.length;
  return value.some(equals);
}

function condition(path: FilterPath, fits: (value: unknown) => boolean): FilterCondition {
  return { kind: 'condition', path, read: reader(path), fits };
}

function ofPresent(path: FilterPath, fits: (value: unknown) => boolean, isNegated: boolean): FilterCondition {
  return condition(path, (value) => value !== undefined && fits(value) !== isNegated);
}

function equality(literal: FilterLiteral): (value: unknown) => boolean {
  if (literal === 1 || literal === 0) return (value) => value === literal || value === (literal === 1);
  return (value) => value === literal;
}

function membership(literals: readonly FilterLiteral[]): (value: unknown) => boolean {
  const values = new Set<unknown>(literals);
  if (values.has(1)) values.add(true);
  if (values.has(0)) values.add(false);
  return (value) => values.has(value);
}

function ordering(operator: OrderOperator, literal: string | number): (value: unknown) => boolean {
  const type = typeof literal;
  const compare = comparison(operator);
  return (value) => typeof value === type && compare(value as typeof literal, literal);
}

function comparison(operator: OrderOperator): (a: string | number, b: string | number) => boolean {
  switch (operator) {
    case '<':
      return (a, b) => a < b;
    case '<=':
      return (a, b) => a <= b;
    case '>':
      return (a, b) => a > b;
    case '>=':
      return (a, b) => a >= b;
    default:
      return unreachable(operator);
  }
}

/** @returns the value, or undefined if the path ends before it; undefined is not a JSON value */
function reader({ root, steps }: FilterPath): FilterCondition['read'] {
  const [only] = steps;
  // Most paths are one name; the check against an empty object excludes inherited properties.
  if (steps.length === 1 && typeof only === 'string' && !(only in {})) {
    return root === 'content' ? ({ content }) => content[only] : ({ metadata }) => metadata?.[only];
  }
  return (document) => {
    let value: unknown = document[root];
    for (const step of steps) {
      value = typeof step === 'string' ? field(value, step) : element(value, step);
      if (value === undefined) return undefined;
    }
    return value;
  };
}

function field(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  return Object.hasOwn(value, name) ? (value as Record<string, unknown>)[name] : undefined;
}

function element(value: unknown, index: number): unknown {
  return Array.isArray(value) ? value.at(index) : undefined;
}
