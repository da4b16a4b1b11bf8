import { expect } from 'chai';
import fc from 'fast-check';
import { RecordIndex } from '../../../../src/domain/collections/index.js';

/** Few hashes, so that many keys have the same, and few tables. */
const hashOf = (key: number) => (((key % 7) << 29) | (key % 2)) >>> 0;

describe('index of records', () => {
  it('finds the slots of its keys, and no others', () => {
    const steps = fc.array(fc.record({ key: fc.nat(60), isAdded: fc.boolean() }), { maxLength: 300 });
    fc.assert(
      fc.property(steps, (all) => {
        const slots = new Map<number, number>();
        const keys: number[] = [];
        let sought = 0;
        const index = new RecordIndex((slot) => keys[slot] === sought);
        for (const { key, isAdded } of all) {
          const slot = slots.get(key);
          if (isAdded && slot === undefined) {
            slots.set(key, keys.push(key) - 1);
            index.add(hashOf(key), keys.length - 1);
          } else if (!isAdded && slot !== undefined) {
            slots.delete(key);
            index.delete(hashOf(key), slot);
          }
        }
        for (let key = 0; key <= 60; key += 1) {
          sought = key;
          expect(index.find(hashOf(key))).to.equal(slots.get(key) ?? -1);
          const isThere = [...slots.keys()].some((other) => hashOf(other) === hashOf(key));
          expect(index.has(hashOf(key))).to.equal(isThere);
        }
      }),
    );
  });
});
