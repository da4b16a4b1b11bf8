import { expect } from 'chai';
import { NodeTimers, onTheBeat } from '../../../../src/adapters/node/index.js';
import type { Timer } from '../../../../src/ports/index.js';
import { eventually } from '../../../support/eventually.js';

describe('what is not in a hurry', () => {
  it('runs at one moment with all that is due about then, and half of its delay early or late at most', async () => {
    const timers = new NodeTimers();
    const startedMs = performance.now();
    const ranAtMs: number[] = [];
    const run = () => ranAtMs.push(performance.now() - startedMs);
    for (const delayMs of [500, 510, 520]) timers.roughlyAfter(delayMs, run);
    await eventually(() => expect(ranAtMs).to.have.length(3));
    const [first = 0, , last = 0] = ranAtMs;
    expect(first).to.be.at.least(245);
    // 10 ms apart they lie at one beat, or where a beat changes at two.
    expect(last - first).to.satisfy((ms: number) => ms < 5 || ms > 450);
  });

  it('wakes up the thread once for all that comes about once a second or less often, whenever it began', async () => {
    const timers = new NodeTimers();
    const ranAtMs: number[] = [];
    const repeated: Timer[] = [];
    for (const everyMs of [900, 1000, 2000]) {
      repeated.push(timers.every(everyMs, () => ranAtMs.push(performance.now())));
      await new Promise((resolve) => setTimeout(resolve, 130));
    }
    await eventually(() => expect(ranAtMs.length).to.be.at.least(7));
    for (const timer of repeated) timer.cancel();
    const parts = ranAtMs.map((atMs) => (atMs + 100) % 1000);
    expect(Math.max(...parts) - Math.min(...parts)).to.be.below(400);
  });

  it('comes after a short delay as any other', async () => {
    const startedMs = performance.now();
    await new Promise<void>((resolve) => void onTheBeat(40, resolve));
    expect(performance.now() - startedMs).to.be.within(38, 200);
  });

  it('leaves others at the same beat when it is cancelled', async () => {
    const ran: string[] = [];
    const cancelled = onTheBeat(300, () => ran.push('cancelled'));
    onTheBeat(300, () => ran.push('kept'));
    cancelled.cancel();
    await eventually(() => expect(ran).to.deep.equal(['kept']));
  });
});
