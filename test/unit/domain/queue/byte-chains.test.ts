import { expect } from 'chai';
import fc from 'fast-check';
import { ByteChains } from '../../../../src/domain/queue/collections/byte-chains.js';

describe('chains of bytes', () => {
  it('keep each piece unchanged until it is removed', () => {
    const piece = fc.uint8Array({ maxLength: 400, size: 'max' });
    const steps = fc.array(fc.oneof(piece, fc.nat(1000)), { maxLength: 100 });
    fc.assert(
      fc.property(steps, (all) => {
        const chains = new ByteChains();
        const kept = new Map<number, Uint8Array>();
        for (const step of all) {
          const names = [...kept.keys()];
          if (step instanceof Uint8Array) {
            const name = chains.add(step);
            expect(kept.has(name)).to.equal(false);
            kept.set(name, step);
          } else if (names.length > 0) {
            const name = names[step % names.length] as number;
            chains.remove(name);
            kept.delete(name);
          }
        }
        expect(chains.size).to.equal(kept.size);
        expect([...chains.pieces()]).to.have.members([...kept.keys()]);
        for (const [name, bytes] of kept) expect(Buffer.compare(chains.read(name), bytes)).to.equal(0);
      }),
    );
  });

  it('have any length', () => {
    const chains = new ByteChains();
    const lengths = [0, 1, 55, 56, 57, 115, 116, 117, 5000, 200_000];
    const names = lengths.map((length) => chains.add(new Uint8Array(length).fill(length % 251)));
    names.forEach((name, at) => {
      const length = lengths[at] as number;
      expect(Buffer.compare(chains.read(name), new Uint8Array(length).fill(length % 251))).to.equal(0);
    });
  });
});
