import { expect } from 'chai';
import { findCommand, KvEngine } from '../../../../src/domain/kv/index.js';
import { bytesHeldBy } from '../../../support/held-memory.js';

const BYTES = 8 * 1024 * 1024;
const random = { bytes: (count: number) => new Uint8Array(count), float: () => 0.5 };

/** Runs a command with one very long word, which it does not store. */
function ask(engine: KvEngine, name: string, inSlices = false): void {
  const words = [name, Buffer.alloc(BYTES, name).toString('latin1')];
  const spec = findCommand(words);
  if (spec === undefined) throw new Error(name);
  if (inSlices) engine.begin(spec, words).next(0);
  else engine.execute(spec, words, 0);
}

describe('an engine between two commands', () => {
  const engine = () => new KvEngine(random, { nowMicros: () => 0, info: () => new Map() });

  it('holds no words of the command that it has executed', () => {
    const idle = engine();
    expect(bytesHeldBy(() => ask(idle, 'EXISTS'))).to.be.below(BYTES / 8);
  });

  it('holds no words of a command that it has refused', () => {
    const idle = engine();
    expect(bytesHeldBy(() => ask(idle, 'GETRANGE'))).to.be.below(BYTES / 8);
  });

  it('holds no words of a command that has ended in slices', () => {
    const idle = engine();
    expect(bytesHeldBy(() => ask(idle, 'DEL', true))).to.be.below(BYTES / 8);
  });
});
