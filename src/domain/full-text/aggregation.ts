/** Parsed aggregations: statistics over documents, and groups of documents with statistics of their own. */
import type { FieldValue } from './field-values.js';
import type { Column, KeywordField } from './value-fields.js';

export type MetricKind = 'avg' | 'sum' | 'min' | 'max' | 'count' | 'cardinality' | 'stats';

export interface Range {
  readonly key: string;
  readonly from: number | undefined;
  readonly to: number | undefined;
}

export interface Bounds {
  readonly min: number;
  readonly max: number;
}

interface OfColumn {
  readonly column: Column;
  /** In place of a missing value; undefined: such documents are left out. */
  readonly missing: FieldValue | undefined;
}

export type Metric =
  | ({ readonly kind: MetricKind } & OfColumn)
  | ({ readonly kind: 'extendedStats'; readonly sigma: number } & OfColumn)
  | ({ readonly kind: 'percentiles'; readonly percents: readonly number[]; readonly isKeyed: boolean } & OfColumn);

export type Grouping =
  | ({
      readonly kind: 'terms';
      readonly size: number;
      readonly least: number;
      readonly order: TermOrder;
      readonly isDate: boolean;
    } & OfColumn)
  | ({ readonly kind: 'range'; readonly ranges: readonly Range[] } & OfColumn)
  | ({
      readonly kind: 'histogram';
      readonly interval: number;
      readonly offset: number;
      readonly least: number;
      /** Values outside of it are left out. */
      readonly hard: Bounds | undefined;
      /** Empty groups are added up to it. */
      readonly extended: Bounds | undefined;
      readonly isDate: boolean;
    } & OfColumn);

export interface TermOrder {
  /** `count`, `key`, or the name of a nested metric with one value. */
  readonly by: string;
  readonly isDescending: boolean;
}

export interface FacetTree {
  readonly kind: 'facet';
  readonly field: KeywordField;
  readonly path: string;
  readonly depth: number;
  readonly size: number;
  readonly least: number;
  readonly order: TermOrder;
}

export interface Grouped {
  readonly kind: 'groups';
  readonly grouping: Grouping;
  readonly nested: readonly NamedAggregation[];
}

export interface NamedAggregation {
  readonly name: string;
  readonly aggregation: Metric | Grouped | FacetTree;
}

/** A result: a value, a list, or names with results. */
export type AggregationResult = FieldValue | null | readonly AggregationResult[] | NamedResults;

export class NamedResults {
  constructor(readonly pairs: readonly (readonly [string, AggregationResult])[]) {}
}
