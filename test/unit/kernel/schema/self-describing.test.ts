/** Self-describing values, and records by names. */
import { expect } from 'chai';
import { MillraceError } from '../../../../src/kernel/index.js';
import {
  absent,
  classShape,
  decoded,
  encoded,
  flag,
  integer,
  listOf,
  namedRecord,
  selfDescribing,
  text,
} from '../../../../src/kernel/schema/index.js';

class Word {
  constructor(readonly letters: string) {}
}
class Pair {
  constructor(readonly items: readonly unknown[]) {}
}

const value: ReturnType<typeof selfDescribing<unknown>> = selfDescribing<unknown>(
  classShape(
    1,
    Word,
    text(),
    ({ letters }) => letters,
    (letters) => new Word(letters),
  ),
  classShape(
    2,
    Pair,
    listOf({ write: (out, item) => value.write(out, item), read: (from) => value.read(from) }),
    ({ items }) => items,
    (items) => new Pair(items),
  ),
);

describe('self-describing values', () => {
  it('are read back unchanged, including nested objects of classes', () => {
    for (const length of [0, 1, 3, 7, 15, 16, 31, 255, 256, 65_535, 65_536]) {
      const given = [new Pair([new Word('x'.repeat(length)), null, [1.5, -1]]), Uint8Array.of(1, 2)];
      const read = decoded(value, encoded(value, given), 'values') as [Pair, Uint8Array];
      expect(read[0]).to.deep.equal(given[0]);
      expect([...read[1]]).to.deep.equal([1, 2]);
    }
  });

  it('are refused when their class is unknown, when writing and when reading', () => {
    expect(() => encoded(value, new Map())).to.throw('a class that is not known');
    const refused = ['d403a0', 'd401c0', 'c7020191', 'c3', '80', 'c1', 'd4'];
    for (const hex of refused) {
      expect(() => decoded(value, Buffer.from(hex, 'hex'), 'values'), hex).to.throw(MillraceError);
    }
  });
});

describe('a record by names', () => {
  const shape = namedRecord({ count: integer, isThere: flag, note: absent(text()) });

  it('skips unknown names, and omits absent values', () => {
    const known = { count: 3, isThere: true };
    expect(decoded(shape, encoded(shape, known), 'a record')).to.deep.equal(known);
    const larger = namedRecord({ later: listOf(text()), count: integer, isThere: flag });
    expect(decoded(shape, encoded(larger, { ...known, later: ['a', 'b'] }), 'a record')).to.deep.equal(known);
  });

  it('is read with its names in any order', () => {
    const turned = namedRecord({ note: text(), isThere: flag, count: integer });
    const value = { note: 'n', isThere: false, count: 4 };
    expect(decoded(shape, encoded(turned, value), 'a record')).to.deep.equal(value);
  });

  it('is refused without a required value', () => {
    const smaller = namedRecord({ count: integer });
    expect(() => decoded(shape, encoded(smaller, { count: 1 }), 'a record')).to.throw(MillraceError);
  });
});
