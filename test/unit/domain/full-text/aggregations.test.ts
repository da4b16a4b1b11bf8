/** Proves AGG1 by arithmetic over the documents. */
import { expect } from 'chai';
import fc from 'fast-check';
import {
  type AggregationResult,
  collectedStates,
  type FilterJson,
  IndexContents,
  type IndexDefinition,
  MAX_AGGREGATIONS,
  NamedResults,
  parseAggregations,
  resultsOf,
  type Scalar,
  SearchProblem,
} from '../../../../src/domain/full-text/index.js';
import { inOneStep } from '../../../../src/domain/kv/steps.js';

const plain = { isFast: true, isWhole: false, keepsForms: false, from: undefined };
const DEFINITION: IndexDefinition = {
  source: 'HASH',
  prefixes: ['d:'],
  stream: undefined,
  language: 'english',
  fields: [
    { ...plain, path: 'n', type: 'F64' },
    { ...plain, path: 'kind', type: 'KEYWORD' },
    { ...plain, path: 'at', type: 'DATE' },
    { ...plain, path: 'slow', type: 'F64', isFast: false },
  ],
};

function json(value: unknown): FilterJson {
  if (Array.isArray(value)) return value.map(json);
  if (typeof value === 'object' && value !== null) {
    return new Map(Object.entries(value).map(([name, member]) => [name, json(member)]));
  }
  return value as Scalar | null;
}

function plainOf(result: AggregationResult): unknown {
  if (result instanceof NamedResults) {
    return Object.fromEntries(result.pairs.map(([name, value]) => [name, plainOf(value)]));
  }
  return Array.isArray(result) ? (result as readonly AggregationResult[]).map(plainOf) : result;
}

interface Row {
  readonly n: number | undefined;
  readonly kind: string | undefined;
}

function contentsOf(rows: readonly Row[]): IndexContents {
  const contents = new IndexContents(DEFINITION);
  for (const [id, { n, kind }] of rows.entries()) {
    inOneStep(contents.put(`d:${id}`, [n === undefined ? [] : [n], kind === undefined ? [] : [kind], [], []]));
  }
  return contents;
}

function allOf(contents: IndexContents): number[] {
  return Array.from({ length: contents.ordinals }, (_, ordinal) => ordinal);
}

function resultOf(contents: IndexContents, aggregation: unknown): unknown {
  const aggregations = parseAggregations(json({ a: aggregation }), contents);
  const states = ended(collectedStates(aggregations, allOf(contents)));
  return (plainOf(ended(resultsOf(aggregations, states))) as { a: unknown }).a;
}

function ended<T>(steps: Generator<void, T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

const ROWS = fc.array(
  fc.record({
    n: fc.option(fc.integer({ min: -50, max: 50 }), { nil: undefined }),
    kind: fc.option(fc.constantFrom('a', 'b', 'c'), { nil: undefined }),
  }),
  { minLength: 1, maxLength: 30 },
);

describe('full-text: aggregations', () => {
  it('$stats and $percentiles are those of the values', () => {
    fc.assert(
      fc.property(ROWS, (rows) => {
        const contents = contentsOf(rows);
        const values = rows.flatMap(({ n }) => (n === undefined ? [] : [n])).sort((a, b) => a - b);
        const sum = values.reduce((total, value) => total + value, 0);
        const [min = null] = values;
        expect(resultOf(contents, { $stats: { field: 'n' } })).to.deep.equal({
          count: values.length,
          min,
          max: values.at(-1) ?? null,
          sum,
          avg: values.length === 0 ? null : sum / values.length,
        });
        const middle = values.length % 2 === 1 ? values[(values.length - 1) / 2] : undefined;
        if (middle === undefined) return;
        expect(resultOf(contents, { $percentiles: { field: 'n', percents: [0, 50], keyed: false } })).to.deep.equal({
          values: [
            { key: 0, value: min },
            { key: 50, value: middle },
          ],
        });
      }),
    );
  });

  it('$extendedStats has variances and bounds of the population and of a sample', () => {
    const contents = contentsOf([2, 4, 4, 4, 5, 5, 7, 9].map((n) => ({ n, kind: undefined })));
    expect(resultOf(contents, { $extendedStats: { field: 'n', sigma: 3 } })).to.deep.include({
      sumOfSquares: 232,
      variance: 4,
      varianceSampling: 32 / 7,
      stdDeviation: 2,
      stdDeviationBounds: {
        upper: 11,
        lower: -1,
        upperSampling: 5 + 3 * Math.sqrt(32 / 7),
        lowerSampling: 5 - 3 * Math.sqrt(32 / 7),
        upperPopulation: 11,
        lowerPopulation: -1,
      },
    });
  });

  it('$terms has the largest groups, with aggregations of their own, and counts the others', () => {
    fc.assert(
      fc.property(ROWS, (rows) => {
        const sizes = new Map<string, number>();
        for (const { kind } of rows) if (kind !== undefined) sizes.set(kind, (sizes.get(kind) ?? 0) + 1);
        const groups = [...sizes].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1));
        const ofKind = (kind: string) => rows.filter((row) => row.kind === kind && row.n !== undefined).length;
        expect(
          resultOf(contentsOf(rows), { $terms: { field: 'kind', size: 2 }, $aggs: { c: { $count: { field: 'n' } } } }),
        ).to.deep.equal({
          buckets: groups.slice(0, 2).map(([key, docCount]) => ({ key, docCount, c: { value: ofKind(key) } })),
          sumOtherDocCount: groups.slice(2).reduce((sum, [, size]) => sum + size, 0),
          docCountErrorUpperBound: 0,
        });
      }),
    );
  });

  it('$histogram has every step between the first value and the last', () => {
    fc.assert(
      fc.property(ROWS, fc.integer({ min: 1, max: 20 }), (rows, interval) => {
        const keys = rows.flatMap(({ n }) => (n === undefined ? [] : [Math.floor(n / interval) * interval]));
        const [first, last] = [Math.min(...keys), Math.max(...keys)];
        const count = keys.length === 0 ? 0 : (last - first) / interval + 1;
        const buckets = Array.from({ length: count }, (_, at) => first + at * interval);
        expect(resultOf(contentsOf(rows), { $histogram: { field: 'n', interval } })).to.deep.equal({
          buckets: buckets.map((key) => ({ key, docCount: keys.filter((one) => one === key).length })),
        });
      }),
    );
  });

  it('$histogram leaves out values outside of hardBounds, and adds groups up to extendedBounds', () => {
    const contents = contentsOf([1, 15, 35].map((n) => ({ n, kind: undefined })));
    const bounds = { hardBounds: { min: 0, max: 20 }, extendedBounds: { min: 0, max: 25 } };
    expect(resultOf(contents, { $histogram: { field: 'n', interval: 10, ...bounds } })).to.deep.equal({
      buckets: [
        { key: 0, docCount: 1 },
        { key: 10, docCount: 1 },
        { key: 20, docCount: 0 },
      ],
    });
  });

  for (const [aggregation, message] of [
    [{ $avg: { field: 'slow' } }, 'The field is not FAST: slow'],
    [{ $avg: { field: 'kind' } }, '$avg is not for fields of type KEYWORD: kind'],
    [{ $avg: { field: 'other' } }, 'Unknown field: other'],
    [{ $avg: { field: 'n', size: 1 } }, '$avg has no option size'],
    [{ $avg: { field: 'n' }, $aggs: {} }, '$avg has no $aggs'],
    [{ $histogram: { field: 'n', interval: 0 } }, 'interval is above 0'],
    [
      { $dateHistogram: { field: 'at', fixedInterval: '1 day' } },
      'fixedInterval expects a duration such as 1d, 12h or 30m',
    ],
    [{ $range: { field: 'n', ranges: [] } }, 'ranges expects a list of ranges'],
    [{ $facet: { field: 'kind', path: '/' } }, '$facet is for fields of type FACET: kind'],
    [{}, 'The aggregation a expects one operator'],
  ] as const) {
    it(`are refused with a reason: ${JSON.stringify(aggregation)}`, () => {
      expect(() => parseAggregations(json({ a: aggregation }), contentsOf([]))).to.throw(SearchProblem, message);
    });
  }

  it('have a bound', () => {
    const many = Object.fromEntries(
      Array.from({ length: MAX_AGGREGATIONS + 1 }, (_, at) => [`a${at}`, { $sum: { field: 'n' } }]),
    );
    expect(() => parseAggregations(json(many), contentsOf([]))).to.throw(SearchProblem, 'At most 64 aggregations');
  });
});
