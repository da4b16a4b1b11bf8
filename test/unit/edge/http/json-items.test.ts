import { expect } from 'chai';
import fc from 'fast-check';
import { MAX_BODY_VALUES, MAX_ITEM_VALUES } from '../../../../src/edge/http/http-limits.js';
import { itemsOf, parseJson } from '../../../../src/edge/http/json-items.js';
import { JSON_SLICE_BYTES } from '../../../../src/edge/http/json-scanner.js';
import { readLarge } from '../../../../src/edge/http/large-json.js';
import { invalid } from '../../../../src/edge/http/refused.js';
import { repetitions } from '../../../support/depth.js';

const ANY_SIZE = Number.POSITIVE_INFINITY;

function bounds(maxBytes: number) {
  return { subject: 'a message', maxBytes, maxValues: MAX_ITEM_VALUES, tooLong: () => invalid('body is too large') };
}

function all(text: string, maxItemBytes = ANY_SIZE): unknown[] {
  const items: unknown[] = [];
  for (const step of itemsOf(Buffer.from(text), bounds(maxItemBytes))) if (step !== undefined) items.push(step.item);
  return items;
}

function runToEnd<Result>(steps: Generator<undefined, Result>): Result {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

describe('edge/http: JSON in slices', () => {
  it('reads the same items as JSON.parse', () => {
    fc.assert(
      fc.property(fc.array(fc.jsonValue({ maxDepth: 4 })), fc.constantFrom(undefined, 1), (values, indent) => {
        const text = JSON.stringify(values, undefined, indent);
        expect(all(text)).to.deep.equal(JSON.parse(text));
        expect(parseJson(Buffer.from(text))).to.deep.equal(JSON.parse(text));
      }),
    );
  });

  it('reads the same items where a slice ends at any byte of an item', () => {
    const item = { url: 'http://a', headers: { 'quoted "name"': 'a\\"' }, body: '', list: [[], {}, 'b\\'] };
    const itemBytes = JSON.stringify(item).length + 1;
    const others = new Array(Math.ceil((2 * JSON_SLICE_BYTES) / itemBytes)).fill(item);
    for (let shift = 0; shift <= itemBytes; shift += 1) {
      const items = ['x'.repeat(shift), ...others];
      const text = JSON.stringify(items);
      expect(JSON.stringify(all(text)) === text, `shifted by ${shift}`).to.equal(true);
      const document = runToEnd(
        readLarge(Buffer.from(`{"body":${text}}`), undefined, { subject: 'a document', maxValues: 1e6 }),
      );
      expect(JSON.stringify(document.value) === `{"body":${text}}`, `document shifted by ${shift}`).to.equal(true);
    }
  });

  it('refuses the same texts as JSON.parse, and throws no other error', () => {
    const pieces = ['[', ']', '{', '}', ',', '"', '\\', '\\"', ':', '1', 'a', ' ', 'null'];
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...pieces), { maxLength: 12 }), (parts) => {
        const text = parts.join('');
        const isArray = () => {
          try {
            return Array.isArray(JSON.parse(text));
          } catch {
            return false;
          }
        };
        const expected = isArray();
        if (expected) expect(all(text)).to.deep.equal(JSON.parse(text));
        else expect(() => all(text)).to.throw(/^the body is not /);
      }),
      { numRuns: repetitions(2000) },
    );
  });

  it('refuses an item longer than its bound', () => {
    expect(all('["0123"]', 6)).to.deep.equal(['0123']);
    expect(() => all('["01234"]', 6)).to.throw('body is too large');
  });

  it('refuses too deep nesting at its start, without reading to its end', () => {
    expect(() => all(`[${'['.repeat(1_000_000)}`)).to.throw('nested deeper than 64 levels');
    expect(() => parseJson(Buffer.from('['.repeat(1_000_000)))).to.throw('nested deeper than 64 levels');
  });

  it('refuses too many values before objects are created', () => {
    const members = (count: number) => `{${Array.from({ length: count }, (_, at) => `"a${at}":1`).join()}}`;
    expect(all(`[${members(1024)},${members(1024)}]`)).to.have.lengthOf(2);
    expect(() => all(`[${members(1025)}]`)).to.throw('a message has more than 1024 values');
    const list = (count: number) => Buffer.from(`[${'1,'.repeat(count - 1)}1]`);
    expect(parseJson(list(MAX_BODY_VALUES))).to.have.lengthOf(10_000);
    expect(() => parseJson(list(MAX_BODY_VALUES + 1))).to.throw('the body has more than 10000 values');
  });

  it('yields within one long string, and stops reading it at its bound', () => {
    const body = Buffer.from(`[{"body":"${'\\"'.repeat(2_000_000)}"}]`);
    const steps = [...itemsOf(body, bounds(ANY_SIZE))];
    expect(steps.at(-1)?.item).to.deep.equal({ body: '' });
    expect(steps.at(-1)?.body).to.have.lengthOf(2_000_000);
    expect(steps.length - 1).to.be.at.least(Math.floor(body.length / (256 * 1024)));
    let before = 0;
    expect(() => {
      for (const _ of itemsOf(body, bounds(1_000_000))) before += 1;
    }).to.throw('body is too large');
    expect(before).to.be.at.most(10);
  });

  it('yields while it reads tens of megabytes', () => {
    const body = Buffer.from(
      JSON.stringify(Array.from({ length: 2000 }, () => ({ a: '\\"'.repeat(2500), b: [1, 2] }))),
    );
    let steps = 0;
    let bytes = 0;
    for (const step of itemsOf(body, bounds(ANY_SIZE))) {
      if (step === undefined) steps += 1;
      else bytes += JSON.stringify(step.item).length;
    }
    expect(bytes).to.be.above(20_000_000);
    expect(steps).to.be.at.least(Math.floor(body.length / (256 * 1024)));
  });
});
