/** Reads the aggregations of SEARCH.AGGREGATE. */
import type {
  Bounds,
  FacetTree,
  Grouping,
  Metric,
  MetricKind,
  NamedAggregation,
  Range,
  TermOrder,
} from './aggregation.js';
import { type FieldType, isNumeric, SearchProblem } from './definition.js';
import { type FieldValue, typedValueOf } from './field-values.js';
import type { IndexContents } from './index-contents.js';
import {
  type FilterJson,
  type FilterObject,
  integerIn,
  isList,
  isScalar,
  numberIn,
  objectIn,
  refuseOthers,
  textIn,
} from './json.js';
import { MAX_AGGREGATION_DEPTH, MAX_AGGREGATIONS, MAX_BUCKETS, MAX_IN_VALUES } from './limits.js';
import { type Column, KeywordField, NumberField } from './value-fields.js';

const METRICS: Readonly<Record<string, MetricKind>> = {
  $avg: 'avg',
  $sum: 'sum',
  $min: 'min',
  $max: 'max',
  $count: 'count',
  $cardinality: 'cardinality',
  $stats: 'stats',
};
const DEFAULT_PERCENTS = [1, 5, 25, 50, 75, 95, 99];
const DEFAULT_SIGMA = 2;
const DEFAULT_SIZE = 10;
const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const DURATION = /^(-?\d+)(ms|s|m|h|d)$/;
const NESTED = '$aggs';

/** @throws SearchProblem */
export function parseAggregations(given: FilterJson, contents: IndexContents): NamedAggregation[] {
  return new AggregationParser(contents).all(given, 1);
}

class AggregationParser {
  #count = 0;

  constructor(private readonly contents: IndexContents) {}

  all(given: FilterJson, depth: number): NamedAggregation[] {
    if (depth > MAX_AGGREGATION_DEPTH) {
      throw new SearchProblem(`Aggregations are nested ${MAX_AGGREGATION_DEPTH} deep at most`);
    }
    return [...objectIn(given, 'A list of aggregations')].map(([name, one]) => this.#named(name, one, depth));
  }

  #named(name: string, given: FilterJson, depth: number): NamedAggregation {
    this.#count += 1;
    if (this.#count > MAX_AGGREGATIONS) throw new SearchProblem(`At most ${MAX_AGGREGATIONS} aggregations`);
    const parts = objectIn(given, `The aggregation ${name}`);
    const operators = [...parts.keys()].filter((key) => key !== NESTED);
    const [operator] = operators;
    if (operator === undefined || operators.length > 1) {
      throw new SearchProblem(`The aggregation ${name} expects one operator`);
    }
    const options = objectIn(parts.get(operator), operator);
    const nested = parts.get(NESTED);
    const grouping = this.#groupingOf(operator, options);
    if (grouping !== undefined) {
      const inner = nested === undefined ? [] : this.all(nested, depth + 1);
      return { name, aggregation: { kind: 'groups', grouping, nested: inner } };
    }
    if (nested !== undefined) throw new SearchProblem(`${operator} has no ${NESTED}`);
    return { name, aggregation: operator === '$facet' ? this.#facet(options) : this.#metric(operator, options) };
  }

  #metric(operator: string, options: FilterObject): Metric {
    const kind = METRICS[operator];
    if (kind !== undefined) {
      refuseOthers(options, ['field', 'missing'], operator);
      const isAny = kind === 'count' || kind === 'cardinality';
      return { kind, ...this.#source(operator, options, isAny ? isOfValues : isOfNumbers) };
    }
    if (operator === '$extendedStats') {
      refuseOthers(options, ['field', 'missing', 'sigma'], operator);
      const sigma = options.get('sigma');
      return {
        kind: 'extendedStats',
        sigma: sigma === undefined ? DEFAULT_SIGMA : numberIn(sigma, 'sigma', 0),
        ...this.#source(operator, options, isOfNumbers),
      };
    }
    if (operator !== '$percentiles') throw new SearchProblem(`Unknown aggregation: ${operator}`);
    refuseOthers(options, ['field', 'missing', 'percents', 'keyed'], operator);
    return {
      kind: 'percentiles',
      percents: percentsOf(options.get('percents')),
      isKeyed: options.get('keyed') !== false,
      ...this.#source(operator, options, isOfNumbers),
    };
  }

  #groupingOf(operator: string, options: FilterObject): Grouping | undefined {
    switch (operator) {
      case '$terms':
        refuseOthers(
          options,
          ['field', 'missing', 'size', 'segmentSize', 'minDocCount', 'order', 'showTermDocCountError'],
          operator,
        );
        return {
          kind: 'terms',
          size: sizeOf(options, MAX_BUCKETS),
          least: leastOf(options, 1),
          order: orderOf(options),
          isDate: this.#typeOf(options) === 'DATE',
          ...this.#source(operator, options, isOfValues),
        };
      case '$range':
        refuseOthers(options, ['field', 'missing', 'ranges'], operator);
        return {
          kind: 'range',
          ranges: rangesOf(options.get('ranges')),
          ...this.#source(operator, options, isOfNumbers),
        };
      case '$histogram':
        refuseOthers(options, ['field', 'missing', 'interval', ...OF_HISTOGRAMS], operator);
        return {
          kind: 'histogram',
          interval: positive(numberIn(options.get('interval'), 'interval'), 'interval'),
          offset: options.get('offset') === undefined ? 0 : numberIn(options.get('offset'), 'offset'),
          isDate: this.#typeOf(options) === 'DATE',
          ...histogramOf(options),
          ...this.#source(operator, options, isOfNumbers),
        };
      case '$dateHistogram':
        refuseOthers(options, ['field', 'missing', 'fixedInterval', ...OF_HISTOGRAMS], operator);
        return {
          kind: 'histogram',
          interval: positive(durationOf(options.get('fixedInterval'), 'fixedInterval'), 'fixedInterval'),
          offset: options.get('offset') === undefined ? 0 : durationOf(options.get('offset'), 'offset'),
          isDate: true,
          ...histogramOf(options),
          ...this.#source(operator, options, (type) => type === 'DATE'),
        };
      default:
        return undefined;
    }
  }

  #facet(options: FilterObject): FacetTree {
    refuseOthers(options, ['field', 'path', 'depth', 'size', 'minDocCount', 'order'], '$facet');
    const path = textIn(options.get('field'), 'field of $facet');
    const field = this.contents.field(path);
    if (!(field instanceof KeywordField) || field.field.type !== 'FACET') {
      throw new SearchProblem(`$facet is for fields of type FACET: ${path}`);
    }
    const given = textIn(options.get('path') ?? '/', 'path of $facet');
    const root = given === '/' ? '' : typedValueOf('FACET', given);
    if (typeof root !== 'string') throw new SearchProblem('path of $facet begins with /');
    const depth = options.get('depth');
    return {
      kind: 'facet',
      field,
      path: root,
      depth: depth === undefined ? 1 : integerIn(depth, 'depth', 1, MAX_AGGREGATION_DEPTH),
      size: sizeOf(options, MAX_BUCKETS),
      least: leastOf(options, 1),
      order: orderOf(options),
    };
  }

  #typeOf(options: FilterObject): FieldType | undefined {
    const path = options.get('field');
    return typeof path === 'string' ? this.contents.field(path)?.field.type : undefined;
  }

  /** @throws SearchProblem for a field that is not FAST or not of such a type */
  #source(operator: string, options: FilterObject, fits: (type: FieldType) => boolean) {
    const path = textIn(options.get('field'), `field of ${operator}`);
    const contents = this.contents.field(path);
    if (contents === undefined) throw new SearchProblem(`Unknown field: ${path}`);
    const { type, isFast } = contents.field;
    if (!fits(type)) throw new SearchProblem(`${operator} is not for fields of type ${type}: ${path}`);
    // The values of keywords are kept in any case.
    if (!isFast && type !== 'KEYWORD') throw new SearchProblem(`The field is not FAST: ${path}`);
    const column: Column | undefined =
      contents instanceof NumberField || contents instanceof KeywordField ? contents : undefined;
    if (column === undefined) throw new SearchProblem(`${operator} is not for fields of type ${type}: ${path}`);
    return { column, missing: missingOf(options.get('missing'), type) };
  }
}

const OF_HISTOGRAMS = ['offset', 'minDocCount', 'hardBounds', 'extendedBounds'];

function isOfNumbers(type: FieldType): boolean {
  return isNumeric(type) || type === 'DATE';
}

function isOfValues(type: FieldType): boolean {
  return type !== 'TEXT' && type !== 'FACET';
}

function missingOf(given: FilterJson | undefined, type: FieldType): FieldValue | undefined {
  if (given === undefined) return undefined;
  const value = isScalar(given) ? typedValueOf(type, given) : undefined;
  if (value === undefined) throw new SearchProblem(`missing expects a value of type ${type}`);
  return value;
}

function percentsOf(given: FilterJson | undefined): readonly number[] {
  if (given === undefined) return DEFAULT_PERCENTS;
  if (!isList(given) || given.length === 0 || given.length > MAX_IN_VALUES) {
    throw new SearchProblem('percents expects a list of numbers');
  }
  return given.map((percent) => numberIn(percent, 'percents', 0, 100));
}

function rangesOf(given: FilterJson | undefined): Range[] {
  if (!isList(given) || given.length === 0) throw new SearchProblem('ranges expects a list of ranges');
  if (given.length > MAX_IN_VALUES) throw new SearchProblem(`$range has at most ${MAX_IN_VALUES} ranges`);
  return given.map((one) => {
    const range = objectIn(one, 'A range');
    refuseOthers(range, ['from', 'to', 'key'], 'A range');
    const from = boundOf(range.get('from'), 'from');
    const to = boundOf(range.get('to'), 'to');
    const key = range.get('key');
    return { key: typeof key === 'string' ? key : `${from ?? '*'}-${to ?? '*'}`, from, to };
  });
}

function boundOf(given: FilterJson | undefined, name: string): number | undefined {
  if (given === undefined || given === null) return undefined;
  const date = typeof given === 'string' ? typedValueOf('DATE', given) : undefined;
  return typeof date === 'number' ? date : numberIn(given, name);
}

function histogramOf(options: FilterObject) {
  return {
    least: leastOf(options, 0),
    hard: boundsOf(options.get('hardBounds'), 'hardBounds'),
    extended: boundsOf(options.get('extendedBounds'), 'extendedBounds'),
  };
}

function boundsOf(given: FilterJson | undefined, name: string): Bounds | undefined {
  if (given === undefined) return undefined;
  const bounds = objectIn(given, name);
  const min = boundOf(bounds.get('min'), `min of ${name}`);
  const max = boundOf(bounds.get('max'), `max of ${name}`);
  if (min === undefined || max === undefined || min > max) throw new SearchProblem(`${name} expects min and max`);
  return { min, max };
}

function durationOf(given: FilterJson | undefined, name: string): number {
  const [, count = '', unit = ''] = DURATION.exec(textIn(given, name)) ?? [];
  const unitMs = UNIT_MS[unit];
  if (unitMs === undefined) throw new SearchProblem(`${name} expects a duration such as 1d, 12h or 30m`);
  return Number(count) * unitMs;
}

function positive(value: number, name: string): number {
  if (value > 0) return value;
  throw new SearchProblem(`${name} is above 0`);
}

function sizeOf(options: FilterObject, most: number): number {
  const size = options.get('size');
  return size === undefined ? DEFAULT_SIZE : integerIn(size, 'size', 1, most);
}

function leastOf(options: FilterObject, fallback: number): number {
  const least = options.get('minDocCount');
  return least === undefined ? fallback : integerIn(least, 'minDocCount', 0, Number.MAX_SAFE_INTEGER);
}

/** `{ "count": "asc" }`; `_count` and `_key` are spellings of other search engines. */
function orderOf(options: FilterObject): TermOrder {
  const given = options.get('order');
  if (given === undefined) return { by: 'count', isDescending: true };
  const [entry, ...others] = objectIn(given, 'order');
  const direction = entry?.[1];
  if (entry === undefined || others.length > 0 || (direction !== 'asc' && direction !== 'desc')) {
    throw new SearchProblem('order expects one name with asc or desc');
  }
  const name = entry[0].replace(/^_/, '');
  return { by: name === 'path' || name === 'term' ? 'key' : name, isDescending: direction === 'desc' };
}
