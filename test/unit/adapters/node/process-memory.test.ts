import { expect } from 'chai';
import { processMemory } from '../../../../src/adapters/node/index.js';

const MIB = 1024 * 1024;

describe('the memory of a process', () => {
  it('is three quarters of the heap limit unless it is set, with parts for data and for the queue', () => {
    expect(processMemory(undefined, 1000 * MIB).dataBytes).to.equal(Math.floor(750 * MIB * 0.55));
    expect(processMemory(undefined, 1000 * MIB).queueBytes).to.equal(Math.floor(750 * MIB * 0.25));
    expect(processMemory(100 * MIB, 1000 * MIB).dataBytes).to.equal(55 * MIB);
  });
});
