/** Proves LIF1. */
import { expect } from 'chai';
import { Lifetime } from '../../../src/adapters/node/lifetime.js';

describe('the lifetime of a process', () => {
  it('stops the parts in reverse order of their start, one after the other', async () => {
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

  it('announces its end, and keeps serving for at most a third of its time while others notice', async () => {
    const told: unknown[] = [];
    const timers = { pause: async (ms: number) => void told.push(ms) };
    for (const drainNoticeMs of [3000, 5000, 0]) {
      const life = new Lifetime();
      life.closeAtEnd({ leave: () => told.push('leaves'), close: () => told.push('ends') });
      expect(life.checks()).to.deep.equal({});
      await life.endAfter({ drainNoticeMs, shutdownMs: 10_000 }, timers);
      expect(life.checks()).to.deep.equal({ stop: { ok: false, detail: 'the process is about to end' } });
    }
    expect(told).to.deep.equal(['leaves', 3000, 'ends', 'leaves', 3333, 'ends', 'ends']);
  });

  it('closes the endpoints together within a bound, before the parts that they depend on', async () => {
    const life = new Lifetime();
    const told: string[] = [];
    const faces = ['kv', 'queue'].map((name) => ({
      close: async (deadline?: AbortSignal) => {
        told.push(`${name} begins, ${deadline?.aborted}`);
        await Promise.resolve();
        told.push(`${name} ends`);
      },
    }));
    life.atEnd(() => told.push('the journal ends'));
    for (const face of faces) life.closeAtEnd(face, 1000);
    await life.end();
    const begun = ['kv begins, false', 'queue begins, false'];
    expect(told).to.deep.equal([...begun, 'kv ends', 'queue ends', 'the journal ends']);
  });

  it('does not stop a part that failed to start, and stops no part twice', async () => {
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
