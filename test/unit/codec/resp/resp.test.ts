import { expect } from 'chai';
import fc from 'fast-check';
import { encodeCommand, encodeReply, MalformedRespError, RespCommandReader } from '../../../../src/codec/resp/index.js';
import { Effects, ErrorReply, NIL_ARRAY, OK, type Reply, SimpleString } from '../../../../src/domain/kv/index.js';
import { repetitions } from '../../../support/depth.js';

const word = fc.uint8Array({ maxLength: 40 }).map((array) => Buffer.from(array).toString('latin1'));
const command = fc.array(word, { minLength: 1, maxLength: 6 });

function read(resp: string): string[][] {
  return [...new RespCommandReader(Buffer.from(resp, 'latin1'))];
}

describe('RESP2 replies', () => {
  const rows: [string, Reply, string][] = [
    ['a bulk string', 'bar', '$3\r\nbar\r\n'],
    ['the empty string', '', '$0\r\n\r\n'],
    ['null', null, '$-1\r\n'],
    ['the null array', NIL_ARRAY, '*-1\r\n'],
    ['an integer', -5, ':-5\r\n'],
    ['an integer beyond 2^53', 9223372036854775807n, ':9223372036854775807\r\n'],
    ['OK', OK, '+OK\r\n'],
    ['a bulk string with the text OK', 'OK', '$2\r\nOK\r\n'],
    ['a status', new SimpleString('PONG'), '+PONG\r\n'],
    ['an error', new ErrorReply('ERR no'), '-ERR no\r\n'],
    ['an error with line ends in its text', new ErrorReply('ERR a\r\nb'), '-ERR a  b\r\n'],
    ['a nested array', ['a', [1, null], []], '*3\r\n$1\r\na\r\n*2\r\n:1\r\n$-1\r\n*0\r\n'],
  ];
  for (const [kind, reply, resp] of rows) {
    it(`have the bytes of ${kind}`, () => expect(encodeReply(reply)).to.equal(resp));
  }

  it('count and keep bytes, not characters', () => {
    expect(encodeReply('\xff\x00')).to.equal('$2\r\n\xff\x00\r\n');
  });
});

describe('RESP commands', () => {
  it('are read back as they were written', () => {
    fc.assert(
      fc.property(fc.array(command, { maxLength: 10 }), (commands) => {
        expect(read(commands.map(encodeCommand).join(''))).to.deep.equal(commands);
      }),
    );
  });

  it('are read from the effects of the engine', () => {
    const effects = new Effects();
    effects.pushSet('k', '\x00\r\n');
    effects.push('DEL', 'k', '');
    expect(read(effects.take().toString('latin1'))).to.deep.equal([
      ['SET', 'k', '\x00\r\n'],
      ['DEL', 'k', ''],
    ]);
  });

  it('can be read one at a time, with the offset', () => {
    const reader = new RespCommandReader(Buffer.from('*1\r\n$1\r\na\r\n*1\r\n$1\r\nb\r\n'));
    expect([reader.next(), reader.offset]).to.deep.equal([['a'], 11]);
    expect([reader.next(), reader.offset]).to.deep.equal([['b'], 22]);
    expect([reader.next(), reader.offset]).to.deep.equal([undefined, 22]);
  });

  const malformed: [string, string, number][] = [
    ['a reply that is no array', '+OK\r\n', 0],
    ['an inline command', 'GET k\r\n', 0],
    ['a null array', '*-1\r\n', 1],
    ['an empty array', '*0\r\n', 4],
    ['a count that is no number', '*x\r\n', 1],
    ['a count of too many digits', '*00000000001\r\n', 1],
    ['more words than bytes', '*1000000000\r\n$1\r\na\r\n', 13],
    ['a line without its end', '*1\n$1\r\na\r\n', 2],
    ['a null word', '*1\r\n$-1\r\n', 5],
    ['a word of another type', '*1\r\n:1\r\n', 4],
    ['a word cut short', '*1\r\n$5\r\nab', 10],
    ['a word longer than its length', '*1\r\n$1\r\nab\r\n', 9],
    ['a word without its line end', '*1\r\n$1\r\na', 9],
    ['fewer words than its count', '*2\r\n$3\r\nabc\r\n', 13],
    ['a header alone', '*', 1],
  ];
  for (const [kind, resp, offset] of malformed) {
    it(`are refused with ${kind}, with the position`, () => {
      expect(() => read(resp))
        .to.throw(MalformedRespError, `at byte ${offset}`)
        .with.property('offset', offset);
    });
  }

  it('are read or refused without another error, for any bytes', () => {
    const soup = fc
      .array(fc.constantFrom('*', '$', '\r\n', '0', '1', '2', '3', 'a', '-', '\r', '\n'), { maxLength: 40 })
      .map((parts) => parts.join(''));
    fc.assert(
      fc.property(soup, (resp) => {
        try {
          return read(resp).map(encodeCommand).join('').length <= resp.length + 20;
        } catch (error) {
          return error instanceof MalformedRespError;
        }
      }),
      { numRuns: repetitions(5000) },
    );
  });

  it('are refused when they are cut anywhere', () => {
    const resp = encodeCommand(['SET', 'key', 'value']);
    for (let end = 1; end < resp.length; end += 1) {
      expect(() => read(resp.slice(0, end)), `cut at ${end}`).to.throw(MalformedRespError);
    }
  });
});
