/**
 * Promises are numbered in the head of the file that keeps them (` * SA1 a reply leaves after …`). Each number has one
 * meaning in the project, exists where it is cited, and is cited by the test that proves it.
 */
import { expect } from 'chai';
import { definitions, numbersIn, promisesIn, spokenIn, textsBelow } from '../support/promise-numbers.js';
import { UNPROVEN } from './unproven-promises.js';

/** Words that look like the number of a promise; the last ones are examples. */
const OTHER_WORDS = /^(?:RESP[23]|BASE64|BM25|CRC16|FP32|FTS5|NAT64|XXH3|XX\d|YY\d)$/;

describe('promises', () => {
  const sources = textsBelow('src');
  const tests = textsBelow('test');
  const all = [...sources, ...tests, ...textsBelow('bench')];
  const defined = definitions(all);

  it('have unique numbers', () => {
    const twice = [...defined].filter(([, files]) => files.length > 1);
    expect(twice).to.deep.equal([]);
  });

  it('have one prefix per file or folder', () => {
    const homes = new Map<string, Set<string>>();
    for (const [number, files] of defined) {
      const prefix = number.replace(/\d+$/, '');
      const folders = homes.get(prefix) ?? new Set();
      homes.set(prefix, folders);
      for (const file of files) folders.add(file.replace(/\/[^/]*$/, ''));
    }
    expect([...homes].filter(([, folders]) => folders.size > 1).map(([prefix]) => prefix)).to.deep.equal([]);
  });

  it('exist when they are cited', () => {
    const cited = [...all.map(({ file, text }) => ({ file, text: spokenIn(text) })), ...textsBelow('docs', '.md')];
    const wrong = cited.flatMap(({ file, text }) =>
      numbersIn(text)
        .filter((number) => !defined.has(number) && !OTHER_WORDS.test(number))
        .map((number) => `${file}: ${number}`),
    );
    expect(wrong).to.deep.equal([]);
  });

  it('are each cited by the test that proves them', () => {
    const proven = new Set(tests.flatMap(({ text }) => numbersIn(spokenIn(text))));
    const alone = sources.flatMap(({ file, text }) =>
      promisesIn(text)
        .filter((number) => !proven.has(number) && UNPROVEN[number] === undefined)
        .map((number) => `${file}: ${number}`),
    );
    expect(alone).to.deep.equal([]);
  });

  it('are listed as unproven only while no test proves them', () => {
    const proven = new Set(tests.flatMap(({ text }) => numbersIn(spokenIn(text))));
    const needless = Object.keys(UNPROVEN).filter((number) => proven.has(number) || !defined.has(number));
    expect(needless).to.deep.equal([]);
  });
});

describe('the finder of promises', () => {
  it('treats a numbered line at the head of a file as a promise, and no other mention', () => {
    const text = '/**\n * As in XX2.\n *\n *  XX1 one thing\n *      and XX3\n */\nfunction f() {\n  /** XX4. */\n}\n';
    expect(promisesIn(text)).to.deep.equal(['XX1']);
  });

  it('expands a range with a dash', () => {
    expect(numbersIn('XX1–XX3, and YY4')).to.deep.equal(['XX1', 'XX2', 'XX3', 'YY4']);
  });

  it('reads comments and the names of tests, and not the code', () => {
    const text = "const XX1 = 1; // XX2\n/** XX3 */ it('does that (XX4)', () => f('XX5'));";
    expect(numbersIn(spokenIn(text))).to.deep.equal(['XX2', 'XX3', 'XX4']);
  });
});
