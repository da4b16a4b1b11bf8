import { expect } from 'chai';
import fc from 'fast-check';
import { quoteBytes, replyToBase64Json, replyToJson } from '../../../../src/codec/json/index.js';
import { ErrorReply, NIL_ARRAY, OK, type Reply, SimpleString } from '../../../../src/domain/kv/index.js';

const encoded = (text: string) => Buffer.from(text, 'latin1').toString('base64');

describe('codec/json: replies', () => {
  const cases: readonly [string, Reply, string][] = [
    ['a nil bulk string', null, '{"result":null}'],
    ['a nil array', NIL_ARRAY, '{"result":null}'],
    ['an integer', 42, '{"result":42}'],
    ['an integer beyond 2^53, with all its digits', 9223372036854775807n, '{"result":9223372036854775807}'],
    ['a status', new SimpleString('PONG'), '{"result":"PONG"}'],
    ['OK', OK, '{"result":"OK"}'],
    ['a string', 'bar', '{"result":"bar"}'],
    ['an empty string', '', '{"result":""}'],
    ['an empty array', [], '{"result":[]}'],
    ['nested arrays with nils and numbers', ['0', ['a', null, 1, [NIL_ARRAY]]], '{"result":["0",["a",null,1,[null]]]}'],
    ['an array that begins with an empty array', [[], 'a'], '{"result":[[],"a"]}'],
    ['an error', new ErrorReply('ERR "no"'), '{"error":"ERR \\"no\\""}'],
    ['an error inside an array, as its text', [new ErrorReply('ERR x')], '{"result":["ERR x"]}'],
    ['quotes, backslashes and control characters', '"\\\n\x00\x7f', '{"result":"\\"\\\\\\n\\u0000\x7f"}'],
    ['UTF-8', '\xc3\xa9\xe2\x82\xac', '{"result":"é€"}'],
    ['each invalid byte as one U+FFFD', 'a\xff\xfeb\xe2\x82', '{"result":"a\ufffd\ufffdb\ufffd\ufffd"}'],
  ];
  for (const [kind, reply, json] of cases) {
    it(`writes ${kind}`, () => {
      expect(replyToJson(reply)).to.equal(json);
    });
  }

  it('writes any bytes as JSON that reads back as their text', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 120 }), (bytes) => {
        const bytesAsString = Buffer.from(bytes).toString('latin1');
        expect(JSON.parse(quoteBytes(bytesAsString))).to.be.a('string');
      }),
    );
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 120 }), (text) => {
        expect(JSON.parse(quoteBytes(Buffer.from(text).toString('latin1')))).to.equal(text);
      }),
    );
  });
});

describe('codec/json: replies in base64', () => {
  const cases: readonly [string, Reply, string][] = [
    ['leaves a status OK that is the whole result plain', OK, '{"result":"OK"}'],
    ['also one that is not the shared constant', new SimpleString('OK'), '{"result":"OK"}'],
    ['encodes a string that happens to be OK', 'OK', '{"result":"T0s="}'],
    ['encodes other statuses', new SimpleString('PONG'), `{"result":"${encoded('PONG')}"}`],
    ['encodes OK inside an array', [OK, [OK]], '{"result":["T0s=",["T0s="]]}'],
    [
      'encodes strings at every depth, not numbers and nils',
      ['0', ['a', 1, null]],
      '{"result":["MA==",["YQ==",1,null]]}',
    ],
    ['leaves the empty string empty', '', '{"result":""}'],
    ['leaves errors plain', new ErrorReply('ERR x'), '{"error":"ERR x"}'],
    ['encodes every byte', '\x00\xff\xfe', '{"result":"AP/+"}'],
    ['leaves numbers', 7, '{"result":7}'],
  ];
  for (const [kind, reply, json] of cases) {
    it(kind, () => {
      expect(replyToBase64Json(reply)).to.equal(json);
    });
  }

  it('encodes long strings like short ones', () => {
    const long = '\xfa'.repeat(5000);
    expect(replyToBase64Json(long)).to.equal(`{"result":"${encoded(long)}"}`);
  });
});
