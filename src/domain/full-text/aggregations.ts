/**
 * Collects the states of aggregations from the documents of a filter, in slices.
 *
 *  AGG1 all results are exact, except for the rounding of numbers
 */
import type { FacetTree, Grouped, Grouping, Metric, NamedAggregation } from './aggregation.js';
import type { AggregationState, BucketState } from './aggregation-states.js';
import { facetCounts } from './facet-tree.js';
import type { FieldValue } from './field-values.js';
import { SLICE_POSTINGS } from './limits.js';
import { MetricState } from './metrics.js';
import type { Column } from './value-fields.js';

type Steps<T> = Generator<void, T>;

/** Documents and values read between two pauses. */
const PACE = SLICE_POSTINGS / 4;

export function* collectedStates(
  aggregations: readonly NamedAggregation[],
  ordinals: ArrayLike<number>,
): Steps<readonly AggregationState[]> {
  const states: AggregationState[] = [];
  for (const { aggregation } of aggregations) {
    states.push(yield* collected(aggregation, ordinals));
    yield;
  }
  return states;
}

function* collected(aggregation: Metric | Grouped | FacetTree, ordinals: ArrayLike<number>): Steps<AggregationState> {
  if (aggregation.kind === 'facet') {
    return { kind: 'facet', documents: yield* facetCounts(aggregation, ordinals) };
  }
  if (aggregation.kind === 'groups') {
    const { grouping, nested } = aggregation;
    return { kind: 'groups', buckets: yield* grouped(grouping, nested, ordinals) };
  }
  const metric = new MetricState(aggregation);
  let done = 0;
  for (let at = 0; at < ordinals.length; at += 1) {
    const values = valuesAt(aggregation, ordinals[at] as number);
    for (const value of values) metric.add(value);
    done += 1 + values.length;
    if (done < PACE) continue;
    done = 0;
    yield;
  }
  return { kind: 'metric', metric };
}

/** Groups documents by keys of their values; a document is in a group once. */
function* grouped(
  grouping: Grouping,
  nested: readonly NamedAggregation[],
  ordinals: ArrayLike<number>,
): Steps<readonly BucketState[]> {
  const keysOf = keysFor(grouping);
  const work = grouping.kind === 'range' ? grouping.ranges.length : 1;
  const byKey = new Map<FieldValue, number[]>();
  let done = 0;
  for (let at = 0; at < ordinals.length; at += 1) {
    const ordinal = ordinals[at] as number;
    const values = valuesAt(grouping, ordinal);
    for (const value of values) {
      for (const key of keysOf(value)) {
        const members = byKey.get(key);
        if (members === undefined) byKey.set(key, [ordinal]);
        else if (members.at(-1) !== ordinal) members.push(ordinal);
      }
      done += work;
      if (done < PACE) continue;
      done = 0;
      yield;
    }
    done += 1;
  }
  const buckets: BucketState[] = [];
  for (const [key, members] of byKey) {
    buckets.push({ key, count: members.length, nested: () => collectedStates(nested, members) });
    if (buckets.length % PACE === 0) yield;
  }
  return buckets;
}

/** The keys of the groups of a value. */
function keysFor(grouping: Grouping): (value: FieldValue) => readonly FieldValue[] {
  switch (grouping.kind) {
    case 'terms':
      return (value) => [value];
    case 'range': {
      const places = [...grouping.ranges.entries()];
      return (given) => {
        const value = Number(given);
        return places.flatMap(([place, { from = -Infinity, to = Infinity }]) =>
          value >= from && value < to ? [place] : [],
        );
      };
    }
    case 'histogram': {
      const { hard } = grouping;
      const placeOf = placeIn(grouping);
      return (given) => {
        const value = Number(given);
        return hard !== undefined && (value < hard.min || value > hard.max) ? [] : [placeOf(value)];
      };
    }
  }
}

/** The number of the step of a histogram that has the value. */
export function placeIn({ interval, offset }: { readonly interval: number; readonly offset: number }) {
  return (value: number): number => Math.floor((value - offset) / interval);
}

interface Source {
  readonly column: Column;
  readonly missing: FieldValue | undefined;
}

function valuesAt({ column, missing }: Source, ordinal: number): readonly FieldValue[] {
  const values = column.values(ordinal);
  return values.length === 0 && missing !== undefined ? [missing] : values;
}
