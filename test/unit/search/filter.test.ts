/** The filter language, rule by rule. Proves FG1, FP1, FP2, FQ1–FQ4. */
import { expect } from 'chai';
import {
  compileFilter,
  type FilteredDocument,
  MAX_FILTER_CHARACTERS,
  MAX_FILTER_COMPARISONS,
  MAX_FILTER_DEPTH,
  MAX_FILTER_PATH_STEPS,
  MAX_FILTER_PATTERN_CHARACTERS,
  MAX_FILTER_VALUES,
} from '../../../src/domain/search/index.js';
import { isMillraceError } from '../../../src/kernel/index.js';
import { processorMsOf } from '../../support/processor-time.js';

const BOOK: FilteredDocument = {
  content: {
    title: 'The Left Hand',
    year: 1969,
    price: 9.5,
    isLent: true,
    isLost: false,
    nothing: null,
    published: '1969-03-01',
    'in-stock': 3,
    author: { name: 'Ursula', awards: [{ name: 'Hugo' }, { name: 'Nebula' }] },
    tags: ['fiction', 'winter', 4, true],
    in: 'a name like a keyword',
    größe: 'klein',
  },
  metadata: { genre: 'novel', shelf: { row: 4 }, codes: [1, 2] },
};

function fits(filter: string, document = BOOK): boolean {
  const predicate = compileFilter(filter);
  return predicate === undefined || predicate(document);
}

function problemOf(filter: string): { message: string; at: unknown } {
  try {
    compileFilter(filter);
  } catch (error) {
    if (isMillraceError(error, 'INVALID')) return { message: error.message, at: error.details.at };
    throw error;
  }
  throw new Error(`no problem with ${filter}`);
}

function all(rows: readonly (readonly [string, boolean])[]): void {
  for (const [filter, expected] of rows) expect(fits(filter), filter).to.equal(expected);
}

describe('a filter', () => {
  it('without text lets every document through', () => {
    expect(compileFilter('')).to.equal(undefined);
    expect(compileFilter(' \n\t')).to.equal(undefined);
  });

  it('compares texts, numbers and booleans for equality', () =>
    all([
      [`title = 'The Left Hand'`, true],
      [`title = "The Left Hand"`, true],
      [`title = 'the left hand'`, false],
      [`year = 1969`, true],
      [`year = 1969.0`, true],
      [`year = '1969'`, false],
      [`price = 9.5`, true],
      [`price = 95e-1`, true],
      [`price = -9.5`, false],
      [`year != 1970`, true],
      [`year != 1969`, false],
      [`title != 'x'`, true],
    ]));

  it('treats 1, 0, true and false as booleans, and true equals only true', () =>
    all([
      [`isLent = 1`, true],
      [`isLent = TRUE`, true],
      [`isLent = 0`, false],
      [`isLost = false`, true],
      [`isLost = 0`, true],
      [`isLost != 1`, true],
      [`year = true`, false],
      [`tags CONTAINS 1`, true],
      [`isLent IN (1)`, true],
      [`isLost IN (0, 'x')`, true],
      [`@metadata.codes[0] = true`, false],
    ]));

  it('orders numbers as numbers and texts as texts', () =>
    all([
      [`year < 1970`, true],
      [`year < 1969`, false],
      [`year <= 1969`, true],
      [`year > 1968.5`, true],
      [`year >= 1970`, false],
      [`published >= '1969-01-01'`, true],
      [`published < '1969-03'`, false],
      [`title < 5`, false],
      [`year > '1'`, false],
      [`isLent > 0`, false],
      [`nothing < 1`, false],
    ]));

  it('matches whole texts with patterns, case-sensitively', () =>
    all([
      [`title GLOB 'The*'`, true],
      [`title GLOB 'the*'`, false],
      [`title GLOB 'Left'`, false],
      [`title GLOB '*Left*'`, true],
      [`title GLOB 'T?e*Hand'`, true],
      [`title GLOB '[A-Z]he*'`, true],
      [`title GLOB '[^A-Z]*'`, false],
      [`title GLOB '[^a-z]*'`, true],
      [`title GLOB '*[abd]'`, true],
      [`title GLOB '*[]d]'`, true],
      [`title GLOB '*[^]d]'`, false],
      [`title NOT GLOB 'B*'`, true],
      [`title NOT GLOB 'T*'`, false],
      [`year GLOB '19*'`, false],
      [`year NOT GLOB '19*'`, true],
      [`größe GLOB 'kle?n'`, true],
    ]));

  it('searches lists, in the filter and in the document', () =>
    all([
      [`year IN (1968, 1969)`, true],
      [`year IN (1968)`, false],
      [`year NOT IN (1968, 1970)`, true],
      [`year NOT IN (1969)`, false],
      [`title IN ('x', "The Left Hand")`, true],
      [`tags CONTAINS 'winter'`, true],
      [`tags CONTAINS 'Winter'`, false],
      [`tags CONTAINS 4`, true],
      [`tags NOT CONTAINS 'summer'`, true],
      [`tags NOT CONTAINS 'winter'`, false],
      [`title CONTAINS 'Left'`, false],
      [`title NOT CONTAINS 'Left'`, true],
    ]));

  it('matches no document with an empty list, and every document with its negation', () =>
    all([
      [`year IN ()`, false],
      [`year NOT IN ()`, true],
      [`missing NOT IN ( )`, true],
    ]));

  it('matches a missing field only with HAS NOT FIELD', () =>
    all([
      [`missing = 1`, false],
      [`missing != 1`, false],
      [`missing < 1`, false],
      [`missing NOT GLOB '*'`, false],
      [`missing NOT IN (1)`, false],
      [`missing NOT CONTAINS 1`, false],
      [`HAS FIELD missing`, false],
      [`HAS NOT FIELD missing`, true],
      [`HAS FIELD title`, true],
      [`has not field title`, false],
      [`HAS FIELD author.awards[1].name`, true],
      [`HAS FIELD author.awards[2]`, false],
    ]));

  it('treats null as a value of another type', () =>
    all([
      [`HAS FIELD nothing`, true],
      [`nothing = 0`, false],
      [`nothing != 0`, true],
    ]));

  it('reads nested objects and arrays, from either end', () =>
    all([
      [`author.name = 'Ursula'`, true],
      [`author.awards[0].name = 'Hugo'`, true],
      [`author.awards[#-1].name = 'Nebula'`, true],
      [`author.awards[#-3].name = 'Nebula'`, false],
      [`author.awards.name = 'Hugo'`, false],
      [`tags[2] = 4`, true],
      [`title[0] = 'T'`, false],
      [`title.length = 13`, false],
      [`in-stock = 3`, true],
      [`@metadata.shelf.row = 4`, true],
      [`@metadata.codes[#-1] = 2`, true],
      [`@metadata.title = 'The Left Hand'`, false],
    ]));

  it('finds no metadata where a document has none', () => {
    expect(fits(`@metadata.genre = 'novel'`, { content: {} })).to.equal(false);
    expect(fits(`HAS NOT FIELD @metadata.genre`, { content: {} })).to.equal(true);
  });

  it('finds own properties of a document, never inherited ones', () => {
    for (const name of ['constructor', 'toString', '__proto__', 'hasOwnProperty']) {
      expect(fits(`HAS FIELD ${name}`), name).to.equal(false);
      const own = JSON.parse(`{"${name}": "own"}`);
      expect(fits(`${name} = 'own'`, { content: own }), name).to.equal(true);
    }
  });

  it('binds AND tighter than OR, and parentheses tighter than both', () =>
    all([
      [`year = 1 AND year = 2 OR year = 1969`, true],
      [`year = 1969 OR year = 1 AND year = 2`, true],
      [`(year = 1969 OR year = 1) AND year = 2`, false],
      [`((year = 1969)) and (title = 'x' or isLent = 1)`, true],
    ]));

  it('has keywords in any case, and allows fields with the same names', () =>
    all([
      [`in = 'a name like a keyword'`, true],
      [`IN = 'a name like a keyword'`, false],
      [`year In (1969) aNd title nOt gLoB 'x'`, true],
      [`in in ('a name like a keyword')`, true],
      [`HAS FIELD in`, true],
      [`has = 1 OR not != 1 OR field = 1`, false],
    ]));

  it('needs no spaces between tokens', () => all([[`(year>=1969)AND(price<10)AND(year!=-1)`, true]]));

  it('reports the position of an error', () => {
    const rows: readonly (readonly [string, number])[] = [
      [`year`, 5],
      [`year =`, 7],
      [`year = AND`, 8],
      [`year == 1`, 7],
      [`= 1`, 1],
      [`1 = year`, 1],
      [`year = 1 title = 2`, 10],
      [`(year = 1`, 10],
      [`year = 1)`, 9],
      [`title = 'it's'`, 14],
      [`title = 'open`, 9],
      [`title = "open`, 9],
      [`year NOT = 1`, 10],
      [`year IN (1, )`, 13],
      [`year IN 1`, 9],
      [`year IN (1 2)`, 12],
      [`year < true`, 8],
      [`title GLOB 5`, 12],
      [`title GLOB '[a'`, 12],
      [`HAS FIELD`, 10],
      [`HAS NOT title`, 9],
      [`year = 1 & year = 2`, 10],
      [`year = 12abc`, 8],
      [`year = 1e999`, 8],
      [`@other.year = 1`, 1],
      [`a..b = 1`, 2],
      [`a. = 1`, 2],
      [`a[x] = 1`, 2],
      [`a[#-0] = 1`, 2],
      [`a[0]b = 1`, 5],
    ];
    for (const [filter, at] of rows) {
      const problem = problemOf(filter);
      expect(problem.at, filter).to.equal(at);
      expect(problem.message).to.match(new RegExp(`^invalid filter at character ${at}: `));
    }
  });

  it('is bounded in length, depth, comparisons, patterns, values and steps', () => {
    const atMost = `a = '${'x'.repeat(MAX_FILTER_CHARACTERS - 6)}'`;
    expect(fits(atMost)).to.equal(false);
    expect(problemOf(`${atMost} `).message).to.contain(`${MAX_FILTER_CHARACTERS} characters`);

    const nested = (depth: number) => `${'('.repeat(depth)}year = 1969${')'.repeat(depth)}`;
    expect(fits(nested(MAX_FILTER_DEPTH))).to.equal(true);
    expect(problemOf(nested(MAX_FILTER_DEPTH + 1)).message).to.contain(`${MAX_FILTER_DEPTH} levels deep`);

    const chain = (count: number) => Array.from({ length: count }, () => 'year = 1969').join(' AND ');
    expect(fits(chain(MAX_FILTER_COMPARISONS))).to.equal(true);
    expect(problemOf(chain(MAX_FILTER_COMPARISONS + 1)).message).to.contain(`${MAX_FILTER_COMPARISONS} comparisons`);

    const list = (count: number) => `year IN (${Array.from({ length: count }, (_, at) => at).join(',')})`;
    expect(fits(list(MAX_FILTER_VALUES))).to.equal(true);
    expect(problemOf(list(MAX_FILTER_VALUES + 1)).message).to.contain(`${MAX_FILTER_VALUES} values`);

    const globs = (characters: number) => `a GLOB '${'x'.repeat(1000)}' OR a GLOB '${'x'.repeat(characters - 1000)}'`;
    expect(fits(globs(MAX_FILTER_PATTERN_CHARACTERS))).to.equal(false);
    expect(problemOf(globs(MAX_FILTER_PATTERN_CHARACTERS + 1)).message).to.contain(
      `the patterns of a filter have at most ${MAX_FILTER_PATTERN_CHARACTERS} characters together`,
    );

    const path = (steps: number) => `HAS FIELD ${Array.from({ length: steps }, () => 'a').join('.')}`;
    expect(fits(path(MAX_FILTER_PATH_STEPS))).to.equal(false);
    expect(problemOf(path(MAX_FILTER_PATH_STEPS + 1)).message).to.contain(`${MAX_FILTER_PATH_STEPS} steps`);
  });

  it('matches a pattern with many stars in little time', () => {
    const value = 'a'.repeat(20_000);
    const judge = () => expect(fits(`v GLOB '${'*a'.repeat(50)}*b'`, { content: { v: value } })).to.equal(false);
    expect(processorMsOf(judge), 'milliseconds of the processor').to.be.lessThan(2000);
  });
});
