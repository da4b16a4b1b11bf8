/** Proves JB1–JB3. */
import { expect } from 'chai';
import fc from 'fast-check';
import { ErrorReply } from '../../../src/domain/kv/index.js';
import { parseBatchBody, parseCommandBody } from '../../../src/edge/kv/json-body.js';
import { JsonCommandReader } from '../../../src/edge/kv/json-command-reader.js';
import { repetitions } from '../../support/depth.js';

const NESTED_ARRAY = 'ERR unsupported arg type: "[": json.Delim';
const NESTED_OBJECT = 'ERR unsupported arg type: "{": json.Delim';
const NOT_JSON = 'ERR failed to parse request body';
const NO_ARRAY = 'expected JSON array';
const NULL_ARGUMENT = 'ERR null args are not supported';

/** Padding that makes a body too long for JSON.parse. */
const PADDING = ' '.repeat(70_000);

function plainly(result: unknown): unknown {
  if (result instanceof ErrorReply) return { error: result.text };
  return Array.isArray(result) ? result.map(plainly) : result;
}

/** The result of both readers, after a check that they agree. */
function command(json: string | Buffer): unknown {
  const body = Buffer.from(json);
  const fast = plainly(parseCommandBody(body));
  expect(plainly(parseCommandBody(Buffer.concat([Buffer.from(PADDING), body])))).to.deep.equal(fast);
  return fast;
}

function batch(json: string | Buffer): unknown {
  const body = Buffer.from(json);
  const fast = plainly(parseBatchBody(body));
  expect(plainly(parseBatchBody(Buffer.concat([Buffer.from(PADDING), body])))).to.deep.equal(fast);
  return fast;
}

describe('edge/kv: JSON body', () => {
  it('reads strings as their UTF-8 bytes', () => {
    expect(command('["SET","k","é\\u00e9 \\"\\n\\ud83d\\ude00"]')).to.deep.equal([
      'SET',
      'k',
      '\xc3\xa9\xc3\xa9 "\n\xf0\x9f\x98\x80',
    ]);
  });

  it('reads texts of many slices, with and without escapes, for any slice end', () => {
    const plain = 'é'.repeat(200_000);
    for (const shift of ['', 'x', 'xx', 'xxx', 'xxxx', 'xxxxx']) {
      for (const text of [plain, '\\"\n😀'.repeat(70_000), '\ud800'.repeat(60_000)]) {
        const given = ['SET', `k${shift}`, text, shift];
        const bytes = given.map((word) => Buffer.from(word, 'utf8').toString('latin1'));
        expect(parseCommandBody(Buffer.from(JSON.stringify(given)))).to.deep.equal(bytes);
        const escaped = JSON.stringify(given).replace(
          /[^ -~]/g,
          (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`,
        );
        expect(parseCommandBody(Buffer.from(escaped))).to.deep.equal(bytes);
      }
    }
    for (const wrong of [`["${plain}`, `["${plain}\\`, `["${plain}\\x"]`, `["${plain}\n"]`]) {
      expect(plainly(parseCommandBody(Buffer.from(wrong)))).to.deep.equal({ error: NOT_JSON });
    }
  });

  it('reads a number as its source text', () => {
    const numbers = ['100', '1.5', '1e+21', '12345678901234567890', '-0', '1.0', '1E5', '-9007199254740993', '0.10'];
    for (const source of numbers) expect(command(`["SET","k",${source}]`)).to.deep.equal(['SET', 'k', source]);
    expect(command(`["SET",1,-2,345678901234567]`)).to.deep.equal(['SET', '1', '-2', '345678901234567']);
  });

  it('reads booleans as words', () => {
    expect(command('["HSET","h",true,false]')).to.deep.equal(['HSET', 'h', 'true', 'false']);
  });

  it('refuses a null argument', () => {
    expect(command('["SET","k",null]')).to.deep.equal({ error: NULL_ARGUMENT });
  });

  it('refuses only the one command of a batch with a null', () => {
    expect(batch('[["GET",null,"x"],["GET","b"]]')).to.deep.equal([{ error: NULL_ARGUMENT }, ['GET', 'b']]);
  });

  it('refuses arrays and objects inside a command', () => {
    expect(command('[["GET","a"]]')).to.deep.equal({ error: NESTED_ARRAY });
    expect(command('["SET","k",{"a":1}]')).to.deep.equal({ error: NESTED_OBJECT });
    expect(batch('[["SET","k",[1]]]')).to.deep.equal({ error: NESTED_ARRAY });
    expect(batch('[["GET","a"],["SET","k",{}]]')).to.deep.equal({ error: NESTED_OBJECT });
  });

  it('refuses a body that is no array', () => {
    for (const json of ['{"a":1}', '"GET"', '1', 'true', 'null']) {
      expect(command(json), json).to.deep.equal({ error: NO_ARRAY });
      expect(batch(json), json).to.deep.equal({ error: NO_ARRAY });
    }
    expect(batch('["GET","a"]')).to.deep.equal({ error: NO_ARRAY });
  });

  it('refuses invalid JSON, and text after the value', () => {
    const broken = ['[', '["a"', '["a",]', "['a']", '["a"]]', '["a"] x', '[,]', '[01]', '[1.]', '[+1]', '["\\x"]'];
    for (const json of [...broken, '["a\nb"]', '["a" "b"]', '[tru]', '[1e]', '[-]', 'SET a b', '["\\u12"]']) {
      expect(command(json), json).to.deep.equal({ error: NOT_JSON });
    }
    expect(batch('[["a"]')).to.deep.equal({ error: NOT_JSON });
    expect(batch('[["a"]],')).to.deep.equal({ error: NOT_JSON });
    expect(batch('[["a"],]')).to.deep.equal({ error: NOT_JSON });
  });

  it('answers EOF to an empty body', () => {
    expect(plainly(parseCommandBody(Buffer.alloc(0)))).to.deep.equal({ error: 'EOF' });
    expect(plainly(parseBatchBody(Buffer.alloc(0)))).to.deep.equal({ error: 'EOF' });
  });

  it('reads empty arrays', () => {
    expect(command('[]')).to.deep.equal([]);
    expect(command(' [ ] ')).to.deep.equal([]);
    expect(batch('[ ]')).to.deep.equal([]);
    expect(batch('[[]]')).to.deep.equal([[]]);
  });

  it('reads lone surrogates and each invalid byte as U+FFFD', () => {
    expect(command('["GET","\\ud800"]')).to.deep.equal(['GET', '\xef\xbf\xbd']);
    const invalid = Buffer.from([...Buffer.from('["GET","a'), 0xff, 0xfe, ...Buffer.from('"]')]);
    expect(command(invalid)).to.deep.equal(['GET', 'a\xef\xbf\xbd\xef\xbf\xbd']);
  });

  it('treats names of prototypes as plain strings', () => {
    expect(command('["SET","__proto__","constructor"]')).to.deep.equal(['SET', '__proto__', 'constructor']);
  });

  it('refuses very deep nesting without recursion', () => {
    expect(plainly(parseCommandBody(Buffer.from('['.repeat(60_000))))).to.deep.equal({ error: NOT_JSON });
    expect(plainly(parseCommandBody(Buffer.alloc(10_000_000, '[')))).to.deep.equal({ error: NESTED_ARRAY });
    expect(plainly(parseBatchBody(Buffer.alloc(10_000_000, '[')))).to.deep.equal({ error: NESTED_ARRAY });
  });

  it('gives the same result with both readers, for any commands', () => {
    const word = fc.oneof(fc.string({ unit: 'binary' }), fc.integer(), fc.double(), fc.boolean(), fc.constant(null));
    fc.assert(
      fc.property(fc.array(fc.array(word)), (commands) => {
        const body = Buffer.from(JSON.stringify(commands, null, commands.length % 3));
        expect(plainly(parseBatchBody(body))).to.deep.equal(plainly(new JsonCommandReader(body).batch()));
      }),
      { numRuns: repetitions(30) },
    );
  });

  it('accepts exactly the texts that JSON.parse accepts', () => {
    const characters = fc.constantFrom(...'[]",{}:0123456789.eE+-\\untrfalse \n\t');
    fc.assert(
      fc.property(fc.string({ unit: characters, maxLength: 12 }), (inside) => {
        const json = `["${inside}]`;
        const fast = plainly(parseCommandBody(Buffer.from(json)));
        let slow: unknown;
        try {
          slow = plainly(new JsonCommandReader(Buffer.from(json)).singleCommand());
        } catch (refusal) {
          slow = plainly(refusal);
        }
        const isNested = (result: unknown) => JSON.stringify(result).includes('unsupported arg');
        // If the text has two mistakes, the readers may report different ones: the slow one stops at the first.
        if (isNested(slow)) expect(fast).to.have.property('error');
        else expect(slow).to.deep.equal(fast);
      }),
      { numRuns: repetitions(1000) },
    );
  });
});
