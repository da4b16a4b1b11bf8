/** The pages of packed entries: lookup, change and reuse. Proves PGE1–PGE3. */
import { expect } from 'chai';
import fc from 'fast-check';
import { hashKey } from '../../../../src/domain/collections/index.js';
import { fitsPages, PackedEntries } from '../../../../src/domain/kv/packed-entries.js';
import { type PageIndex, PagePool } from '../../../../src/domain/kv/page-pool.js';
import { Segment } from '../../../../src/domain/kv/segment.js';
import { SetInPlace } from '../../../../src/domain/kv/set-in-place.js';
import { repetitions } from '../../../support/depth.js';

type Held = string | { readonly is: number };

/** Counts the pages in use. */
class CountedPool extends PagePool {
  out = 0;
  indexesOut = 0;

  override take(): Buffer {
    this.out += 1;
    return super.take();
  }

  override giveBack(pages: readonly Buffer[]): void {
    this.out -= pages.length;
    super.giveBack(pages);
  }

  override takeIndex(): PageIndex {
    this.indexesOut += 1;
    return super.takeIndex();
  }

  override giveBackIndex(index: PageIndex): void {
    this.indexesOut -= 1;
    super.giveBackIndex(index);
  }
}

const BYTES = '\x00\x7f\x80\xffabcdefghijklmnopqrstuvwxyz'.repeat(50);
/** Lengths on both sides of every limit. */
const LENGTHS = [0, 1, 15, 16, 17, 64, 300, 1023, 1024, 1025];
const value = fc.oneof(
  fc.tuple(fc.constantFrom(...LENGTHS), fc.nat(40)).map(([length, from]): Held => BYTES.slice(from, from + length)),
  fc.nat().map((is): Held => ({ is })),
);
const name = fc.tuple(fc.nat(300), fc.constantFrom(1, 5, 17, 255)).map(([n, length]) => `${n}`.padEnd(length, '\xe9'));

function outlineOf(held: Held | undefined): Held | number | undefined {
  return typeof held === 'string' && held.length <= 1024 ? held.length : held;
}

/** Sets a value in place, from a buffer with other bytes around it. */
function inPlace(key: string, held: string): SetInPlace {
  const set = new SetInPlace();
  set.bytes = Buffer.from(`<${key}|${held}>`, 'latin1');
  set.keyAt = 1;
  set.keyLength = key.length;
  set.valueAt = key.length + 2;
  set.valueLength = held.length;
  return set;
}

describe('packed entries', () => {
  it('behave as a Map does, and iterate in its order', () => {
    const operation = fc.tuple(fc.constantFrom('set', 'set in place', 'delete', 'get'), name, value);
    fc.assert(
      fc.property(fc.array(operation, { maxLength: 2500, size: 'max' }), (operations) => {
        const entries = new PackedEntries<Held>(new PagePool());
        const model = new Map<string, Held>();
        for (const [kind, key, held] of operations) {
          const hash = hashKey(key);
          if (kind === 'set' && entries.takes(key)) {
            expect(entries.exchange(key, held, hash)).to.equal(outlineOf(model.get(key)));
            model.set(key, held);
          } else if (kind === 'set in place' && typeof held === 'string' && entries.hasRoom) {
            const set = inPlace(key, held);
            if (!fitsPages(set)) continue;
            expect(entries.exchangeInPlace(set, hash)).to.equal(outlineOf(model.get(key)));
            model.set(key, held);
          } else if (kind === 'delete') {
            expect(entries.delete(key, hash)).to.equal(model.delete(key));
          } else {
            expect(entries.get(key, hash)).to.equal(model.get(key));
            expect(entries.has(key, hash)).to.equal(model.has(key));
            expect(entries.outline(key, hash)).to.equal(outlineOf(model.get(key)));
          }
          expect(entries.size).to.equal(model.size);
        }
        expect(entries.entries()).to.deep.equal([...model]);
        expect(entries.names()).to.deep.equal([...model.keys()]);
        expect(entries.names().map((_, index) => entries.nameAt(index))).to.deep.equal([...model.keys()]);
        expect([...entries.hashes()]).to.deep.equal([...model.keys()].map(hashKey));
      }),
      { numRuns: repetitions(40) },
    );
  });

  it('take no more pages after many overwrites, length changes, deletions and insertions', () => {
    const pool = new CountedPool();
    const entries = new PackedEntries<Held>(pool);
    for (let i = 0; i < 500; i += 1) entries.exchange(`key:${i}`, 'x'.repeat(60), hashKey(`key:${i}`));
    const before = pool.out;
    for (let i = 0; i < 20_000; i += 1) {
      const key = `key:${i % 500}`;
      if (i % 7 === 0) entries.delete(key, hashKey(key));
      entries.exchange(key, 'y'.repeat(i % 61), hashKey(key));
    }
    expect(pool.out).to.be.at.most(2 * before);
    expect(pool.indexesOut).to.equal(1);
    for (let i = 0; i < 500; i += 1) entries.delete(`key:${i}`, hashKey(`key:${i}`));
    expect(pool.out).to.equal(0);
  });

  it('are split by a bit of their hashes, and free their pages and their index', () => {
    const pool = new CountedPool();
    const [full, low, high] = [0, 1, 2].map(() => new PackedEntries<Held>(pool)) as [
      PackedEntries<Held>,
      PackedEntries<Held>,
      PackedEntries<Held>,
    ];
    for (let i = 0; i < 513; i += 1) full.exchange(`key:${i}`, i % 3 === 0 ? { is: i } : `${i}`, hashKey(`key:${i}`));
    const all = full.entries();
    full.splitInto(low, high, 1 << 20);
    expect(full.size).to.equal(0);
    expect(full.has('key:1', hashKey('key:1'))).to.equal(false);
    expect(pool.indexesOut).to.equal(2);
    const next = new PackedEntries<Held>(pool);
    expect(next.get('key:1', hashKey('key:1'))).to.equal(undefined);
    expect(low.entries()).to.deep.equal(all.filter(([key]) => (hashKey(key) & (1 << 20)) === 0));
    expect(high.entries()).to.deep.equal(all.filter(([key]) => (hashKey(key) & (1 << 20)) !== 0));
    for (const [key, held] of low.entries()) expect(low.get(key, hashKey(key))).to.equal(held);
  });

  it('become a Map with a name that pages cannot hold, or with one entry too many', () => {
    const long = 'n'.repeat(256);
    const withLong = new Segment<Held>(1, 0, new PagePool());
    withLong.exchange('short', 'v', hashKey('short'));
    expect(withLong.exchange(long, 'w', hashKey(long))).to.equal(undefined);
    expect([...withLong.entries()]).to.deep.equal([
      ['short', 'v'],
      [long, 'w'],
    ]);
    const withMany = new Segment<Held>(1, 0, new PagePool());
    for (let i = 0; i < 700; i += 1) withMany.exchange(`${i}`, 'v', hashKey(`${i}`));
    expect(withMany.map?.size).to.equal(700);
    expect([...withMany.keys()].length).to.equal(700);
  });

  it('are found among many in one cell', () => {
    const entries = new PackedEntries<Held>(new PagePool());
    // Names with the same hash are distinguished by their bytes.
    for (let i = 0; i < 600; i += 1) entries.exchange(`${i}`, `${i}`, 7);
    for (let i = 0; i < 600; i += 2) expect(entries.delete(`${i}`, 7)).to.equal(true);
    for (let i = 0; i < 600; i += 1) expect(entries.get(`${i}`, 7)).to.equal(i % 2 === 0 ? undefined : `${i}`);
  });
});
