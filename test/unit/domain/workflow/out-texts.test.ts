import { expect } from 'chai';
import fc from 'fast-check';
import { atOnce, endText, eventText, type OutText, withOut } from '../../../../src/domain/queue/runs/out-texts.js';
import { repetitions } from '../../../support/depth.js';

const SLICE_BYTES = 192 * 1024;

function pausesOf(steps: Generator<void, OutText>): number {
  for (let pauses = 0; ; pauses += 1) if (steps.next().done === true) return pauses;
}

const recordOf = (out: OutText, stepText = '{"stepId":1}', members = {}) =>
  JSON.parse(Buffer.from(withOut(stepText, members, out)).toString()) as Record<string, unknown>;

/** Lengths around the ends of slices. */
const longBytes = fc
  .tuple(fc.uint8Array({ maxLength: 9 }), fc.nat(8), fc.constantFrom('x', 'ü', '€', '😀', '"', '\\', '\n', '\u0000'))
  .map(([odd, before, unit]) =>
    Buffer.concat([
      Buffer.alloc(before, 0x61),
      Buffer.from(unit.repeat(Math.ceil(SLICE_BYTES / Buffer.byteLength(unit)))),
      odd,
      Buffer.from(unit.repeat(5)),
    ]),
  );
/** Bytes within and at the start of characters where a slice ends. */
const tornBytes = fc
  .tuple(fc.array(fc.constantFrom(0x61, 0x80, 0xbf, 0xc3, 0xe2, 0xf0, 0x9f, 0xff), { minLength: 12, maxLength: 12 }))
  .map(([odd]) => Buffer.concat([Buffer.alloc(SLICE_BYTES - 6, 0x61), Buffer.from(odd), Buffer.from('end')]));
const content = fc.oneof(
  fc.uint8Array(),
  fc.string({ unit: 'binary' }).map((text) => Buffer.from(text)),
  longBytes,
  tornBytes,
);

describe('runs: the texts that the server puts into a record', () => {
  it('are base64 for an event', () => {
    fc.assert(
      fc.property(content, (event) => {
        expect(recordOf(atOnce(eventText(event))).out).to.equal(Buffer.from(event).toString('base64'));
      }),
      { numRuns: repetitions(200) },
    );
  });

  it('are the response of a run as text, and its outcome', () => {
    fc.assert(
      fc.property(content, (response) => {
        const out = recordOf(atOnce(endText('RUN_SUCCESS', response))).out as string;
        const body = response.length === 0 ? {} : { body: Buffer.from(response).toString('utf8') };
        expect(JSON.parse(out)).to.deep.equal({ ...body, isCanceled: false, isFailed: false });
        expect(out).to.equal(JSON.stringify({ ...body, isCanceled: false, isFailed: false }));
      }),
      { numRuns: repetitions(200) },
    );
    const outOf = (state: 'RUN_FAILED' | 'RUN_CANCELED') =>
      JSON.parse(recordOf(atOnce(endText(state, Buffer.from('ignored')))).out as string) as unknown;
    expect(outOf('RUN_FAILED')).to.deep.equal({ isCanceled: false, isFailed: true });
    expect(outOf('RUN_CANCELED')).to.deep.equal({ isCanceled: true, isFailed: false });
  });

  it('follow the existing members', () => {
    const out = atOnce(eventText(Buffer.from('x')));
    expect(recordOf(out, '{ }')).to.deep.equal({ out: 'eA==' });
    expect(recordOf(out, ' {"a": {"b": 1} } \n', { c: 2 })).to.deep.equal({ a: { b: 1 }, c: 2, out: 'eA==' });
    expect(recordOf(out, '{}', { c: '}' })).to.deep.equal({ c: '}', out: 'eA==' });
    expect(recordOf([], '{"a":1}')).to.deep.equal({ a: 1, out: '' });
  });

  it('are made in slices when they have megabytes', () => {
    const large = Buffer.alloc(5_000_000, 'large "text"');
    expect(pausesOf(eventText(large))).to.be.above(20);
    expect(pausesOf(endText('RUN_SUCCESS', large))).to.be.above(20);
  });
});
