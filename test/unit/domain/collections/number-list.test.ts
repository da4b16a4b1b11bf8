/** Lists of numbers outside of the heap. */
import { expect } from 'chai';
import { NumberList } from '../../../../src/domain/collections/index.js';

/** More than two chunks. */
const MANY = 150_000;

describe('a list of numbers', () => {
  it('returns pushed numbers, the last first', () => {
    const list = new NumberList();
    for (let slot = 0; slot < MANY; slot += 1) list.push(2 ** 32 - 1 - slot);
    expect(list.length).to.equal(MANY);
    for (let slot = MANY - 1; slot >= 0; slot -= 1) if (list.pop() !== 2 ** 32 - 1 - slot) expect.fail(`${slot}`);
    expect(list.length).to.equal(0);
  });

  it('keeps every element while it grows, shrinks across chunk borders, and grows again', () => {
    const list = new NumberList();
    const told: number[] = [];
    for (const size of [3, 17, 65_536, 65_535, 65_537, 1, MANY, 131_072, 0, 40]) {
      while (told.length < size) {
        list.push(told.length + size);
        told.push(told.length + size);
      }
      while (told.length > size) expect(list.pop() === told.pop()).to.equal(true);
      if (size === 0) continue;
      list.set(size >> 1, size);
      told[size >> 1] = size;
      expect(list.length).to.equal(size);
      expect(told.every((slot, index) => list.at(index) === slot)).to.equal(true);
    }
  });
});
