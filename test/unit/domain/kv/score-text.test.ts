import { expect } from 'chai';
import { parseBoundNumber, parseScore } from '../../../../src/domain/kv/types/score-text.js';

describe('scores as text', () => {
  const read: readonly (readonly [string, number])[] = [
    ['1', 1],
    ['-1.5e3', -1500],
    ['.5', 0.5],
    ['5.', 5],
    ['+inf', Number.POSITIVE_INFINITY],
    ['-Infinity', Number.NEGATIVE_INFINITY],
    ['0x10', 16],
    ['-0x1.8p1', -3],
    ['0x.8', 0.5],
    ['0x1p-1074', 5e-324],
    ['5e-324', 5e-324],
    ['0e999', 0],
  ];
  for (const [text, value] of read) it(`reads ${text}`, () => expect(parseScore(text)).to.equal(value));
  for (const text of [
    '',
    'nan',
    ' 1',
    '1 ',
    '1e',
    '0x',
    '0xp1',
    '1e400',
    '1e-400',
    '0x1p2000',
    '0x1p-2000',
    '1\x00',
    '--1',
  ]) {
    it(`refuses ${JSON.stringify(text)}`, () => expect(parseScore(text)).to.equal(undefined));
  }

  it('accepts more in range bounds: leading blanks, the empty text, too large numbers', () => {
    expect(parseBoundNumber('')).to.equal(0);
    expect(parseBoundNumber(' \t7')).to.equal(7);
    expect(parseBoundNumber('1e400')).to.equal(Number.POSITIVE_INFINITY);
    expect(parseBoundNumber('3\x00x')).to.equal(3);
    for (const text of [' ', '7 ', 'nan', 'x']) expect(parseBoundNumber(text), text).to.equal(undefined);
  });
});
