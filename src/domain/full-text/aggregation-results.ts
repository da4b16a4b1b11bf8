/** The results of aggregations, from their states: groups in their order and number, with the results of nested ones. */
import {
  type AggregationResult,
  type FacetTree,
  type Grouped,
  type Grouping,
  type Metric,
  type NamedAggregation,
  NamedResults,
} from './aggregation.js';
import type { AggregationState, BucketState } from './aggregation-states.js';
import { collectedStates, placeIn } from './aggregations.js';
import { SearchProblem } from './definition.js';
import { facetResult } from './facet-tree.js';
import { compareValues, type FieldValue } from './field-values.js';
import { firstOf } from './first-places.js';
import { MAX_BUCKETS, SLICE_POSTINGS } from './limits.js';

type Steps<T> = Generator<void, T>;
type Pairs = (readonly [string, AggregationResult])[];
type Nested = readonly NamedAggregation[];

/** @throws SearchProblem for too many buckets */
export function* resultsOf(aggregations: Nested, states: readonly AggregationState[]): Steps<NamedResults> {
  return yield* new AggregationResults().all(aggregations, states);
}

class AggregationResults {
  #buckets = 0;

  *all(aggregations: Nested, states: readonly AggregationState[]): Steps<NamedResults> {
    const pairs: [string, AggregationResult][] = [];
    for (const [place, { name, aggregation }] of aggregations.entries()) {
      pairs.push([name, yield* this.#one(aggregation, states[place] as AggregationState)]);
      yield;
    }
    return new NamedResults(pairs);
  }

  *#one(aggregation: Metric | Grouped | FacetTree, state: AggregationState): Steps<AggregationResult> {
    if (state.kind === 'metric') return yield* state.metric.result();
    if (aggregation.kind === 'groups' && state.kind === 'groups') {
      return yield* this.#groups(aggregation, state.buckets);
    }
    if (aggregation.kind !== 'facet' || state.kind !== 'facet') return null;
    return yield* facetResult(aggregation, state.documents, (count) => this.#countBuckets(count));
  }

  *#groups({ grouping, nested }: Grouped, buckets: readonly BucketState[]): Steps<AggregationResult> {
    switch (grouping.kind) {
      case 'terms':
        return yield* this.#terms(grouping, nested, buckets);
      case 'range':
        return yield* this.#ranges(grouping, nested, buckets);
      case 'histogram':
        return yield* this.#histogram(grouping, nested, buckets);
    }
  }

  *#terms(
    { order, size, least, isDate }: Extract<Grouping, { kind: 'terms' }>,
    nested: Nested,
    buckets: readonly BucketState[],
  ): Steps<AggregationResult> {
    const all: BucketState[] = [];
    let documents = 0;
    for (const [at, bucket] of buckets.entries()) {
      if (at % SLICE_POSTINGS === SLICE_POSTINGS - 1) yield;
      if (bucket.count < least) continue;
      all.push(bucket);
      documents += bucket.count;
    }
    let rank = (bucket: BucketState): FieldValue => (order.by === 'count' ? bucket.count : bucket.key);
    if (order.by !== 'count' && order.by !== 'key') {
      const place = nested.findIndex(({ name }) => name === order.by);
      if (place < 0) throw new SearchProblem(`order names no nested aggregation: ${order.by}`);
      const values = new Map<BucketState, number>();
      for (const bucket of all) {
        const state = (yield* bucket.nested())[place] as AggregationState;
        values.set(bucket, yield* this.#valueOf(nested[place] as NamedAggregation, state));
      }
      rank = (bucket) => values.get(bucket) as number;
    }
    const places = yield* firstOf(all.length, size, (one, other) => {
      const [a, b] = [all[one] as BucketState, all[other] as BucketState];
      const compared = compareValues(rank(a), rank(b));
      return (order.isDescending ? -compared : compared) || compareValues(a.key, b.key);
    });
    const shown = places.map((place) => all[place] as BucketState);
    const left = shown.reduce((sum, { count }) => sum - count, documents);
    this.#countBuckets(shown.length);
    const results: AggregationResult[] = [];
    for (const bucket of shown) results.push(yield* this.#bucket(keyPairs(bucket.key, isDate), bucket, nested));
    return new NamedResults([
      ['buckets', results],
      ['sumOtherDocCount', left],
      ['docCountErrorUpperBound', 0],
    ]);
  }

  /** The single value of a metric. */
  *#valueOf({ aggregation, name }: NamedAggregation, state: AggregationState): Steps<number> {
    const result = yield* this.#one(aggregation, state);
    const value = result instanceof NamedResults ? result.pairs.find(([key]) => key === 'value')?.[1] : undefined;
    if (value === undefined) throw new SearchProblem(`order needs a metric with one value: ${name}`);
    return value === null ? Number.NEGATIVE_INFINITY : Number(value);
  }

  *#ranges(
    { ranges }: Extract<Grouping, { kind: 'range' }>,
    nested: Nested,
    buckets: readonly BucketState[],
  ): Steps<AggregationResult> {
    this.#countBuckets(ranges.length);
    const byPlace = new Map(buckets.map((bucket) => [Number(bucket.key), bucket]));
    const results: AggregationResult[] = [];
    for (const [place, { key, from, to }] of ranges.entries()) {
      const head: [string, AggregationResult][] = [['key', key]];
      if (from !== undefined) head.push(['from', from]);
      if (to !== undefined) head.push(['to', to]);
      results.push(yield* this.#bucket(head, byPlace.get(place), nested));
    }
    return new NamedResults([['buckets', results]]);
  }

  *#histogram(
    grouping: Extract<Grouping, { kind: 'histogram' }>,
    nested: Nested,
    buckets: readonly BucketState[],
  ): Steps<AggregationResult> {
    const { interval, offset, least, extended, isDate } = grouping;
    const placeOf = placeIn(grouping);
    const byPlace = new Map<number, BucketState>();
    for (const [at, bucket] of buckets.entries()) {
      if (at % SLICE_POSTINGS === SLICE_POSTINGS - 1) yield;
      if (bucket.count >= least) byPlace.set(Number(bucket.key), bucket);
    }
    this.#requireRoom(byPlace.size);
    let places = [...byPlace.keys()].sort((a, b) => a - b);
    if (least === 0 && (places.length > 0 || extended !== undefined)) {
      const first = Math.min(places[0] ?? Infinity, extended === undefined ? Infinity : placeOf(extended.min));
      const last = Math.max(places.at(-1) ?? -Infinity, extended === undefined ? -Infinity : placeOf(extended.max));
      this.#requireRoom(last - first + 1);
      places = Array.from({ length: last - first + 1 }, (_, at) => first + at);
    }
    this.#countBuckets(places.length);
    const results: AggregationResult[] = [];
    for (const place of places) {
      const head = keyPairs(place * interval + offset, isDate);
      results.push(yield* this.#bucket(head, byPlace.get(place), nested));
    }
    return new NamedResults([['buckets', results]]);
  }

  /** @param bucket undefined: no documents */
  *#bucket(head: Pairs, bucket: BucketState | undefined, nested: Nested): Steps<NamedResults> {
    const own: Pairs = [...head, ['docCount', bucket?.count ?? 0]];
    if (nested.length === 0) return new NamedResults(own);
    const states = bucket === undefined ? yield* collectedStates(nested, []) : yield* bucket.nested();
    const inner = yield* this.all(nested, states);
    return new NamedResults([...own, ...inner.pairs]);
  }

  #countBuckets(count: number): void {
    this.#requireRoom(count);
    this.#buckets += count;
  }

  #requireRoom(count: number): void {
    if (this.#buckets + count > MAX_BUCKETS) {
      throw new SearchProblem(`An answer has at most ${MAX_BUCKETS} buckets: use a larger interval or a smaller size`);
    }
  }
}

function keyPairs(key: FieldValue, isDate: boolean): [string, AggregationResult][] {
  if (!isDate || typeof key !== 'number') return [['key', typeof key === 'boolean' ? Number(key) : key]];
  const atMs = new Date(key);
  return Number.isNaN(atMs.getTime())
    ? [['key', key]]
    : [
        ['key', key],
        ['keyAsString', atMs.toISOString()],
      ];
}
