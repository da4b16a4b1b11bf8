/** JSON text to values and back: the kept digits, the printed form, and the refused texts. */
import { expect } from 'chai';
import {
  inOneStep,
  isContainer,
  type JsonValue,
  MAX_JSON_DEPTH,
  measured,
  parseJson,
  stringifyJson,
  typeOfJson,
  writeJson,
} from '../../../../../src/domain/kv/types/json/index.js';
import { bytesOfText } from '../../../../../src/kernel/index.js';
import { Dice } from '../../../../support/random-programs/index.js';

const roundTrip = (text: string): string => stringifyJson(parseJson(bytesOfText(text)).value);

function refusalOf(text: string): string {
  try {
    parseJson(text);
  } catch (refusal) {
    return (refusal as { text: string }).text;
  }
  return 'none';
}

/** The depth of nested containers; 0 for a scalar. */
function depthOfJson(value: JsonValue): number {
  if (!isContainer(value)) return 0;
  let deepest = 0;
  for (const child of value.values()) if (isContainer(child)) deepest = Math.max(deepest, depthOfJson(child));
  return 1 + deepest;
}

describe('JSON text', () => {
  it('keeps every digit of integers of up to 64 bits', () => {
    for (const digits of ['0', '-1', '9007199254740993', '9223372036854775808', '18446744073709551615'])
      expect(roundTrip(digits)).to.equal(digits);
    expect(roundTrip('-9223372036854775808')).to.equal('-9223372036854775808');
    expect(typeOfJson(parseJson('18446744073709551615').value)).to.equal('integer');
  });

  it('reads larger integers as floats', () => {
    expect(roundTrip('18446744073709551616')).to.equal('1.8446744073709552e19');
    expect(roundTrip('-9223372036854775809')).to.equal('-9.223372036854776e18');
    expect(typeOfJson(parseJson('18446744073709551616').value)).to.equal('number');
  });

  it('prints floats so that they stay floats', () => {
    const printed: Record<string, string> = {
      '1.0': '1.0',
      '-0': '-0.0',
      '-0.0': '-0.0',
      '1e0': '1.0',
      '3.14': '3.14',
      '1E3': '1000.0',
      '1e15': '1000000000000000.0',
      '1e16': '1e16',
      '1e21': '1e21',
      '1.5e300': '1.5e300',
      '0.00001': '0.00001',
      '0.0000012': '1.2e-6',
      '123456789.125': '123456789.125',
      '5e-324': '5e-324',
    };
    for (const [given, expected] of Object.entries(printed)) expect(roundTrip(given), given).to.equal(expected);
  });

  it('keeps the order of members, the last of equal names, and names like __proto__', () => {
    expect(roundTrip('{"b":1,"a":2,"b":[3]}')).to.equal('{"b":[3],"a":2}');
    expect(roundTrip('{"__proto__":{"x":1},"constructor":2,"":3}')).to.equal(
      '{"__proto__":{"x":1},"constructor":2,"":3}',
    );
    expect(({} as { x?: number }).x).to.equal(undefined);
  });

  it('decodes escapes, and escapes where JSON requires it', () => {
    expect(roundTrip('"\\u0041\\u00e9\\u20ac\\ud83d\\ude00\\/"')).to.equal(bytesOfText('"Aé€😀/"'));
    expect(roundTrip('"\\u0000\\u001f\\b\\f\\n\\r\\t\\"\\\\"')).to.equal('"\\u0000\\u001f\\b\\f\\n\\r\\t\\"\\\\"');
    expect(roundTrip('"é😀\x7f"')).to.equal(bytesOfText('"é😀\x7f"'));
  });

  it('refuses invalid JSON with the position', () => {
    const refused: Record<string, string> = {
      '': 'ERR EOF while parsing a value at line 1 column 0',
      '{': 'ERR EOF while parsing an object at line 1 column 1',
      '[1,': 'ERR EOF while parsing a value at line 1 column 3',
      '[1,]': 'ERR expected value at line 1 column 4',
      '[1 2]': 'ERR expected `,` or `]` at line 1 column 4',
      '{"a":1 "b"}': 'ERR expected `,` or `}` at line 1 column 8',
      '{"a" 1}': 'ERR expected `:` at line 1 column 6',
      '{1:2}': 'ERR key must be a string at line 1 column 2',
      '{"a":1,}': 'ERR key must be a string at line 1 column 8',
      '1\n 2': 'ERR trailing characters at line 2 column 2',
      '"a': 'ERR EOF while parsing a string at line 1 column 2',
      '"\\ud800"': 'ERR lone leading surrogate in hex escape at line 1 column 7',
      '1e999': 'ERR number out of range at line 1 column 5',
    };
    for (const [text, expected] of Object.entries(refused)) expect(refusalOf(text), text).to.equal(expected);
    for (const text of [
      '01',
      '1.',
      '.5',
      '+1',
      '-',
      '1e',
      'nul',
      'True',
      "'a'",
      '"\t"',
      '"\\x"',
      '"\\u12"',
      'NaN',
      '\ufeff1',
    ])
      expect(refusalOf(text), text).to.match(/^ERR /);
  });

  it('refuses text that is not UTF-8', () => {
    expect(refusalOf('"\xff"')).to.equal("ERR Couldn't parse as UTF-8 string");
    expect(refusalOf('"\xc3\xa9"')).to.equal('none');
  });

  it('accepts the maximum nesting, and refuses one level more', () => {
    const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);
    expect(parseJson(nested(MAX_JSON_DEPTH)).depth).to.equal(MAX_JSON_DEPTH);
    expect(refusalOf(nested(MAX_JSON_DEPTH + 1))).to.equal('ERR recursion limit exceeded');
    expect(refusalOf(nested(1_000_000))).to.equal('ERR recursion limit exceeded');
  });

  it('reads all output of JSON.stringify, counts bytes and depth, and survives any damage', () => {
    const dice = new Dice(3);
    const value = (depth: number): unknown => {
      const kind = dice.below(depth > 0 ? 6 : 4);
      if (kind === 0) return dice.pick([0, 1.5, -7, 1e21, 2 ** 53, true, null]);
      if (kind < 4) return String.fromCharCode(...Array.from({ length: dice.below(20) }, () => dice.below(0xd7ff)));
      const items = Array.from({ length: dice.below(5) }, () => value(depth - 1));
      return kind === 4 ? items : Object.fromEntries(items.map((item, index) => [`n${index}`, item]));
    };
    for (let run = 0; run < 300; run += 1) {
      const source = value(5);
      const text = bytesOfText(JSON.stringify(source, null, run % 3));
      const read = parseJson(text);
      expect(JSON.parse(Buffer.from(stringifyJson(read.value), 'latin1').toString())).to.deep.equal(source);
      expect(read.bytes).to.equal(inOneStep(measured(read.value)));
      expect(read.depth).to.equal(depthOfJson(read.value));
      const at = dice.below(text.length);
      const damaged = text.slice(0, at) + String.fromCharCode(dice.below(256)) + text.slice(at + dice.below(3));
      expect(refusalOf(damaged)).to.match(/^(none|ERR )/);
    }
  });

  it('reads and writes long texts in many steps, and does not keep the source text in memory', () => {
    const text = `[${Array.from({ length: 50_000 }, (_, i) => `{"id":${i},"name":"a name of some length"}`).join()}]`;
    const { value } = parseJson(text);
    let steps = 0;
    for (const writing = writeJson(value); ; steps += 1) {
      const step = writing.next();
      if (step.done !== true) continue;
      expect(step.value).to.equal(text);
      break;
    }
    expect(steps).to.be.greaterThan(20);
  });
});
