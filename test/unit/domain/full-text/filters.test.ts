/** Proves FEV1, FEV2, IXC1, IXC2: filters against a comparison with every document, scores against the formula. */
import { expect } from 'chai';
import fc from 'fast-check';
import {
  bestOf,
  FilterEvaluation,
  type FilterJson,
  IndexContents,
  type IndexDefinition,
  LANGUAGES,
  parseFilter,
  type Scalar,
  SearchProblem,
} from '../../../../src/domain/full-text/index.js';
import { stemmerOf } from '../../../../src/domain/full-text/stemmers.js';
import { inOneStep } from '../../../../src/domain/kv/steps.js';

const plain = { isFast: false, isWhole: false, keepsForms: true, from: undefined };
const DEFINITION: IndexDefinition = {
  source: 'JSON',
  prefixes: ['d:'],
  stream: undefined,
  language: 'english',
  fields: [
    { ...plain, path: 'text', type: 'TEXT' },
    { ...plain, path: 'tag', type: 'KEYWORD', isFast: true },
    { ...plain, path: 'n', type: 'I64', isFast: true },
    { ...plain, path: 'ok', type: 'BOOL' },
  ],
};

interface Document {
  readonly text: readonly string[];
  readonly tag: string | undefined;
  readonly n: number | undefined;
  readonly ok: boolean | undefined;
}

function all<T>(steps: Generator<void, T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/** JSON of a test as that of a filter. */
function json(value: unknown): FilterJson {
  if (Array.isArray(value)) return value.map(json);
  if (typeof value === 'object' && value !== null) {
    return new Map(Object.entries(value).map(([name, member]) => [name, json(member)]));
  }
  return value as Scalar | null;
}

function scoresOf(contents: IndexContents, filter: unknown): Map<string, number> {
  const { ordinals, scores } = all(new FilterEvaluation(contents).matches(parseFilter(json(filter), DEFINITION)));
  return new Map(Array.from(ordinals, (ordinal, at) => [contents.keyAt(ordinal), scores[at] as number]));
}

function valuesOf({ text, tag, n, ok }: Document): (readonly Scalar[])[] {
  const some = (value: Scalar | undefined) => (value === undefined ? [] : [value]);
  return [text.length === 0 ? [] : [text.join(' ')], some(tag), some(n), some(ok)];
}

/** Contents after a history of writes, and the documents that are left. */
function afterHistory(history: readonly (readonly [number, Document | undefined])[]) {
  const contents = new IndexContents(DEFINITION);
  const documents = new Map<string, Document>();
  for (const [id, document] of history) {
    const key = `d:${id}`;
    if (document === undefined) {
      inOneStep(contents.remove(key));
      documents.delete(key);
    } else {
      inOneStep(contents.put(key, valuesOf(document)));
      documents.set(key, document);
    }
  }
  return { contents, documents };
}

const WORDS = ['red', 'green', 'blue', 'dark', 'light'];
const WORD = fc.constantFrom(...WORDS);
const DOCUMENT: fc.Arbitrary<Document> = fc.record({
  text: fc.array(WORD, { maxLength: 8 }),
  tag: fc.option(WORD, { nil: undefined }),
  n: fc.option(fc.integer({ min: -5, max: 5 }), { nil: undefined }),
  ok: fc.option(fc.boolean(), { nil: undefined }),
});
const HISTORY = fc.array(fc.tuple(fc.integer({ min: 0, max: 15 }), fc.option(DOCUMENT, { nil: undefined })), {
  maxLength: 40,
});

type Test = (document: Document) => boolean;
interface Condition {
  readonly filter: Record<string, unknown>;
  readonly test: Test;
}

function hasPhrase(text: readonly string[], phrase: readonly string[], slop: number): boolean {
  const from = (at: number, start: number, place: number): boolean => {
    if (place === phrase.length) return at - start - (phrase.length - 1) <= slop;
    return text.some((word, position) => position > at && word === phrase[place] && from(position, start, place + 1));
  };
  return phrase.length > 0 && text.some((word, position) => word === phrase[0] && from(position, position, 1));
}

const LEAF: fc.Arbitrary<Condition> = fc.oneof(
  WORD.map((word): Condition => ({ filter: { text: { $eq: word } }, test: ({ text }) => text.includes(word) })),
  fc.tuple(fc.array(WORD, { minLength: 2, maxLength: 3 }), fc.integer({ min: 0, max: 3 })).map(
    ([words, slop]): Condition => ({
      filter: { text: { $phrase: { value: words.join(' '), slop } } },
      test: ({ text }) => hasPhrase(text, words, slop),
    }),
  ),
  fc.array(WORD, { minLength: 1, maxLength: 3 }).map(
    (words): Condition => ({
      filter: { tag: { $in: words } },
      test: ({ tag }) => tag !== undefined && words.includes(tag),
    }),
  ),
  WORD.map(
    (word): Condition => ({ filter: { tag: { $gte: word } }, test: ({ tag }) => tag !== undefined && tag >= word }),
  ),
  fc.tuple(fc.integer({ min: -5, max: 5 }), fc.integer({ min: -5, max: 5 })).map(
    ([from, to]): Condition => ({
      filter: { n: { $gte: from, $lt: to } },
      test: ({ n }) => n !== undefined && n >= from && n < to,
    }),
  ),
  fc.boolean().map((wanted): Condition => ({ filter: { ok: wanted }, test: ({ ok }) => ok === wanted })),
  fc.constantFrom('re.*', '.*e', '(red|blue)', 'g[a-r]een').map(
    (pattern): Condition => ({
      filter: { text: { $regex: pattern } },
      test: ({ text }) => text.some((word) => new RegExp(`^(?:${pattern})$`).test(word)),
    }),
  ),
);

const { condition: CONDITION } = fc.letrec<{ condition: Condition }>((tie) => ({
  condition: fc.oneof(
    { maxDepth: 3 },
    LEAF,
    fc.tuple(fc.constantFrom('$and', '$must'), fc.array(tie('condition'), { minLength: 1, maxLength: 3 })).map(
      ([name, parts]): Condition => ({
        filter: { [name]: parts.map(({ filter }) => filter) },
        test: (document) => parts.every(({ test }) => test(document)),
      }),
    ),
    fc.tuple(fc.constantFrom('$or', '$should'), fc.array(tie('condition'), { minLength: 1, maxLength: 3 })).map(
      ([name, parts]): Condition => ({
        filter: { [name]: parts.map(({ filter }) => filter) },
        test: (document) => parts.some(({ test }) => test(document)),
      }),
    ),
    fc.tuple(tie('condition'), tie('condition'), tie('condition')).map(
      ([must, should, mustNot]): Condition => ({
        filter: { $must: [must.filter], $should: [should.filter], $mustNot: [mustNot.filter] },
        test: (document) => must.test(document) && !mustNot.test(document),
      }),
    ),
  ),
}));

describe('full-text: filters', () => {
  it('find the documents that a comparison with every document finds', () => {
    fc.assert(
      fc.property(HISTORY, CONDITION, (history, { filter, test }) => {
        const { contents, documents } = afterHistory(history);
        const expected = [...documents].filter(([, document]) => test(document)).map(([key]) => key);
        expect([...scoresOf(contents, filter).keys()]).to.have.members(expected);
      }),
      { numRuns: 150 },
    );
  });

  it('score a word by BM25 over the documents that are left', () => {
    fc.assert(
      fc.property(HISTORY, WORD, (history, word) => {
        const { contents, documents } = afterHistory(history);
        const lengths = [...documents.values()].map(({ text }) => text.length).filter((length) => length > 0);
        const average = lengths.reduce((sum, length) => sum + length, 0) / lengths.length;
        const having = [...documents.values()].filter(({ text }) => text.includes(word)).length;
        const worth = Math.log(1 + (documents.size - having + 0.5) / (having + 0.5));
        for (const [key, score] of scoresOf(contents, { text: { $eq: word } })) {
          const text = documents.get(key)?.text ?? [];
          const count = text.filter((one) => one === word).length;
          const expected = (worth * count * 2.2) / (count + 1.2 * (0.25 + (0.75 * text.length) / average));
          expect(score).to.be.closeTo(expected, 1e-9);
        }
      }),
    );
  });

  it('score several words by the sum of their scores, whichever has the fewest documents', () => {
    const words = fc.uniqueArray(WORD, { minLength: 2, maxLength: 4 });
    fc.assert(
      fc.property(HISTORY, words, fc.integer({ min: 1, max: 3 }), (history, [first = '', ...others], boost) => {
        const { contents } = afterHistory(history);
        const boosted = { text: { $eq: first, $boost: boost } };
        const both = scoresOf(contents, { $and: [boosted, ...others.map((word) => ({ text: { $eq: word } }))] });
        const each = [
          scoresOf(contents, boosted),
          ...others.map((word) => scoresOf(contents, { text: { $eq: word } })),
        ];
        for (const [key, score] of both) {
          const expected = each.reduce((sum, scores) => sum + (scores.get(key) ?? Number.NaN), 0);
          expect(score).to.be.closeTo(expected, 1e-9);
        }
      }),
    );
  });

  it('find the documents of a rare word among those of a frequent one', () => {
    const documents = 2000;
    const contents = new IndexContents(DEFINITION);
    for (let id = 0; id < documents; id += 1) {
      const text = id % 500 === 499 ? ['red', 'rare'] : ['red', 'green', id % 2 === 0 ? 'even' : 'odd'];
      inOneStep(contents.put(`d:${id}`, valuesOf({ text, tag: undefined, n: undefined, ok: undefined })));
    }
    const keys = (...words: string[]) => [
      ...scoresOf(contents, { $and: words.map((word) => ({ text: { $eq: word } })) }).keys(),
    ];
    expect(keys('red', 'rare')).to.deep.equal(['d:499', 'd:999', 'd:1499', 'd:1999']);
    expect(keys('green', 'even', 'red')).to.have.length(1000);
    expect(keys('green', 'rare')).to.deep.equal([]);
    expect(keys('red', 'missing')).to.deep.equal([]);
  });

  it('score the documents of frequent words, removed ones left out', () => {
    const contents = new IndexContents(DEFINITION);
    const text = (id: number) => ['red', ...(id % 5 === 0 ? [] : ['green', 'green']), id % 2 === 0 ? 'even' : 'odd'];
    for (let id = 0; id < 25_000; id += 1) {
      inOneStep(contents.put(`d:${id}`, valuesOf({ text: text(id), tag: undefined, n: undefined, ok: undefined })));
    }
    for (let id = 0; id < 25_000; id += 100) inOneStep(contents.remove(`d:${id}`));
    for (const words of [
      ['red', 'green'],
      ['even', 'green', 'red'],
    ]) {
      const each = words.map((word) => scoresOf(contents, { text: { $eq: word } }));
      const expected = [...(each[0] as Map<string, number>).keys()]
        .filter((key) => each.every((scores) => scores.has(key)))
        .map((key) => [key, each.reduce((sum, scores) => sum + (scores.get(key) as number), 0)] as const);
      const found = [...scoresOf(contents, { $and: words.map((word) => ({ text: { $eq: word } })) })];
      expect(found.map(([key]) => key)).to.deep.equal(expected.map(([key]) => key));
      for (const [at, [, score]] of found.entries()) expect(score).to.be.closeTo(expected[at]?.[1] as number, 1e-9);
    }
  });

  it('have the same best documents with and without a list of all', () => {
    const words = fc
      .tuple(
        fc.array(fc.tuple(WORD, fc.integer({ min: 1, max: 3 })), { minLength: 1, maxLength: 4 }),
        fc.integer({ min: 1, max: 3 }),
      )
      .map(([parts, $boost]) => ({ $and: parts.map(([$eq, boost]) => ({ text: { $eq, $boost: boost } })), $boost }));
    const filters = fc.oneof(
      words,
      CONDITION.map(({ filter }) => filter),
    );
    fc.assert(
      fc.property(HISTORY, filters, fc.integer({ min: 0, max: 6 }), (history, written, most) => {
        const { contents } = afterHistory(history);
        const filter = parseFilter(json(written), DEFINITION);
        const best = all(new FilterEvaluation(contents).best(filter, most));
        const expected = all(bestOf(all(new FilterEvaluation(contents).matches(filter)), most));
        expect(best).to.deep.equal(expected);
      }),
      { numRuns: 200 },
    );
  });

  it('put equal scores in the order of writing', () => {
    const { contents } = afterHistory([
      [3, { text: ['red', 'dark'], tag: undefined, n: 1, ok: true }],
      [1, { text: ['red', 'light'], tag: undefined, n: 1, ok: true }],
      [2, { text: ['red', 'blue'], tag: undefined, n: 1, ok: true }],
    ]);
    const matches = all(
      new FilterEvaluation(contents).matches(parseFilter(json({ text: { $eq: 'red' } }), DEFINITION)),
    );
    expect(all(bestOf(matches, 2)).map(({ ordinal }) => contents.keyAt(ordinal))).to.deep.equal(['d:3', 'd:1']);
  });

  it('find every document with {}, and none with $mustNot alone', () => {
    const { contents } = afterHistory([[1, { text: ['red'], tag: undefined, n: 1, ok: true }]]);
    expect(scoresOf(contents, {}).size).to.equal(1);
    expect(scoresOf(contents, { $mustNot: { ok: false } }).size).to.equal(0);
  });

  it('multiply scores by $boost', () => {
    const { contents } = afterHistory([[1, { text: ['red'], tag: 'red', n: 1, ok: true }]]);
    expect(scoresOf(contents, { tag: { $eq: 'red', $boost: 5 } }).get('d:1')).to.equal(5);
    expect(scoresOf(contents, { $or: [{ tag: 'red' }, { ok: true }], $boost: 2 }).get('d:1')).to.equal(4);
  });

  it('compare integers of 64 bits exactly', () => {
    const contents = new IndexContents(DEFINITION);
    inOneStep(contents.put('d:1', [[], [], ['9007199254740993'], []]));
    inOneStep(contents.put('d:2', [[], [], ['9007199254740992'], []]));
    const count = (filter: unknown) => [...scoresOf(contents, filter).keys()];
    expect(count({ n: 9007199254740993n })).to.deep.equal(['d:1']);
    expect(count({ n: { $gt: 9007199254740992n } })).to.deep.equal(['d:1']);
    expect(count({ n: { $lte: 9007199254740992n } })).to.deep.equal(['d:2']);
  });

  it('find a word with typing errors and an unfinished last word by a smart match', () => {
    const { contents } = afterHistory([
      [1, { text: ['green', 'light'], tag: undefined, n: 1, ok: true }],
      [2, { text: ['dark', 'blue'], tag: undefined, n: 1, ok: true }],
    ]);
    expect([...scoresOf(contents, { text: 'greem lig' }).keys()]).to.deep.equal(['d:1']);
    const exact = scoresOf(contents, { text: 'light' }).get('d:1') as number;
    expect(exact).to.be.greaterThan(scoresOf(contents, { text: 'lihgt' }).get('d:1') as number);
  });

  for (const [filter, message] of [
    [{ text: { $not: 'a' } }, 'Unknown field operator: $not'],
    [{ other: 1 }, 'Unknown field: other'],
    [{ $xor: [] }, 'Unknown operator: $xor'],
    [{ n: { $gt: 'many' } }, '$gt has a value that is none of type I64: n'],
    [{ text: { $gt: 'a' } }, '$gt is not for fields of type TEXT: text'],
    [{ text: { $regex: '(' } }, 'Invalid regular expression: ('],
    [{ text: { $regex: '((a{9}){9})' } }, 'Counted repetitions of a regular expression multiply to 64 at most'],
    [{ text: { $fuzzy: { value: 'a', distance: 3 } } }, 'distance in $fuzzy of text expects a number from 0 to 2'],
    [{ $and: 1 }, '$and expects an object or a list of objects'],
    [[], 'A filter is a JSON object'],
  ] as const) {
    it(`are refused with a reason: ${JSON.stringify(filter)}`, () => {
      expect(() => parseFilter(json(filter), DEFINITION)).to.throw(SearchProblem, message);
    });
  }

  it('of an expression that makes backtracking engines slow take little time', () => {
    const { contents } = afterHistory([]);
    inOneStep(contents.put('d:1', [['a'.repeat(60)], [], [], []]));
    const startedAt = process.cpuUsage().user;
    expect(scoresOf(contents, { text: { $regex: '(a+)+b' } }).size).to.equal(0);
    expect(process.cpuUsage().user - startedAt).to.be.lessThan(1_000_000);
  });

  it('have a stemmer for each of 18 languages', () => {
    expect(LANGUAGES).to.have.length(18);
    const stems = ['english running', 'french chevaux', 'german häuser', 'turkish kitaplar', 'russian книгами'].map(
      (line) => {
        const [language = '', word = ''] = line.split(' ');
        return stemmerOf(language)(word);
      },
    );
    expect(stems).to.deep.equal(['run', 'cheval', 'haus', 'kitap', 'книг']);
  });
});
