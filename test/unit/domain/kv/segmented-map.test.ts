/** Proves SEM1–SEM3, for maps with Map segments and with packed segments. */
import { expect } from 'chai';
import fc from 'fast-check';
import { hashBytes, hashKey } from '../../../../src/domain/collections/index.js';
import { PagePool } from '../../../../src/domain/kv/page-pool.js';
import { SegmentedMap } from '../../../../src/domain/kv/segmented-map.js';
import { repetitions } from '../../../support/depth.js';

/** Keys with equal edges, so that all of them have one hash. */
function collidingKeys(count: number): string[] {
  const edge = 'e'.repeat(512);
  return Array.from({ length: count }, (_, index) => edge + String(index).padStart(8, '0') + edge);
}

function scanAll(map: SegmentedMap<number>, count: number): string[] {
  const keys: string[] = [];
  let cursor = 0;
  do {
    const step = map.scan(cursor, count);
    for (const [key] of step.entries) keys.push(key);
    cursor = step.cursor;
  } while (cursor !== 0);
  return keys;
}

const KINDS: readonly (readonly [string, () => SegmentedMap<number>])[] = [
  ['the segmented map', () => new SegmentedMap<number>()],
  ['the segmented map in pages', () => new SegmentedMap<number>(new PagePool())],
];

for (const [name, create] of KINDS)
  describe(name, () => {
    it('behaves as a Map does', () => {
      const key = fc.nat(400).map((n) => `k${n}`);
      const operation = fc.tuple(fc.constantFrom('set', 'exchange', 'delete', 'get'), key, fc.nat());
      fc.assert(
        fc.property(fc.array(operation, { maxLength: 3000 }), (operations) => {
          const map = create();
          const model = new Map<string, number>();
          for (const [kind, name, value] of operations) {
            if (kind === 'set') {
              map.set(name, value);
              model.set(name, value);
            } else if (kind === 'exchange') {
              expect(map.exchange(name, value)).to.equal(model.get(name));
              model.set(name, value);
            } else if (kind === 'delete') expect(map.delete(name)).to.equal(model.delete(name));
            else expect(map.get(name)).to.equal(model.get(name));
            expect(map.size).to.equal(model.size);
          }
          expect([...map].sort()).to.deep.equal([...model].sort());
        }),
        { numRuns: repetitions(30) },
      );
    });

    for (const count of [1, 10, 100, 513, 5000, 100_000]) {
      it(`returns every key once in scans of ${count}`, () => {
        const map = create();
        for (let i = 0; i < 6000; i += 1) map.set(`key:${i}`, i);
        const keys = scanAll(map, count);
        expect(keys.length).to.equal(6000);
        expect(new Set(keys).size).to.equal(6000);
      });
    }

    it('returns about as many entries as a scan asks for', () => {
      const map = create();
      for (let i = 0; i < 6000; i += 1) map.set(`key:${i}`, i);
      for (const count of [1, 10, 700, 2000]) {
        expect(map.scan(0, count).entries.length).to.be.within(count, count + 2);
      }
    });

    it('keeps keys with the same hash together in a scan, for any number of them', () => {
      const map = create();
      const keys = collidingKeys(1500);
      for (const [index, key] of keys.entries()) map.set(key, index);
      expect(new Set(keys.map(hashKey)).size).to.equal(1);
      expect(map.size).to.equal(1500);
      expect(scanAll(map, 10).length).to.equal(1500);
    });

    it('keeps a small directory when the leading hash bits of keys collide', () => {
      const map = create();
      const colliding: string[] = [];
      for (let i = 0; colliding.length < 1500; i += 1) if (hashKey(`c${i}`) >>> 22 === 5) colliding.push(`c${i}`);
      for (const key of colliding) map.set(key, 0);
      // Ten bits are parted freely, and a few more; after that the keys stay together.
      expect([...map.segments()].length).to.be.at.most(16);
      for (let i = 0; i < 20_000; i += 1) map.set(`key:${i}`, i);
      expect(map.size).to.equal(21_500);
      expect(new Set(scanAll(map, 100)).size).to.equal(21_500);
      for (const key of colliding) expect(map.has(key)).to.equal(true);
    });

    it('keeps its segments small when keys are inserted in the order of their hashes, as from a snapshot', () => {
      const grown = create();
      for (let i = 0; i < 100_000; i += 1) grown.set(`key:${i}`, i);
      const loaded = create();
      for (const [key, value] of grown) loaded.set(key, value);
      expect(loaded.size).to.equal(grown.size);
      for (const { size } of loaded.segments()) expect(size).to.be.at.most(512);
    });

    it('resets when its last key is deleted, and a running iteration still ends', () => {
      const map = create();
      for (let i = 0; i < 3000; i += 1) map.set(`key:${i}`, i);
      let met = 0;
      for (const segment of map.segments()) {
        for (const key of [...segment.keys()]) map.delete(key);
        met += 1;
      }
      expect([met > 4, map.size, [...map.segments()].length]).to.deep.equal([true, 0, 1]);
      map.set('key', 1);
      expect([...map]).to.deep.equal([['key', 1]]);
    });

    it('chooses random keys with about the same probability', () => {
      const map = create();
      for (let i = 0; i < 2000; i += 1) map.set(`key:${i}`, i);
      let state = 1;
      const float = (): number => {
        state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
        return ((state >>> 8) % 65_536) / 65_536;
      };
      const halves = [0, 0];
      for (let i = 0; i < 4000; i += 1) {
        const half = (map.get(map.randomKey(float) as string) as number) < 1000 ? 0 : 1;
        halves[half] = (halves[half] as number) + 1;
      }
      expect(halves[0]).to.be.within(1700, 2300);
    });

    it('chooses a random key in bounded time for any random numbers, and when nearly all keys are deleted', () => {
      const map = create();
      for (let i = 0; i < 5000; i += 1) map.set(`key:${i}`, i);
      for (const constant of [0, 0.5, 0.999999]) expect(map.randomKey(() => constant)).to.be.a('string');
      for (let i = 0; i < 4999; i += 1) map.delete(`key:${i}`);
      expect(map.randomKey(() => 0.5)).to.equal('key:4999');
      map.clear();
      expect(map.randomKey(() => 0.5)).to.equal(undefined);
    });
  });

describe('the hash of a key', () => {
  it('never changes, because cursors of SCAN are hashes', () => {
    const keys = ['', 'a', 'key:1', '\xff\x00', 'x'.repeat(200)];
    const hashes = [2872998923, 3873127206, 3401982903, 1966051121, 2661070944];
    expect(keys.map(hashKey)).to.deep.equal(hashes);
    const ofBytes = keys.map((key) => hashBytes(Buffer.from(`..${key}..`, 'latin1'), 2, key.length));
    expect(ofBytes).to.deep.equal(hashes);
  });
});
