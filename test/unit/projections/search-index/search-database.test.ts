/** Search indexes follow the effects in the journal. Proves SD1, SD2. */
import { expect } from 'chai';
import { encodeDocument, HashedNgrams } from '../../../../src/domain/search/index.js';
import { isMillraceError } from '../../../../src/kernel/index.js';
import { SearchDatabase } from '../../../../src/projections/index.js';
import { documentsKey, orderKey } from '../../../support/search-keys.js';

const doc = (text: string) => encodeDocument({ content: { text } });

function database(...commands: readonly (readonly string[])[]): SearchDatabase {
  const made = new SearchDatabase(new HashedNgrams());
  apply(made, ...commands);
  return made;
}

function apply(to: SearchDatabase, ...commands: readonly (readonly string[])[]): void {
  for (const words of commands) for (const _ of to.apply(words));
}

function counts(of: SearchDatabase): Record<string, number> {
  return Object.fromEntries([...of.info().namespaces].map(([name, { documents }]) => [name, documents]));
}

describe('a search database', () => {
  const A = documentsKey('a');
  const B = documentsKey('büro');

  it('indexes stored documents, and drops removed ones', () => {
    const indexed = database(['HSET', A, '1', doc('one'), '2', doc('two')], ['HSET', B, '1', doc('one')]);
    expect(counts(indexed)).to.deep.equal({ a: 2, büro: 1 });
    apply(indexed, ['HSET', A, '2', doc('two again')], ['HDEL', A, '1', 'unknown'], ['HDEL', B, '1']);
    expect(counts(indexed)).to.deep.equal({ a: 1 });
    expect(indexed.info().namespaces.get('a')?.bytes).to.equal(doc('two again').length);
    expect(indexed.index(B)).to.equal(undefined);
  });

  it('empties one name, several, or all', () => {
    const both = () => database(['HSET', A, '1', doc('x')], ['HSET', B, '1', doc('x')]);
    for (const [command, left] of [
      [['DEL', A, orderKey('a')], { büro: 1 }],
      [['DEL', A, B], {}],
      [['FLUSHALL'], {}],
      [['FLUSHDB'], {}],
    ] as const) {
      const one = both();
      apply(one, command);
      expect(counts(one)).to.deep.equal(left);
    }
  });

  it('renames an index, over an existing one', () => {
    const one = database(['HSET', A, '1', doc('x'), '2', doc('y')], ['HSET', B, '1', doc('x')], ['RENAME', A, B]);
    expect(counts(one)).to.deep.equal({ büro: 2 });
    apply(one, ['RENAME', orderKey('a'), orderKey('b')], ['RENAME', B, 'other']);
    expect(counts(one)).to.deep.equal({});
  });

  it('ignores the keys that list documents', () => {
    const one = database(
      ['HSET', 'i', 'a', '1'],
      ['ZADD', orderKey('a'), '0', '1'],
      ['HSET', 'c', 'documents', '1'],
      ['SET', 'anything', 'else'],
      ['CONFIG', 'SET', 'd:', 'x'],
    );
    expect(counts(one)).to.deep.equal({});
  });

  it('leaves out unreadable documents, and counts them', () => {
    const one = database(['HSET', A, '1', doc('x'), '2', 'no json'], ['HSET', A, '1', '{"content":1}']);
    expect(counts(one)).to.deep.equal({});
    expect(one.unreadable).to.equal(2);
  });

  it('refuses changes that are never made to documents', () => {
    for (const words of [
      ['COPY', A, B, 'REPLACE'],
      ['SET', A, 'x'],
      ['HPEXPIREAT', A, '1', 'FIELDS', '1', 'x'],
    ]) {
      expect(() => database(['HSET', A, '1', doc('x')], words), words[0])
        .to.throw()
        .that.satisfies((error: unknown) => isMillraceError(error, 'JOURNAL_DAMAGED'));
    }
  });

  it('indexes many documents of one command in slices', () => {
    const words = Array.from({ length: 200 }, (_, at) => [`d${at}`, doc(`text ${at}`)]).flat();
    const slices = [...new SearchDatabase(new HashedNgrams()).apply(['HSET', A, ...words])].length;
    expect(slices).to.be.greaterThan(5);
  });
});
