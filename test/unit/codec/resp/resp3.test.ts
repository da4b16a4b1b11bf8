import { expect } from 'chai';
import {
  encodeInPieces,
  encodePush,
  encodeReply,
  encodeReply3,
  encodeReplyAs,
  isSmallReply,
} from '../../../../src/codec/resp/index.js';
import {
  BooleanReply,
  DoubleReply,
  ErrorReply,
  KeyedReply,
  MapReply,
  NIL_ARRAY,
  OK,
  PairsReply,
  type Reply,
  SetReply,
  VerbatimReply,
} from '../../../../src/domain/kv/index.js';

describe('RESP3 replies', () => {
  const rows: [string, Reply, string][] = [
    ['a bulk string', 'bar', '$3\r\nbar\r\n'],
    ['null', null, '_\r\n'],
    ['the null array', NIL_ARRAY, '_\r\n'],
    ['an integer', -5, ':-5\r\n'],
    ['a large integer', 9223372036854775807n, ':9223372036854775807\r\n'],
    ['OK', OK, '+OK\r\n'],
    ['an error', new ErrorReply('ERR no'), '-ERR no\r\n'],
    ['a double', new DoubleReply(1.5), ',1.5\r\n'],
    ['infinity', new DoubleReply(Number.NEGATIVE_INFINITY), ',-inf\r\n'],
    ['a boolean', new BooleanReply(true), '#t\r\n'],
    ['a text', new VerbatimReply('hi'), '=6\r\ntxt:hi\r\n'],
    ['a map', new MapReply(['a', 1, 'b', null]), '%2\r\n$1\r\na\r\n:1\r\n$1\r\nb\r\n_\r\n'],
    ['a set', new SetReply(['a']), '~1\r\n$1\r\na\r\n'],
    ['pairs', new PairsReply(['a', new DoubleReply(1)]), '*1\r\n*2\r\n$1\r\na\r\n,1\r\n'],
    ['values by name', new KeyedReply(['a', [1]]), '%1\r\n$1\r\na\r\n*1\r\n:1\r\n'],
    ['a list of lists', [[1], []], '*2\r\n*1\r\n:1\r\n*0\r\n'],
  ];
  for (const [kind, reply, resp] of rows) {
    it(`have the bytes of ${kind}`, () => expect(encodeReply3(reply)).to.equal(resp));
  }

  it('are pushes for unrequested messages, and arrays in RESP2', () => {
    expect(encodePush(['message', 'c', 'm'], 3)).to.equal('>3\r\n$7\r\nmessage\r\n$1\r\nc\r\n$1\r\nm\r\n');
    expect(encodePush(['message', null], 2)).to.equal('*2\r\n$7\r\nmessage\r\n$-1\r\n');
  });
});

describe('large replies', () => {
  const flat = Array.from({ length: 20_000 }, (_, i) => String(i));
  const large: Reply[] = [
    flat,
    [flat, ['x', flat], 'y'],
    new MapReply(flat),
    new SetReply(flat),
    new PairsReply(flat),
    new KeyedReply(['a', flat, 'b', flat]),
    Array.from({ length: 300 }, () => 'v'.repeat(100_000)),
  ];

  it('are encoded in pieces to the same bytes', () => {
    for (const reply of large) {
      expect(isSmallReply(reply)).to.equal(false);
      for (const version of [2, 3] as const) {
        const pieces = [...encodeInPieces(reply, version)];
        expect(pieces.length).to.be.above(1);
        expect(pieces.join('')).to.equal(encodeReplyAs(reply, version));
      }
    }
  });

  it('with few parts are encoded in one piece', () => {
    expect(isSmallReply(['a', ['b']])).to.equal(true);
    expect([...encodeInPieces(['a', ['b']], 2)]).to.deep.equal([encodeReply(['a', ['b']])]);
    expect([...encodeInPieces('v'.repeat(900_000), 2)]).to.have.length(1);
  });

  it('have pieces of one or two megabytes, also for one long string', () => {
    const long = 'v'.repeat(5_000_000);
    for (const reply of [long, [long, 'a', long], Array.from({ length: 100 }, () => 'v'.repeat(100_000))]) {
      expect(isSmallReply(reply)).to.equal(false);
      const pieces = [...encodeInPieces(reply, 2)];
      expect(pieces.join('')).to.equal(encodeReply(reply));
      expect(Math.max(...pieces.map(({ length }) => length))).to.be.below(2_100_000);
    }
  });
});
