/** Proves LJ1–LJ3. */
import { expect } from 'chai';
import fc from 'fast-check';
import { decodedText } from '../../../../src/edge/http/json-texts.js';
import { type LargeBounds, type LargeDocument, LONG_BYTES, readLarge } from '../../../../src/edge/http/large-json.js';
import { RefusedRequest } from '../../../../src/edge/http/refused.js';
import { repetitions } from '../../../support/depth.js';

const BOUNDS = { subject: 'the body', maxValues: 10_000 };
/** Small bounds, so that short texts of tests count as long. */
const SMALL = { ...BOUNDS, longBytes: 24, sliceBytes: 16 };

function ended<Result>(steps: Generator<undefined, Result>): { readonly result: Result; readonly pauses: number } {
  for (let pauses = 0; ; pauses += 1) {
    const step = steps.next();
    if (step.done === true) return { result: step.value, pauses };
  }
}

const read = (document: Buffer, name?: string, bounds: LargeBounds = SMALL): LargeDocument =>
  ended(readLarge(document, name, bounds)).result;

/** A text between quotes, decoded whole; undefined when JSON.parse refuses it. */
function plainly(document: Buffer): Buffer | undefined {
  try {
    return Buffer.from(JSON.parse(`"${document.toString('utf8')}"`) as string, 'utf8');
  } catch {
    return undefined;
  }
}

function inSlices(document: Buffer): Buffer | undefined {
  try {
    return Buffer.concat(ended(decodedText(document, 0, document.length, 16)).result);
  } catch (error) {
    expect(error).to.be.instanceOf(RefusedRequest);
    return undefined;
  }
}

const PIECES: readonly (string | readonly number[])[] = [
  'a',
  'ü',
  '€',
  '😀',
  '\\\\',
  '\\"',
  '\\n',
  '\\/',
  '\\u0041',
  '\\ud83d',
  '\\uDE00',
  '\\ud83d\\ude00',
  '\\ud83d\\ud83d\\ude00',
  '\ufeff',
  '012345678901234567890',
];
/** Pieces that are invalid in JSON or in UTF-8. */
const TORN: readonly (string | readonly number[])[] = [
  '\\u12',
  '\\x',
  '\n',
  '\u0000',
  [0x80],
  [0xc3],
  [0xe2, 0x82],
  [0xf0, 0x9f, 0x98],
  [0xed, 0xa0, 0xbd],
  [0x80, 0x80, 0x80, 0x80, 0x80],
  [0xff],
];

const bytesOf = (parts: readonly (string | readonly number[])[]) =>
  Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : Buffer.from(part))));
const textIn = (pieces: readonly (string | readonly number[])[]) =>
  fc.array(fc.constantFrom(...pieces), { maxLength: 60 }).map(bytesOf);
/** Most of the texts are valid. */
const text = fc.oneof(
  { weight: 3, arbitrary: textIn(PIECES) },
  { weight: 2, arbitrary: textIn([...PIECES, ...TORN.slice(4)]) },
  { weight: 1, arbitrary: textIn([...PIECES, ...TORN]) },
);

describe('edge/http: large JSON', () => {
  it('decodes texts in slices to the result of JSON.parse, also cut-off ones', () => {
    fc.assert(
      fc.property(text, (document) => {
        expect(inSlices(document)).to.deep.equal(plainly(document));
      }),
      { numRuns: repetitions(5000) },
    );
  });

  it('reads the same as JSON.parse, with the one long text returned separately', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), fc.string({ maxLength: 80 }), (value, long) => {
        const document = { before: value, body: long, body2: [value, { body: 'x' }] };
        const { value: rest, text: taken } = read(Buffer.from(JSON.stringify(document)), 'body', {
          ...SMALL,
          // The rest is complete if it has no other long text.
          longBytes: 40,
        });
        const texts = JSON.stringify(value).length > 40;
        if (taken === undefined) expect((rest as { body: string }).body).to.equal(long);
        else expect(taken.toString()).to.equal(Buffer.from(long).toString());
        // The form after JSON: it has no negative zero.
        const written = JSON.parse(JSON.stringify(document));
        if (!texts) expect({ ...(rest as object), body: long }).to.deep.equal(written);
      }),
      { numRuns: repetitions(1000) },
    );
  });

  it('returns the last member of the name', () => {
    const member = fc.tuple(
      fc.constantFrom('"body"', '"b\\u006fdy"', '"Body"', '"other"', '"__proto__"'),
      fc.oneof(text, fc.constantFrom(...['', 'short'].map((word) => Buffer.from(word)))),
      fc.constantFrom('text', 'null', 'object', 'list'),
    );
    const valueSaying = (said: Buffer, kind: string) => {
      const quoted = Buffer.concat([Buffer.from('"'), said, Buffer.from('"')]);
      if (kind === 'text') return quoted;
      if (kind === 'null') return Buffer.from('null');
      const [open, close] = kind === 'list' ? ['[', ']'] : ['{"body" : ', '}'];
      return Buffer.concat([Buffer.from(open as string), quoted, Buffer.from(close as string)]);
    };
    fc.assert(
      fc.property(fc.array(member, { minLength: 1, maxLength: 5 }), (members) => {
        const document = Buffer.concat([
          Buffer.from('{ '),
          ...members.flatMap(([name, said, kind], at) => [
            Buffer.from(`${at === 0 ? '' : ','}${name}\t: `),
            valueSaying(said, kind),
          ]),
          Buffer.from(' }'),
        ]);
        let expected: Record<string, unknown>;
        try {
          expected = JSON.parse(document.toString('utf8')) as Record<string, unknown>;
        } catch {
          expect(() => read(document, 'body')).to.throw(RefusedRequest, 'the body is not valid JSON');
          return;
        }
        const { value, text: taken } = read(document, 'body');
        const body = taken === undefined ? (value as Record<string, unknown>).body : taken.toString();
        const encoded = (told: string) => Buffer.from(told).toString();
        if (typeof expected.body === 'string') expect(encoded(body as string)).to.equal(encoded(expected.body));
        else expect(typeof body).to.equal(typeof expected.body);
        expect(Object.keys(value as object)).to.deep.equal(Object.keys(expected));
      }),
      { numRuns: repetitions(5000) },
    );
  });

  it('refuses the same texts as JSON.parse, and throws no other error', () => {
    const long = `"${'\\\\'.repeat(20)}"`;
    const pieces = [
      '[',
      ']',
      '{',
      '}',
      ',',
      '"',
      '\\',
      ':',
      '1',
      ' ',
      'null',
      '"body"',
      '"a"',
      long,
      '"\\q'.repeat(20),
    ];
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...pieces), { maxLength: 9 }), (parts) => {
        const document = Buffer.from(parts.join(''));
        let isJson = true;
        try {
          JSON.parse(document.toString());
        } catch {
          isJson = false;
        }
        if (isJson) read(document, 'body');
        else expect(() => read(document, 'body')).to.throw(RefusedRequest, 'the body is not valid JSON');
      }),
      { numRuns: repetitions(3000) },
    );
  });

  it('shortens long texts that are not requested', () => {
    const named = '\\u0041'.repeat(LONG_BYTES);
    const document = Buffer.from(`{"step":{"name":"${named}"},"out":"${'😀'.repeat(LONG_BYTES)}"}`);
    const { value, text: taken } = read(document, 'body', BOUNDS);
    const { step, out } = value as { step: { name: string }; out: string };
    expect(taken).to.equal(undefined);
    expect(step.name)
      .to.match(/^A+$/)
      .and.to.have.lengthOf.above(64 * 1024);
    expect(out).to.match(/^(?:😀)+$/u);
    expect(Buffer.byteLength(out)).to.equal(LONG_BYTES);
  });

  it('refuses too deep nesting and too many values like documents of any size', () => {
    expect(() => read(Buffer.from('['.repeat(1_000_000)))).to.throw('nested deeper than 64 levels');
    const list = (count: number) => Buffer.from(`[${'1,'.repeat(count - 1)}1]`);
    expect(read(list(10_000)).value).to.have.lengthOf(10_000);
    expect(() => read(list(10_001))).to.throw('the body has more than 10000 values');
  });

  it('yields between slices, for any characters', () => {
    for (const unit of ['x', '\\"', '\\\\', '\\ud83d\\ude00', 'ü', '😀']) {
      const body = unit.repeat(Math.ceil(1_500_000 / Buffer.byteLength(unit)));
      const document = Buffer.from(`{"out":"${body}","body":"${body}"}`);
      const { result, pauses } = ended(readLarge(document, 'body', BOUNDS));
      // Each byte is scanned, and decoded.
      expect(pauses, unit).to.be.above((2 * document.length) / (128 * 1024) - 8);
      expect(result.text?.equals(plainly(Buffer.from(body)) as Buffer), unit).to.equal(true);
      expect(result.value).to.have.property('body', '');
    }
  });
});
