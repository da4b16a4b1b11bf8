import { expect } from 'chai';
import { DoubleReply, MapReply, OK, PairsReply, type Reply } from '../../../src/domain/kv/index.js';
import { bytesInSteps, bytesOfReplies } from '../../../src/edge/resp/answer-bytes.js';

const MANY = 25_000;

function inSteps(replies: readonly Reply[]): { bytes: number; pauses: number } {
  const steps = bytesInSteps(replies);
  for (let pauses = 0; ; pauses += 1) {
    const step = steps.next();
    if (step.done === true) return { bytes: step.value, pauses };
  }
}

describe('the byte count of answers', () => {
  it('is the length of strings, and eight for each other element', () => {
    const replies = ['abc', OK, 7, null, ['de', 1, null, ['f']], new MapReply(['k', new DoubleReply(1.5)])];
    expect(bytesOfReplies(replies)).to.equal(3 + 2 + 8 + 8 + (8 + 1) + 1 + 8);
    expect(inSteps(replies)).to.deep.equal({ bytes: bytesOfReplies(replies), pauses: 0 });
  });

  it('of long lists is computed in steps, at any depth', () => {
    const items = Array.from({ length: MANY }, (_, i) => `item ${i}`);
    const bytes = items.join('').length;
    const scored = items.flatMap((item) => [item, new DoubleReply(1)]);
    for (const [reply, expected] of [
      [items, bytes],
      [['0', items], 1 + 8 + bytes],
      [new PairsReply(scored), bytes + 8 * MANY],
      [[['a', items], items], 8 + 1 + 8 + bytes + 8 + bytes],
    ] as const) {
      expect(bytesOfReplies([reply])).to.be.NaN;
      const counted = inSteps(['before', reply]);
      expect(counted.bytes).to.equal('before'.length + expected);
      expect(counted.pauses).to.be.greaterThan(1);
    }
  });
});
