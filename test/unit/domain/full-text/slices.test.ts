/** Proves LIX4; indexing and queries pause often, for any document and any filter. */
import { expect } from 'chai';
import {
  collectedStates,
  FilterEvaluation,
  type FilterJson,
  IndexContents,
  type IndexDefinition,
  MAX_FIELDS,
  MAX_REGEXES,
  parseAggregations,
  parseFilter,
  resultsOf,
  SLICE_POSTINGS,
} from '../../../../src/domain/full-text/index.js';
import { type CommandSpec, findCommand, KvEngine } from '../../../../src/domain/kv/index.js';
import { inOneStep } from '../../../../src/domain/kv/steps.js';
import { seededRandom } from '../../../support/kv-bench.js';
import { processorMicros } from '../../../support/processor-time.js';

const plain = { isFast: true, isWhole: false, keepsForms: true, from: undefined };
const DEFINITION: IndexDefinition = {
  source: 'HASH',
  prefixes: ['d:'],
  stream: undefined,
  language: 'english',
  fields: [
    { path: 't', type: 'TEXT', ...plain },
    { path: 'w', type: 'TEXT', ...plain, isWhole: true },
    { path: 'k', type: 'KEYWORD', ...plain },
    { path: 'n', type: 'F64', ...plain },
    { path: 'f', type: 'FACET', ...plain },
  ],
};
const DOCUMENTS = 15_000;
/** Processor time, including garbage collection. Without slices each case takes from 0.2 to 20 s. */
const LONGEST_MS = 120;
/** The work limit of a query. */
const WORK_MS = 150;

/** A collection of all garbage falls into any step, so the shortest of several tries is judged. */
const TRIES = 3;

function shortestOf(makeSteps: () => Iterator<unknown>, mostMs?: number): number {
  let shortest = Number.POSITIVE_INFINITY;
  for (let tries = 0; tries < TRIES && shortest >= LONGEST_MS; tries += 1) {
    shortest = Math.min(shortest, longestStepOf(makeSteps(), mostMs));
  }
  return shortest;
}

/** The longest step, in milliseconds of processor time. @param mostMs the work after which it is stopped */
function longestStepOf(steps: Iterator<unknown>, mostMs = Number.POSITIVE_INFINITY): number {
  let longest = 0;
  for (let total = 0; total < mostMs * 1000; ) {
    const before = processorMicros();
    const isDone = steps.next().done === true;
    const micros = processorMicros() - before;
    longest = Math.max(longest, micros);
    total += micros;
    if (isDone) break;
  }
  return longest / 1000;
}

describe('full-text: slices of queries', function () {
  this.timeout(30_000);
  let contents: IndexContents;

  before(() => {
    contents = new IndexContents(DEFINITION);
    const dice = seededRandom(1);
    const letters = () => Array.from({ length: 20 }, () => (dice.float() < 0.5 ? 'a' : 'b')).join('');
    for (let id = 0; id < DOCUMENTS; id += 1) {
      const text = `${letters()}${id} ${'a '.repeat(id % 200)}`;
      inOneStep(contents.put(`d:${id}`, [[text], [`whole ${id}`], [`k${id}`], [id], [`/a/${id}`]]));
    }
    inOneStep(contents.put('d:long', [[], ['x'.repeat(60_000)], [], [], []]));
  });

  const json = (value: unknown): FilterJson =>
    Array.isArray(value)
      ? value.map(json)
      : typeof value === 'object' && value !== null
        ? new Map(Object.entries(value).map(([name, member]) => [name, json(member)]))
        : (value as FilterJson);
  const found = function* (filter: unknown) {
    return yield* new FilterEvaluation(contents).best(parseFilter(json(filter), DEFINITION), 1000);
  };
  const aggregated = function* (aggregations: unknown) {
    const matches = yield* new FilterEvaluation(contents).matches(parseFilter(json({}), DEFINITION));
    const wanted = parseAggregations(json(aggregations), contents);
    return yield* resultsOf(wanted, yield* collectedStates(wanted, matches.ordinals));
  };

  for (const [name, filter] of [
    ['an expression with many states', { t: { $regex: '(a|b)*a(a|b){60}' } }],
    ['many expressions', { $or: Array.from({ length: MAX_REGEXES }, () => ({ t: { $regex: '(.?){64}x' } })) }],
    ['an expression for a long text', { w: { $regex: '(a|x)*x(a|x){60}' } }],
    ['a long text with two changes', { w: { $fuzzy: { value: 'x'.repeat(60_000), distance: 2 } } }],
    ['the beginning of every word', { t: { $phrase: { value: 'a a a', prefix: true } } }],
    ['a phrase of a repeated word', { t: { $phrase: { value: 'a '.repeat(64), slop: 100 } } }],
    ['conditions that all documents match', { $and: Array.from({ length: 100 }, () => ({ n: { $gte: 0 } })) }],
    ['many words that all documents have', { $and: Array.from({ length: 200 }, () => ({ t: 'a' })) }],
    ['many similar words', { $or: Array.from({ length: 200 }, () => ({ t: 'abababababababababab' })) }],
  ] as const) {
    it(`are short for ${name}`, () => {
      expect(shortestOf(() => found(filter), WORK_MS)).to.be.below(LONGEST_MS);
    });
  }

  for (const [name, aggregations] of [
    ['groups of one document each', { a: { $terms: { field: 'k', size: 10 } } }],
    ['a facet with a path for each document', { a: { $facet: { field: 'f', path: '/a', size: 10 } } }],
    ['a thousand ranges', { a: { $range: { field: 'n', ranges: Array.from({ length: 1000 }, (_, to) => ({ to })) } } }],
  ] as const) {
    it(`are short for ${name}`, () => {
      expect(shortestOf(() => aggregated(aggregations), WORK_MS)).to.be.below(LONGEST_MS);
    });
  }

  it('count each look-up of a document that must have many words', () => {
    const words = 120;
    const filter = parseFilter(json({ $and: Array.from({ length: words }, () => ({ t: { $eq: 'a' } })) }), DEFINITION);
    const steps = new FilterEvaluation(contents).matches(filter);
    let pauses = 0;
    for (let step = steps.next(); step.done !== true; step = steps.next()) pauses += 1;
    const documents = DOCUMENTS - DOCUMENTS / 200;
    expect(pauses).to.be.at.least(Math.floor((documents * words) / SLICE_POSTINGS));
  });

  it('a filter has a limited number of expressions', () => {
    const filter = json({ $or: Array.from({ length: MAX_REGEXES + 1 }, () => ({ t: { $regex: 'a' } })) });
    expect(() => parseFilter(filter, DEFINITION)).to.throw(`at most ${MAX_REGEXES} regular expressions`);
  });

  it('a histogram with too many steps is refused before they are sorted', () => {
    const aggregations = { a: { $histogram: { field: 'n', interval: 1, minDocCount: 1 } } };
    expect(() => inOneStep(aggregated(aggregations))).to.throw('An answer has at most 10000 buckets');
  });
});

describe('full-text: slices of indexing', function () {
  this.timeout(30_000);
  let engine: KvEngine;
  const run = (...words: string[]) => engine.execute(findCommand(words) as CommandSpec, words, 1);
  const fields = (type: string) =>
    Array.from({ length: MAX_FIELDS }, (_, at) => [`f${at}`, ...type.split(' '), 'FROM', 't']).flat();

  function* indexing() {
    engine.searches.sync();
    for (const live of engine.searches.all()) {
      while (live.hasWork) {
        live.step();
        yield;
      }
    }
  }

  const begin = () => {
    engine = new KvEngine(seededRandom(1), { nowMicros: () => 0, info: () => new Map() });
  };
  beforeEach(begin);

  /** The longest slice of the indexing after these commands, each try with a new store. */
  const longestAfter = (...commands: readonly (readonly string[])[]) =>
    shortestOf(() => {
      begin();
      for (const words of commands) run(...words);
      return indexing();
    }, 250);

  const text = Array.from({ length: 20_000 }, (_, at) => `word${at}`).join(' ');
  for (const [name, type, words] of [
    ['a long text in many fields', 'TEXT', ['HSET', 'd:1', 't', text]],
    ['a long text as a whole in many fields', 'TEXT NOTOKENIZE', ['HSET', 'd:1', 't', 'x'.repeat(8_000_000)]],
    ['a text without spaces', 'TEXT', ['HSET', 'd:1', 't', '漢字'.repeat(100_000)]],
  ] as const) {
    it(`are short for ${name}`, () => {
      const index = ['SEARCH.CREATE', 'i', 'ON', 'HASH', 'PREFIX', '1', 'd:', 'SCHEMA', ...fields(type)];
      expect(longestAfter(index, words)).to.be.below(LONGEST_MS);
    });
  }

  it('are short for a long array without values', () => {
    const index = ['SEARCH.CREATE', 'i', 'ON', 'JSON', 'PREFIX', '1', 'd:', 'SCHEMA', ...fields('TEXT')];
    const words = ['JSON.SET', 'd:1', '$', `{"t":[${'{},'.repeat(300_000)}{}]}`];
    expect(longestAfter(index, words)).to.be.below(LONGEST_MS);
  });

  it('a change during the slices of its key is indexed too', () => {
    run('SEARCH.CREATE', 'i', 'ON', 'HASH', 'PREFIX', '1', 'd:', 'SCHEMA', 't', 'TEXT');
    for (const _ of indexing());
    run('HSET', 'd:1', 't', text);
    const [live] = engine.searches.all();
    live?.step();
    expect(live?.pending).to.equal(1);
    expect(live?.hasProcessed(live.changes)).to.equal(false);
    run('HSET', 'd:1', 't', 'later');
    for (const _ of indexing());
    const words = ['SEARCH.COUNT', 'i', '{"t":{"$eq":"later"}}'];
    expect(run(...words)).to.equal(1);
  });

  it('an index without room is freed, refuses to answer, and is built when there is room', () => {
    engine.bounds.plan = { maxBytes: 8_000_000, isEvicting: false };
    run('SEARCH.CREATE', 'i', 'ON', 'HASH', 'PREFIX', '1', 'd:', 'SCHEMA', ...fields('TEXT'));
    run('HSET', 'd:1', 't', text);
    for (const _ of indexing());
    expect(engine.keyspace.derivedBytes).to.be.below(8_000_000);
    const refused = () => JSON.stringify(run('SEARCH.COUNT', 'i', '{}'));
    expect(refused()).to.include('Index i does not fit into the database');
    run('HSET', 'd:1', 't', 'short');
    expect(refused()).to.include('does not fit');
    engine.bounds.plan = { maxBytes: 800_000_000, isEvicting: false };
    for (const _ of indexing());
    expect(run('SEARCH.COUNT', 'i', '{}')).to.equal(1);
  });
});
