/** The style page of CONTRIBUTING.md has a bound that this test holds: phrases per 1,000 words of each kind of text. */
import { expect } from 'chai';
import {
  commentsIn,
  PROSE_KINDS,
  phrasesIn,
  proseOf,
  rateOf,
  textOfPage,
  textsIn,
  titlesIn,
  worstOf,
} from '../../support/prose.js';

const MAX_RATE = 5;

describe('plain English', () => {
  for (const kind of PROSE_KINDS) {
    it(`${kind.name} have at most ${MAX_RATE} phrases of the style page's list per 1,000 words`, () => {
      const files = proseOf(kind);
      expect(files).to.have.length.above(20);
      const worst = worstOf(files, 10).join('\n');
      expect(rateOf(files), `phrases per 1,000 words of ${kind.name}; the worst files:\n${worst}`).to.be.at.most(
        MAX_RATE,
      );
    });
  }

  it('the list has pronouns in place of a noun and adverbs with a plainer word, in any case', () => {
    const prose = 'Whatever was left behind is nobody’s; meanwhile the somewhat larger one stays.';
    expect(phrasesIn(prose)).to.deep.equal(['whatever', 'behind', 'nobody', 'meanwhile']);
  });

  it('comments are those outside of literals', () => {
    const source = "const url = 'http://a'; // first\n/**\n * second\n */\nconst text = `/* none */`;";
    expect(commentsIn(source).match(/\w+/g)).to.deep.equal(['first', 'second']);
  });

  it('titles are the first arguments of describe, context and it', () => {
    const test = "describe('a', () => {\n  it.skip(`b c`, () => {});\n  exit('d');\n});";
    expect(titlesIn(test)).to.equal('a\nb c');
  });

  it('the prose of a page has no code and no targets of links', () => {
    const page = 'One `what` [two](what.md)\n```sh\nwhat\n```\nthree (four)';
    expect(textOfPage(page).match(/\w+/g)).to.deep.equal(['One', 'two', 'three', 'four']);
  });

  it('texts of the console are literals and elements with two words', () => {
    const source = "const kind = 'one'; const text = 'two words'; const view = <p>three words</p>;";
    expect(textsIn(source)).to.equal("'two words'\nthree words");
  });

  it('the worst files are those with the most phrases per word, and name them', () => {
    const files = [
      { file: 'a.ts', words: 100, phrases: ['what'] },
      { file: 'b.ts', words: 100, phrases: ['anew', 'behind'] },
      { file: 'c.ts', words: 100, phrases: [] },
    ];
    expect(worstOf(files, 10)).to.deep.equal(['b.ts: 20.0 (anew, behind)', 'a.ts: 10.0 (what)']);
    expect(rateOf(files)).to.equal(10);
  });
});
