import { expect } from 'chai';
import { CommandMemory } from '../../../src/actors/runtime/index.js';
import type { CommandId } from '../../../src/kernel/index.js';

const id = (text: string) => text as CommandId;

describe('command memory', () => {
  it('knows the commands that were stored, and no others', () => {
    const memory = new CommandMemory(1000);
    memory.add([id('a')], 5);
    expect([memory.has(id('a')), memory.has(id('b'))]).to.deep.equal([true, false]);
  });

  it('keeps its ids when a clock jumps forward', () => {
    const memory = new CommandMemory(1000);
    memory.add([id('a')], 5);
    memory.add([id('b')], 3_600_000);
    expect(memory.has(id('a'))).to.equal(true);
  });

  it('forgets old ids once it holds many', () => {
    const memory = new CommandMemory(1000);
    memory.add([id('old')], 5);
    memory.add(
      Array.from({ length: 100_000 }, (_, i) => id(`${i}`)),
      10_000,
    );
    expect(memory.has(id('old'))).to.equal(false);
    expect(memory.has(id('0'))).to.equal(true);
  });

  it('takes over the ids of a snapshot', () => {
    const memory = new CommandMemory(1000);
    memory.restore([[id('a'), 5]]);
    expect(memory.has(id('a'))).to.equal(true);
  });
});
