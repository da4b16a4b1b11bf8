import { expect } from 'chai';
import {
  DEFAULT_DOCUMENT_LIMITS,
  decodeDocument,
  documentProblem,
  encodeDocument,
  MAX_CONTENT_CHARACTERS,
  MAX_DOCUMENT_DEPTH,
  MAX_METADATA_BYTES,
  MAX_VECTOR_DIMENSIONS,
  SEARCH_LAYOUT,
  vectorProblem,
} from '../../../src/domain/search/index.js';
import { isMillraceError } from '../../../src/kernel/index.js';
import { documentsKey, orderKey } from '../../support/search-keys.js';

describe('a stored document', () => {
  it('is read back unchanged', () => {
    const documents = [
      { content: { text: 'größer 😀', n: -1.5 }, metadata: { a: [null, true] }, vector: [0.25, -1] },
      { content: {} },
      { content: JSON.parse('{"__proto__": 1}') },
    ];
    for (const document of documents) {
      expect(JSON.stringify(decodeDocument(encodeDocument(document)))).to.equal(JSON.stringify(document));
    }
  });

  it('is refused in any other form', () => {
    for (const bytes of [
      '',
      '{',
      '1',
      '[]',
      '{}',
      '{"content":[]}',
      '{"content":{},"metadata":1}',
      '{"content":{},"vector":["1"]}',
    ]) {
      expect(() => decodeDocument(bytes), bytes)
        .to.throw()
        .that.satisfies((error: unknown) => isMillraceError(error, 'INVALID'));
    }
  });

  it('has the key of its index, in UTF-8', () => {
    expect(documentsKey('büro !')).to.equal('d:b\u00c3\u00bcro !');
    expect(orderKey('a')).to.equal('o:a');
    expect(SEARCH_LAYOUT.nameOf(documentsKey('büro !'))).to.equal('büro !');
    expect(SEARCH_LAYOUT.nameOf(orderKey('a'))).to.equal(undefined);
    expect(SEARCH_LAYOUT.nameOf('i')).to.equal(undefined);
  });

  it('has a bounded content, metadata, depth and vector', () => {
    const content = (characters: number) => ({ t: 'x'.repeat(characters - '{"t":""}'.length) });
    expect(documentProblem({ content: content(MAX_CONTENT_CHARACTERS) })).to.equal(undefined);
    expect(documentProblem({ content: content(MAX_CONTENT_CHARACTERS + 1) })).to.contain(
      `at most ${MAX_CONTENT_CHARACTERS}`,
    );
    const limits = { ...DEFAULT_DOCUMENT_LIMITS, contentCharacters: 1500 };
    expect(documentProblem({ content: content(1501) }, limits)).to.contain('at most 1500');

    expect(documentProblem({ content: {}, metadata: content(MAX_METADATA_BYTES) })).to.equal(undefined);
    expect(documentProblem({ content: {}, metadata: content(MAX_METADATA_BYTES + 1) })).to.contain(
      `at most ${MAX_METADATA_BYTES}`,
    );

    let deep: unknown = 1;
    for (let level = 1; level < MAX_DOCUMENT_DEPTH; level += 1) deep = [deep];
    expect(documentProblem({ content: { deep } })).to.equal(undefined);
    expect(documentProblem({ content: { deep: [deep] } })).to.contain(`${MAX_DOCUMENT_DEPTH} levels deep`);

    expect(vectorProblem(new Array(MAX_VECTOR_DIMENSIONS).fill(1))).to.equal(undefined);
    for (const vector of [
      new Array(MAX_VECTOR_DIMENSIONS + 1).fill(1),
      [],
      [0, 0],
      [Number.NaN],
      [Number.POSITIVE_INFINITY],
    ]) {
      expect(vectorProblem(vector)).to.be.a('string');
    }
  });
});
