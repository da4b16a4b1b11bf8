/** Questions that wait until a position has been folded. */
import { expect } from 'chai';
import { WaitingQuestions } from '../../../src/projections/waiting-questions.js';
import { timersOf } from '../../support/timers-of.js';

const WAIT_MS = 50;
const MAX_WAITING = 1000;

function stand() {
  const elapse: (() => void)[] = [];
  let cancelled = 0;
  const timers = timersOf({
    after: (delayMs, action) => {
      expect(delayMs).to.equal(WAIT_MS);
      elapse.push(action);
      return {
        cancel: () => {
          cancelled += 1;
        },
      };
    },
    soon: (action) => void setImmediate(action),
  });
  return { waiting: new WaitingQuestions(timers, WAIT_MS, 'the model'), elapse, cancelled: () => cancelled };
}

describe('waiting queries', () => {
  it('continue immediately if their condition holds', async () => {
    const { waiting, elapse } = stand();
    await waiting.until(() => true);
    expect(elapse).to.deep.equal([]);
  });

  it('check again at every wake, and leave no timer running', async () => {
    const { waiting, cancelled } = stand();
    let position = 0;
    const settled: string[] = [];
    const first = waiting.until(() => position >= 1).then(() => settled.push('first'));
    const second = waiting.until(() => position >= 2).then(() => settled.push('second'));
    waiting.wake();
    position = 1;
    waiting.wake();
    await first;
    expect(settled).to.deep.equal(['first']);
    expect(cancelled()).to.equal(1);
    position = 2;
    waiting.wake();
    await second;
    expect(cancelled()).to.equal(2);
  });

  it('end at their time limit, in any case', async () => {
    const { waiting, elapse } = stand();
    const late = waiting.until(() => false);
    for (const end of elapse) end();
    await late;
  });

  it('are bounded in number', async () => {
    const { waiting, elapse } = stand();
    const all = Array.from({ length: MAX_WAITING }, () => waiting.until(() => false));
    const error = await waiting.until(() => false).catch((thrown: unknown) => thrown);
    expect(error).to.include({ code: 'MAILBOX_FULL', message: 'too many queries wait for the model' });
    for (const end of elapse) end();
    await Promise.all(all);
    const again = waiting.until(() => false);
    elapse.at(-1)?.();
    await again;
  });
});
