/**
 * The states of aggregations: collected from documents, or joined from those of several partitions. Results are made
 * from them (`aggregation-results.ts`).
 *
 *  AST1 joined states are those of all documents together
 */
import type { FacetTree, Grouped, Metric, NamedAggregation } from './aggregation.js';
import { SearchProblem } from './definition.js';
import type { FieldValue } from './field-values.js';
import type { FilterJson } from './json.js';
import { MAX_SHARED_BUCKETS } from './limits.js';
import { MetricState } from './metrics.js';

type Steps<T> = Generator<void, T>;

/** Documents of one group; a range and a step of a histogram have their number as key. */
export interface BucketState {
  readonly key: FieldValue;
  readonly count: number;
  /** The states of the nested aggregations; made when they are needed. */
  nested(): Steps<readonly AggregationState[]>;
}

export type AggregationState =
  | { readonly kind: 'metric'; readonly metric: MetricState }
  | { readonly kind: 'groups'; readonly buckets: readonly BucketState[] }
  /** Documents by path. */
  | { readonly kind: 'facet'; readonly documents: ReadonlyMap<string, number> };

/** The states as JSON, for another partition. @throws SearchProblem above the bounds */
export function* encodedStates(states: readonly AggregationState[]): Steps<FilterJson> {
  return yield* new StateEncoding().all(states);
}

class StateEncoding {
  #buckets = 0;

  *all(states: readonly AggregationState[]): Steps<FilterJson> {
    const encoded: FilterJson[] = [];
    for (const state of states) encoded.push(yield* this.#one(state));
    return encoded;
  }

  *#one(state: AggregationState): Steps<FilterJson> {
    if (state.kind === 'metric') return yield* state.metric.encoded();
    if (state.kind === 'facet') {
      this.#count(state.documents.size);
      return [[...state.documents.keys()], [...state.documents.values()]];
    }
    this.#count(state.buckets.length);
    const buckets: FilterJson[] = [];
    for (const bucket of state.buckets) {
      buckets.push([bucket.key, bucket.count, yield* this.all(yield* bucket.nested())]);
      yield;
    }
    return buckets;
  }

  #count(buckets: number): void {
    this.#buckets += buckets;
    if (this.#buckets > MAX_SHARED_BUCKETS) {
      throw new SearchProblem(
        `Groups are joined up to ${MAX_SHARED_BUCKETS} in each partition: make the filter narrower, or use a database ` +
          'of one partition',
      );
    }
  }
}

/** The states of one partition, as `encodedStates` wrote them. */
export function decodedStates(
  aggregations: readonly NamedAggregation[],
  given: FilterJson,
): readonly AggregationState[] {
  const parts = given as readonly FilterJson[];
  return aggregations.map(({ aggregation }, place) => decoded(aggregation, parts[place] as readonly FilterJson[]));
}

function decoded(aggregation: Metric | Grouped | FacetTree, given: readonly FilterJson[]): AggregationState {
  if (aggregation.kind === 'groups') {
    const buckets = (given as readonly (readonly FilterJson[])[]).map(([key, count, nested]) => ({
      key: key as FieldValue,
      count: Number(count),
      *nested() {
        yield;
        return decodedStates(aggregation.nested, nested as FilterJson);
      },
    }));
    return { kind: 'groups', buckets };
  }
  if (aggregation.kind !== 'facet') return { kind: 'metric', metric: MetricState.decoded(aggregation, given) };
  const [paths, counts] = given as readonly [readonly string[], readonly number[]];
  return { kind: 'facet', documents: new Map(paths.map((path, place) => [path, Number(counts[place])])) };
}

/** The states of all documents, from those of each part. */
export function* joinedStates(
  aggregations: readonly NamedAggregation[],
  parts: readonly (readonly AggregationState[])[],
): Steps<readonly AggregationState[]> {
  const joined: AggregationState[] = [];
  for (const [place, { aggregation }] of aggregations.entries()) {
    const own = parts.map((states) => states[place] as AggregationState);
    joined.push(yield* joinedOne(aggregation, own));
    yield;
  }
  return joined;
}

function* joinedOne(
  aggregation: Metric | Grouped | FacetTree,
  parts: readonly AggregationState[],
): Steps<AggregationState> {
  if (aggregation.kind === 'groups') return yield* joinedGroups(aggregation, parts);
  if (aggregation.kind !== 'facet') {
    const metric = new MetricState(aggregation);
    for (const part of parts) {
      if (part.kind === 'metric') metric.join(part.metric);
      yield;
    }
    return { kind: 'metric', metric };
  }
  const documents = new Map<string, number>();
  for (const part of parts) {
    if (part.kind !== 'facet') continue;
    for (const [path, count] of part.documents) documents.set(path, (documents.get(path) ?? 0) + count);
    yield;
  }
  return { kind: 'facet', documents };
}

function* joinedGroups({ nested }: Grouped, parts: readonly AggregationState[]): Steps<AggregationState> {
  const byKey = new Map<FieldValue, BucketState[]>();
  for (const part of parts) {
    if (part.kind !== 'groups') continue;
    for (const bucket of part.buckets) {
      const same = byKey.get(bucket.key);
      if (same === undefined) byKey.set(bucket.key, [bucket]);
      else same.push(bucket);
    }
    yield;
  }
  const buckets = [...byKey].map(([key, same]) => ({
    key,
    count: same.reduce((sum, { count }) => sum + count, 0),
    *nested() {
      const inner: (readonly AggregationState[])[] = [];
      for (const bucket of same) inner.push(yield* bucket.nested());
      return yield* joinedStates(nested, inner);
    },
  }));
  return { kind: 'groups', buckets };
}
