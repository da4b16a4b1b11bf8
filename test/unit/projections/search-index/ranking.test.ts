/** The results of a query and their order. Proves KSC1, KSC2, RA1, RA2. */
import { expect } from 'chai';
import { SearchStand } from '../../../support/search-stand.js';

const KEYWORDS = { semanticWeight: 0 };
const LIKENESS = { semanticWeight: 1 };

describe('search: keywords', () => {
  let stand: SearchStand;
  beforeEach(() => {
    stand = new SearchStand();
    stand.putTexts({
      winter: 'a winter journey through frozen mountains',
      summer: 'a summer journey along the sunny coast',
      cooking: 'cooking with mushrooms and mountain herbs',
      repair: 'bicycle repair for beginners',
    });
  });

  it('finds exactly the documents with a word', () => {
    expect(stand.ids('journey', KEYWORDS)).to.have.members(['winter', 'summer']);
    expect(stand.ids('nowhere', KEYWORDS)).to.deep.equal([]);
    expect(stand.ids('', KEYWORDS)).to.deep.equal([]);
  });

  it('puts documents with more of the words first', () => {
    expect(stand.ids('winter journey', KEYWORDS)).to.deep.equal(['winter', 'summer']);
    expect(stand.search('winter journey', KEYWORDS)[0]?.score).to.be.closeTo(0.99, 1e-6);
  });

  it('finds words by their prefix', () => {
    expect(stand.ids('mush', KEYWORDS)).to.deep.equal(['cooking']);
    expect(stand.ids('mountain', KEYWORDS)).to.deep.equal(['cooking', 'winter']);
  });

  it('finds misspelt words', () => {
    for (const text of ['bicycel', 'biccycle', 'bicyle', 'bicyxle']) {
      expect(stand.ids(text, KEYWORDS), text).to.deep.equal(['repair']);
    }
    expect(stand.ids('wintr', KEYWORDS)).to.deep.equal(['winter']);
  });

  it('takes short words and numbers literally', () => {
    stand.putTexts({ one: 'room 1234', two: 'room 1235', cat: 'cat' });
    expect(stand.ids('1234', KEYWORDS)).to.deep.equal(['one']);
    expect(stand.ids('car', KEYWORDS)).to.deep.equal([]);
  });

  it('ranks the word itself above similar and longer words', () => {
    stand.putTexts({ exact: 'some sand here', longer: 'some sandals here', like: 'some hand here' });
    expect(stand.ids('sand', KEYWORDS)[0]).to.equal('exact');
    expect(stand.ids('sandal', KEYWORDS)[0]).to.equal('longer');
  });

  it('ranks a rare word above a common one', () => {
    const common = new SearchStand();
    for (let at = 0; at < 50; at += 1) common.putTexts({ [`c${at}`]: `common thing number ${at}` });
    common.putTexts({ rare: 'rare thing' });
    expect(common.ids('common rare', KEYWORDS)[0]).to.equal('rare');
  });

  it('finds numbers, booleans and names of fields, at any depth', () => {
    stand.put('n', { content: { isbn: 9_780_441, deep: { list: [{ available: true }] } } });
    for (const text of ['9780441', 'true', 'available', 'isbn']) expect(stand.ids(text, KEYWORDS)).to.deep.equal(['n']);
  });

  it('never searches metadata', () => {
    stand.put('m', { content: {}, metadata: { secret: 'hidden' } });
    expect(stand.ids('hidden', KEYWORDS)).to.deep.equal([]);
  });
});

describe('search: similarity', () => {
  it('finds the nearest texts without a common word', () => {
    const stand = new SearchStand();
    stand.putTexts({ a: 'photographers photographing', b: 'quantum field theory', c: 'gardening tips' });
    const [first] = stand.search('photography', LIKENESS);
    expect(first?.id).to.equal('a');
  });

  it('returns topK documents if there are as many, for any query', () => {
    const stand = new SearchStand();
    stand.putTexts({ a: 'one', b: 'two', c: 'three' });
    expect(stand.search('zzz')).to.have.length(3);
    expect(stand.search('zzz', { topK: 2 })).to.have.length(2);
    expect(stand.search('!?')).to.have.length(3);
  });

  it('compares a client’s own vectors of equal dimensions', () => {
    const stand = new SearchStand();
    stand.put('east', { content: { t: 'x' }, vector: [1, 0] });
    stand.put('north', { content: { t: 'x' }, vector: [0, 100] });
    stand.put('west', { content: { t: 'x' }, vector: [-3, 0] });
    stand.put('other', { content: { t: 'x' }, vector: [1, 0, 0] });
    stand.put('none', { content: { t: 'x' } });
    const hits = stand.search('', { vector: [2, 0], semanticWeight: 0.5 });
    expect(hits.map(({ id }) => id)).to.deep.equal(['east', 'north', 'west']);
    expect(hits.map(({ score }) => score)).to.deep.equal([1, 0.5, 0]);
  });

  it('combines a vector and words by their weight', () => {
    const stand = new SearchStand();
    stand.put('near', { content: { t: 'apple' }, vector: [1, 0] });
    stand.put('said', { content: { t: 'pear' }, vector: [-1, 0] });
    expect(stand.ids('pear', { vector: [1, 0], semanticWeight: 0.9 })).to.deep.equal(['near', 'said']);
    expect(stand.ids('pear', { vector: [1, 0], semanticWeight: 0.1 })).to.deep.equal(['said', 'near']);
  });
});

describe('search: order and scores', () => {
  it('puts exact matches of the query’s text first, at any weight', () => {
    const stand = new SearchStand();
    for (let at = 0; at < 30; at += 1) stand.put(`n${at}`, { content: { data: at } });
    stand.putTexts({ many: 'red red red red shoes shoes shoes', order: 'shoes red', whole: 'Red shoes!' });
    stand.put('field', { content: { title: 'red shoes', text: 'these are the finest that can be had anywhere' } });
    for (const semanticWeight of [0, 0.5, 0.75, 1]) {
      expect(stand.ids('data 1', { semanticWeight })[0], `${semanticWeight}`).to.equal('n1');
      expect(stand.ids('red shoes', { semanticWeight }).slice(0, 2), `${semanticWeight}`).to.have.members([
        'whole',
        'field',
      ]);
      expect(stand.search('red shoes', { semanticWeight })[0]?.score).to.be.within(0.99, 1);
      expect(stand.ids('red shoes', { semanticWeight, reranking: true }).slice(0, 2)).to.have.members([
        'whole',
        'field',
      ]);
    }
  });

  it('orders equal scores by id', () => {
    const stand = new SearchStand();
    for (const id of ['m', 'z', 'a', 'b', 'Z']) stand.putTexts({ [id]: 'the same' });
    for (const semanticWeight of [0, 0.75, 1]) {
      expect(stand.ids('same', { semanticWeight })).to.deep.equal(['Z', 'a', 'b', 'm', 'z']);
      expect(stand.ids('same', { semanticWeight, topK: 2 })).to.deep.equal(['Z', 'a']);
    }
  });

  it('reranks by phrases and word order if requested', () => {
    const stand = new SearchStand();
    const rest = 'with several other words behind them';
    stand.putTexts({ a: `York new ${rest}`, b: `new York ${rest}`, c: `new and also York ${rest}` });
    const plain = stand.search('new york', KEYWORDS);
    expect(new Set(plain.slice(0, 2).map(({ score }) => score)).size).to.equal(1);
    const again = stand.search('new york', { ...KEYWORDS, reranking: true });
    expect(again.map(({ id }) => id)).to.deep.equal(['b', 'c', 'a']);
    expect(again[0]?.score).to.be.at.most(0.99);
  });

  it('returns content and metadata if requested', () => {
    const stand = new SearchStand();
    stand.put('a', { content: { t: 'x' }, metadata: { m: 1 } });
    stand.put('b', { content: { t: 'x y' } });
    const [bare] = stand.search('x', { topK: 1 });
    expect(Object.keys(bare ?? {})).to.have.members(['id', 'score']);
    const [a, b] = stand.search('x', { includeData: true, includeMetadata: true });
    expect([a?.content, a?.metadata]).to.deep.equal([{ t: 'x' }, { m: 1 }]);
    expect(b?.content).to.deep.equal({ t: 'x y' });
    expect(b).to.not.have.property('metadata');
  });
});

describe('search: filters', () => {
  it('finds the best matching documents, even if few match', () => {
    const stand = new SearchStand();
    for (let at = 0; at < 3000; at += 1) {
      stand.put(`d${at}`, { content: { text: `word${at % 7} common`, at }, metadata: { half: at % 2 } });
    }
    const even = stand.search('word3', { filter: '@metadata.half = 0', includeMetadata: true });
    expect(even.map(({ metadata }) => metadata?.half)).to.deep.equal(new Array(10).fill(0));
    expect(stand.ids('word3', { filter: 'at IN (2999, 10, 3)' })).to.deep.equal(['d3', 'd10', 'd2999']);
    expect(stand.ids('word3', { filter: 'at IN (2999, 10, 3)', ...KEYWORDS })).to.deep.equal(['d10', 'd2999', 'd3']);
    expect(stand.ids('word3', { filter: 'at < 0' })).to.deep.equal([]);
  });

  it('are validated before the search', () => {
    expect(() => new SearchStand().search('x', { filter: 'a =' })).to.throw('invalid filter at character 4');
  });
});
