import { expect } from 'chai';
import { Lifetime } from '../../../src/adapters/node/lifetime.js';

describe('the lifetime of a process', () => {
  it('ends what was started last first, each after the other has ended', async () => {
    const life = new Lifetime();
    const told: string[] = [];
    const part = (name: string) => ({
      start: async () => void told.push(`${name} starts`),
      stop: async () => {
        await Promise.resolve();
        told.push(`${name} stops`);
      },
    });
    await life.run(part('journal'));
    await life.run(part('face'));
    life.atEnd(() => told.push(`ends: ${life.isEnding}`));
    expect(life.isEnding).to.equal(false);
    await life.end();
    expect(told).to.deep.equal(['journal starts', 'face starts', 'ends: true', 'face stops', 'journal stops']);
  });

  it('does not stop what could not be started, and stops nothing twice', async () => {
    const life = new Lifetime();
    let stops = 0;
    const stop = () => {
      stops += 1;
    };
    const started = await life.run({ start: () => Promise.reject(new Error('no')), stop }).catch(() => 'refused');
    expect(started).to.equal('refused');
    await life.run({ start: () => undefined, stop });
    await life.end();
    await life.end();
    expect(stops).to.equal(1);
  });
});
