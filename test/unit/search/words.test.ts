import { expect } from 'chai';
import { MAX_WORD_CHARACTERS, searchableText, wordsOf } from '../../../src/domain/search/index.js';

describe('words of a text', () => {
  it('are runs of letters and digits in lower case', () => {
    expect(wordsOf('The quick-brown FOX, aged 3.5!')).to.deep.equal(['the', 'quick', 'brown', 'fox', 'aged', '3', '5']);
    expect(wordsOf(' …!? ')).to.deep.equal([]);
  });

  it('are without accents and in compatibility form', () => {
    expect(wordsOf('Crème BRÛLÉE ﬁne İstanbul')).to.deep.equal(['creme', 'brulee', 'fine', 'istanbul']);
    expect(wordsOf('cre\u0300me')).to.deep.equal(wordsOf('crème'));
    expect(wordsOf('Ελλάδα')).to.deep.equal(wordsOf('ελλαδα'));
  });

  it('keep marks that make a different letter', () => {
    expect(wordsOf('か')).to.not.deep.equal(wordsOf('が'));
    expect(wordsOf('हिन्दी भाषा')).to.deep.equal(['हिन्दी', 'भाषा']);
  });

  it('are pairs of characters in scripts without spaces', () => {
    expect(wordsOf('東京都')).to.deep.equal(['東京', '京都']);
    expect(wordsOf('東')).to.deep.equal(['東']);
    expect(wordsOf('iPhoneの価格')).to.deep.equal(['iphone', 'の価', '価格']);
  });

  it('are cut at a maximum length', () => {
    const long = 'x'.repeat(MAX_WORD_CHARACTERS);
    expect(wordsOf(`${long} ${long}y`)).to.deep.equal([long, long]);
  });
});

describe('the searchable text of a content', () => {
  it('contains every scalar value and every name, at any depth', () => {
    const { words, valueText } = searchableText({ data: 1, deep: { isTrue: true, list: ['Two words', { x: null }] } });
    expect(words).to.deep.equal(['data', '1', 'deep', 'istrue', 'true', 'list', 'two', 'words', 'x']);
    expect(valueText).to.equal('1 true Two words');
  });

  it('lists the queries that match it exactly', () => {
    expect([...searchableText({ data: 1 }).exactTexts]).to.deep.equal(['1', 'data 1']);
    expect([...searchableText({ title: 'Red Shoes', size: 41 }).exactTexts]).to.deep.equal([
      'red shoes',
      '41',
      'red shoes 41',
      'title red shoes size 41',
    ]);
    expect(searchableText({}).exactTexts.size).to.equal(0);
  });
});
