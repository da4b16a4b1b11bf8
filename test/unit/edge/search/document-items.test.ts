import { expect } from 'chai';
import fc from 'fast-check';
import { RefusedRequest } from '../../../../src/edge/http/refused.js';
import { documentItems } from '../../../../src/edge/search/commands/write-documents.js';
import { LONG_UPSERT_BYTES, MAX_DOCUMENT_BYTES } from '../../../../src/edge/search/endpoint-limits.js';
import { repetitions } from '../../../support/depth.js';

const PAD = ' '.repeat(LONG_UPSERT_BYTES);

function read(text: string): { items: unknown[]; pauses: number } {
  const items: unknown[] = [];
  let pauses = 0;
  for (const step of documentItems(Buffer.from(text))) {
    if (step === undefined) pauses += 1;
    else items.push(step.item);
  }
  return { items, pauses };
}

function readOrRefused(text: string): unknown {
  try {
    return read(text).items;
  } catch (refused) {
    expect(refused).to.be.instanceOf(RefusedRequest);
    return 'refused';
  }
}

describe('edge/search: the documents of a body', () => {
  it('are read from a long array as by JSON.parse, one by one', () => {
    fc.assert(
      fc.property(fc.array(fc.json(), { maxLength: 8 }), fc.boolean(), (texts, isPaddedWithin) => {
        const inner = texts.join(isPaddedWithin ? ' ,\n' : ',');
        // Blanks before the array count towards the first item, which has a bound; blanks at the end count towards no item.
        const body = `[${inner}]${PAD}`;
        expect(readOrRefused(body)).to.deep.equal(JSON.parse(body).map((item: unknown) => item));
      }),
      { numRuns: repetitions(200) },
    );
  });

  it('are refused in long bodies where JSON.parse refuses', () => {
    const pieces = ['[', ']', '{', '}', ',', ':', '"', '"a"', '1', 'null', '\\', ' ', '{"a":[1]}', '"],["'];
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...pieces), { maxLength: 12 }), (parts) => {
        const body = `[${parts.join('')}${PAD}`;
        let expected: unknown = 'refused';
        try {
          expected = JSON.parse(body);
        } catch {}
        expect(readOrRefused(body)).to.deep.equal(expected);
      }),
      // Each reads a quarter of a megabyte.
      { numRuns: repetitions(300) },
    );
  });

  it('are read from short bodies, with one document or many', () => {
    expect(read('{"a":1}').items).to.deep.equal([{ a: 1 }]);
    expect(read('[{"a":1},2]').items).to.deep.equal([{ a: 1 }, 2]);
    expect(read(' [ ] ').items).to.deep.equal([]);
  });

  it('are read from megabytes without blocking the loop', () => {
    const body = JSON.stringify(Array.from({ length: 100 }, (_, at) => ({ id: at, text: 'x'.repeat(20_000) })));
    const { items, pauses } = read(body);
    expect(items).to.have.length(100);
    expect(pauses).to.be.greaterThan(10);
  });

  it('are bounded in size, also a single one', () => {
    const text = 'x'.repeat(MAX_DOCUMENT_BYTES);
    expect(readOrRefused(JSON.stringify([{ text }]))).to.equal('refused');
    expect(readOrRefused(JSON.stringify({ text }))).to.equal('refused');
    expect(readOrRefused(JSON.stringify({ text: text.slice(100) }))).to.have.length(1);
  });

  it('are refused in extreme nesting', () => {
    expect(readOrRefused('['.repeat(2_000_000))).to.equal('refused');
  });
});
