import { expect } from 'chai';
import { NodeTimers } from '../../../../src/adapters/node/index.js';

describe('tasks that are to run soon', () => {
  /** Runs actions of this many milliseconds each. Returns the round of the event loop in which each of them ran. */
  async function roundsOf(count: number, ms: number): Promise<number[]> {
    let nowMs = 0;
    let round = 0;
    const timers = new NodeTimers(() => nowMs);
    const rounds: [number, number][] = [];
    const countRounds = () => {
      round += 1;
      if (rounds.length < count) setImmediate(countRounds);
    };
    setImmediate(countRounds);
    await new Promise<void>((resolve) => {
      for (let i = 0; i < count; i += 1) {
        timers.soon(() => {
          nowMs += ms;
          rounds.push([i, round]);
          if (rounds.length === count) resolve();
        });
      }
    });
    expect(rounds.map(([i]) => i)).to.deep.equal(Array.from({ length: count }, (_, i) => i));
    return rounds.map(([, at]) => at);
  }

  it('run in one round of the event loop where they are short', async () => {
    expect(new Set(await roundsOf(50, 0.05))).to.have.property('size', 1);
  });

  it('run in several rounds where they are long, in order', async () => {
    expect(await roundsOf(6, 2.5)).to.deep.equal([1, 1, 2, 2, 3, 3]);
  });

  it('run in turn where each schedules itself again', async () => {
    let nowMs = 0;
    const timers = new NodeTimers(() => nowMs);
    const turns = [0, 0, 0, 0, 0];
    await new Promise<void>((resolve) => {
      const run = (i: number) => {
        nowMs += 3;
        turns[i] = (turns[i] ?? 0) + 1;
        if (turns.reduce((sum, count) => sum + count) >= 100) resolve();
        else timers.soon(() => run(i));
      };
      for (let i = 0; i < turns.length; i += 1) timers.soon(() => run(i));
    });
    expect(turns).to.deep.equal([20, 20, 20, 20, 20]);
  });
});
