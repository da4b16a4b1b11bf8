/** Proves RN1. */
import { expect } from 'chai';
import { NodeRandom } from '../../../src/adapters/node/index.js';

describe('randomness', () => {
  it('gives as many bytes as requested, and none of them twice', () => {
    const random = new NodeRandom();
    const seen = new Set<string>();
    for (let round = 0; round < 1000; round += 1) {
      for (const count of [8, 18, 28, 32]) {
        const bytes = random.bytes(count);
        expect(bytes.length).to.equal(count);
        // Two equal groups of eight bytes would make the set smaller.
        seen.add(Buffer.from(bytes.subarray(0, 8)).toString('hex'));
      }
    }
    expect(seen.size).to.equal(4000);
  });

  it('gives bytes that do not change later', () => {
    const random = new NodeRandom();
    const first = random.bytes(28);
    const copy = Uint8Array.from(first);
    random.bytes(28);
    random.float();
    expect(first).to.deep.equal(copy);
    first.fill(0);
    expect(random.bytes(28).some((byte) => byte !== 0)).to.equal(true);
  });

  it('gives numbers from 0 to below 1', () => {
    const random = new NodeRandom();
    for (let round = 0; round < 1000; round += 1) expect(random.float()).to.be.within(0, 1 - Number.EPSILON / 2);
  });
});
