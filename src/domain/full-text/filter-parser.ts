/** Reads the filters of SEARCH.QUERY, SEARCH.COUNT and SEARCH.AGGREGATE. */

import { RE2JS } from 're2js';
import { type IndexDefinition, type IndexField, SearchProblem } from './definition.js';
import { type FieldValue, typedValueOf } from './field-values.js';
import type { Condition, DocumentFilter } from './filter.js';
import {
  type FilterJson,
  type FilterObject,
  integerIn,
  isList,
  isObject,
  isScalar,
  numberIn,
  refuseOthers,
  textIn,
} from './json.js';
import {
  MAX_CLAUSE_DEPTH,
  MAX_CLAUSES,
  MAX_IN_VALUES,
  MAX_REGEX_CHARACTERS,
  MAX_REGEX_REPETITIONS,
  MAX_REGEXES,
} from './limits.js';
import type { FieldRange } from './value-fields.js';

/** Regular expressions of filters, in time linear in the text: expressions are input of tenants. */
const COUNTED = /\{(\d+)(?:,(\d*))?\}/g;

/** A test of whole terms. @param ignoresCase for terms in lower case @throws SearchProblem */
function regexTest(pattern: string, ignoresCase: boolean): (term: string) => boolean {
  if (pattern.length > MAX_REGEX_CHARACTERS) {
    throw new SearchProblem(`A regular expression has at most ${MAX_REGEX_CHARACTERS} characters`);
  }
  let repetitions = 1;
  for (const [, least = '', most] of pattern.matchAll(COUNTED)) {
    repetitions *= Math.max(1, Number(least), Number(most ?? 0));
  }
  if (repetitions > MAX_REGEX_REPETITIONS) {
    throw new SearchProblem(`Counted repetitions of a regular expression multiply to ${MAX_REGEX_REPETITIONS} at most`);
  }
  try {
    const compiled = RE2JS.compile(pattern, ignoresCase ? RE2JS.CASE_INSENSITIVE : 0);
    return (term) => compiled.matches(term);
  } catch {
    throw new SearchProblem(`Invalid regular expression: ${pattern}`);
  }
}

const BOOLEAN = ['$and', '$or', '$must', '$should', '$mustNot'];
const RANGE_NAMES: Readonly<Record<string, keyof FieldRange>> = {
  $gt: 'above',
  $gte: 'from',
  $lt: 'below',
  $lte: 'to',
};
const OF_TEXT = ['$eq', '$in', '$smart', '$fuzzy', '$phrase', '$regex'];
const OF_ORDER = ['$eq', '$in', '$gt', '$gte', '$lt', '$lte'];
const OF_EQUALITY = ['$eq', '$in'];
const ALL_OPERATORS = new Set([...OF_TEXT, ...OF_ORDER]);
const MAX_DISTANCE = 2;
const MAX_SLOP = 1000;
const MAX_BOOST = 1_000_000;

/** @throws SearchProblem */
export function parseFilter(given: FilterJson, definition: IndexDefinition): DocumentFilter {
  return new FilterParser(definition).filterOf(given, 0);
}

class FilterParser {
  #clauses = 0;
  #regexes = 0;
  readonly #fields: ReadonlyMap<string, IndexField>;

  constructor({ fields }: IndexDefinition) {
    this.#fields = new Map(fields.map((field) => [field.path, field]));
  }

  filterOf(given: FilterJson, depth: number): DocumentFilter {
    if (!isObject(given)) throw new SearchProblem('A filter is a JSON object');
    if (depth > MAX_CLAUSE_DEPTH) throw new SearchProblem(`A filter has at most ${MAX_CLAUSE_DEPTH} levels`);
    const must: DocumentFilter[] = [];
    const any: DocumentFilter[] = [];
    const should: DocumentFilter[] = [];
    const mustNot: DocumentFilter[] = [];
    let boost = 1;
    for (const [name, value] of given) {
      this.#count();
      if (name === '$boost') boost = boostOf(value);
      else if (BOOLEAN.includes(name)) {
        const parts = this.#partsOf(name, value, depth + 1);
        const list = name === '$or' ? any : name === '$should' ? should : name === '$mustNot' ? mustNot : must;
        list.push(...parts);
      } else if (name.startsWith('$')) throw new SearchProblem(`Unknown operator: ${name}`);
      else must.push(...this.#ofField(name, value));
    }
    if (must.length + any.length + should.length + mustNot.length === 0) return { kind: 'all', boost };
    const isOne = must.length === 1 && any.length + should.length + mustNot.length === 0 && boost === 1;
    return isOne ? (must[0] as DocumentFilter) : { kind: 'boolean', must, any, should, mustNot, boost };
  }

  /** An object is the list of its members. */
  #partsOf(name: string, value: FilterJson, depth: number): DocumentFilter[] {
    if (isList(value)) return value.map((part) => this.filterOf(part, depth));
    if (!isObject(value)) throw new SearchProblem(`${name} expects an object or a list of objects`);
    const boost = value.get('$boost');
    const members = [...value].filter(([member]) => member !== '$boost');
    return members.map(([member, part]) => {
      const alone = new Map<string, FilterJson>([[member, part]]);
      if (boost !== undefined) alone.set('$boost', boost);
      return this.filterOf(alone, depth);
    });
  }

  #ofField(path: string, value: FilterJson): DocumentFilter[] {
    const field = this.#fields.get(path);
    if (field === undefined) throw new SearchProblem(`Unknown field: ${path}`);
    if (!isObject(value)) {
      const condition = field.type === 'TEXT' ? smart(value, path) : equals(field, value, path);
      return [{ kind: 'field', field, condition, boost: 1 }];
    }
    const given = value.get('$boost');
    const boost = given === undefined ? 1 : boostOf(given);
    const conditions = [...this.#conditionsOf(field, value)];
    if (conditions.length === 0) throw new SearchProblem(`The field ${path} has no operator`);
    return conditions.map((condition) => ({ kind: 'field', field, condition, boost }));
  }

  *#conditionsOf(field: IndexField, operators: FilterObject): Iterable<Condition> {
    const allowed = operatorsOf(field);
    let range: FieldRange | undefined;
    for (const [name, value] of operators) {
      if (name === '$boost') continue;
      this.#count();
      if (name === '$regex') this.#countRegex();
      if (!ALL_OPERATORS.has(name)) throw new SearchProblem(`Unknown field operator: ${name}`);
      if (!allowed.includes(name)) {
        throw new SearchProblem(`${name} is not for fields of type ${field.type}: ${field.path}`);
      }
      const bound = RANGE_NAMES[name];
      if (bound === undefined) yield conditionOf(field, name, value);
      else range = { ...range, [bound]: fieldValue(field, value, name) };
    }
    if (range !== undefined) yield { kind: 'range', range };
  }

  #countRegex(): void {
    this.#regexes += 1;
    if (this.#regexes > MAX_REGEXES) throw new SearchProblem(`A filter has at most ${MAX_REGEXES} regular expressions`);
  }

  #count(): void {
    this.#clauses += 1;
    if (this.#clauses > MAX_CLAUSES) throw new SearchProblem(`A filter has at most ${MAX_CLAUSES} conditions`);
  }
}

function operatorsOf({ type }: IndexField): readonly string[] {
  if (type === 'TEXT') return OF_TEXT;
  return type === 'BOOL' || type === 'FACET' ? OF_EQUALITY : OF_ORDER;
}

function conditionOf(field: IndexField, name: string, value: FilterJson): Condition {
  const subject = `${name} of ${field.path}`;
  switch (name) {
    case '$eq':
      return equals(field, value, name);
    case '$in': {
      if (!isList(value)) throw new SearchProblem(`${subject} expects a list`);
      if (value.length > MAX_IN_VALUES) throw new SearchProblem(`${subject} has at most ${MAX_IN_VALUES} values`);
      return { kind: 'in', values: value.map((one) => fieldValue(field, one, name)) };
    }
    case '$smart':
      return smart(value, field.path);
    case '$fuzzy':
      return fuzzy(value, subject);
    case '$phrase':
      return phrase(value, subject);
    default:
      return { kind: 'regex', test: regexTest(textIn(value, subject), !field.isWhole) };
  }
}

function smart(value: FilterJson, path: string): Condition {
  if (!isScalar(value)) throw new SearchProblem(`The field ${path} expects a value or an object of operators`);
  return { kind: 'smart', value: String(value) };
}

function equals(field: IndexField, value: FilterJson, name: string): Condition {
  return { kind: 'equals', value: fieldValue(field, value, name) };
}

/** @throws SearchProblem for a value that the field cannot have */
function fieldValue(field: IndexField, value: FilterJson, name: string): FieldValue {
  const typed = isScalar(value) ? typedValueOf(field.type, value) : undefined;
  if (typed !== undefined) return typed;
  throw new SearchProblem(`${name} has a value that is none of type ${field.type}: ${field.path}`);
}

function fuzzy(value: FilterJson, subject: string): Condition {
  if (!isObject(value)) {
    return { kind: 'fuzzy', value: textIn(value, subject), distance: 1, isSwapOne: true, isPrefix: false };
  }
  refuseOthers(value, ['value', 'distance', 'transpositionCostOne', 'prefix'], subject);
  const distance = value.get('distance');
  return {
    kind: 'fuzzy',
    value: textIn(value.get('value'), subject),
    distance: distance === undefined ? 1 : integerIn(distance, `distance in ${subject}`, 0, MAX_DISTANCE),
    isSwapOne: value.get('transpositionCostOne') !== false,
    isPrefix: value.get('prefix') === true,
  };
}

function phrase(value: FilterJson, subject: string): Condition {
  if (!isObject(value)) return { kind: 'phrase', value: textIn(value, subject), slop: 0, isPrefix: false };
  refuseOthers(value, ['value', 'slop', 'prefix'], subject);
  const slop = value.get('slop');
  return {
    kind: 'phrase',
    value: textIn(value.get('value'), subject),
    slop: slop === undefined ? 0 : integerIn(slop, `slop in ${subject}`, 0, MAX_SLOP),
    isPrefix: value.get('prefix') === true,
  };
}

function boostOf(value: FilterJson): number {
  return numberIn(value, '$boost', 0, MAX_BOOST);
}
