import { once } from 'node:events';
import type { Worker } from 'node:worker_threads';
import { expect } from 'chai';
import { beginEarly, beginThread } from '../../../../src/adapters/node/index.js';

const KIND = { name: 'a test', limits: {} };

/** A thread that reports its number among those of its entry, and its task. */
function entryOf(text: string): URL {
  return new URL(
    `data:text/javascript,import { parentPort, threadId, workerData } from 'node:worker_threads'; ${text}`,
  );
}

async function answerOf(worker: Worker): Promise<{ threadId: number; task: unknown }> {
  const [answer] = (await once(worker, 'message')) as [{ threadId: number; task: unknown }];
  await worker.terminate();
  return answer;
}

describe('a worker thread', () => {
  const answering = "workerData.once('message', (task) => parentPort.postMessage({ threadId, task }));";

  it('that was started early receives its task when it is needed, and serves once', async () => {
    const entry = entryOf(answering);
    beginEarly(entry, KIND);
    const early = beginThread(entry, KIND, { of: 'the first' });
    const later = beginThread(entry, KIND, { of: 'the second' });
    expect(later).not.to.equal(early);
    const [first, second] = await Promise.all([answerOf(early), answerOf(later)]);
    expect([first.task, second.task]).to.deep.equal([{ of: 'the first' }, { of: 'the second' }]);
    expect(second.threadId).to.be.above(first.threadId);
  });

  it('that died before it was needed is started again', async () => {
    const entry = entryOf(`if (process.env.DIES_EARLY) throw new Error('dead'); ${answering}`);
    process.env.DIES_EARLY = 'yes';
    const early = beginEarly(entry, KIND);
    await new Promise((resolve) => early.once('exit', resolve));
    delete process.env.DIES_EARLY;
    expect((await answerOf(beginThread(entry, KIND, 'work'))).task).to.equal('work');
  });
});
