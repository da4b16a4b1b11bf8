import { expect } from 'chai';
import fc from 'fast-check';
import { RecordPages } from '../../../../src/domain/queue/collections/record-pages.js';
import { repetitions } from '../../../support/depth.js';

const RECORD_BYTES = 24;

describe('pages of records', () => {
  it('keep the record of a slot until it is freed', () => {
    const steps = fc.array(fc.integer({ min: -30, max: 900 }), { maxLength: 60 });
    fc.assert(
      fc.property(steps, (all) => {
        const pages = new RecordPages(RECORD_BYTES);
        const written = new Map<number, number>();
        let next = 1;
        for (const step of all) {
          for (let n = 0; n < step; n += 1) {
            const slot = pages.take();
            expect(written.has(slot)).to.equal(false);
            pages.pageOf(slot).doubles[pages.doubleOf(slot) + 2] = next;
            pages.pageOf(slot).words[pages.wordOf(slot)] = next;
            written.set(slot, next);
            next += 1;
          }
          for (const slot of [...written.keys()].filter((_, n) => step < 0 && n % -step === 0)) {
            written.delete(slot);
            pages.release(slot);
          }
        }
        expect(pages.size).to.equal(written.size);
        for (const [slot, value] of written) {
          expect(pages.pageOf(slot).doubles[pages.doubleOf(slot) + 2]).to.equal(value);
          expect(pages.pageOf(slot).words[pages.wordOf(slot)]).to.equal(value);
        }
        expect([...pages.slots()]).to.include.members([...written.keys()]);
      }),
      { numRuns: repetitions(30) },
    );
  });

  it('reuse freed slots, and take no memory for an empty page', () => {
    const pages = new RecordPages(RECORD_BYTES);
    const slots = Array.from({ length: 5000 }, () => pages.take());
    for (const slot of slots) pages.release(slot);
    for (const slot of slots) expect(pages.pageOf(slot).words.byteLength).to.equal(0);
    const again = Array.from({ length: 5000 }, () => pages.take());
    expect(Math.max(...again)).to.be.below(6 * 1024);
  });

  it('are small while they have few records', () => {
    const pages = new RecordPages(RECORD_BYTES);
    expect(pages.pageOf(pages.take()).words.byteLength).to.equal(16 * RECORD_BYTES);
  });
});
