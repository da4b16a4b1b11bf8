/** The thread of the search indexes, and its crash. Proves AN1, AN2. */
import { expect } from 'chai';
import type { Timers } from '../../../src/ports/index.js';
import { eventually } from '../../support/eventually.js';
import { type SearchThread, searchThread } from '../../support/search-thread.js';
import { silentLog } from '../../support/silent-log.js';
import { timersOf } from '../../support/timers-of.js';

const DYING = new URL('data:text/javascript,process.exit(3)');
const IDLE = new URL(
  'data:text/javascript,import { parentPort } from "node:worker_threads"; parentPort.on("message", ({ kind }) => kind === "stop" && parentPort.close())',
);
const TASK = { nats: { servers: [] }, prefix: '', options: { kvShards: 1 } };

function thread(entry: URL, timers: Timers, answerMs = 5000): SearchThread {
  const made = searchThread({ entry, task: TASK, log: silentLog, timers, restartMs: 1000, answerMs }, () => []);
  made.start();
  return made;
}

describe('the thread of the search indexes', () => {
  it('is started again after growing pauses, up to a minute', async () => {
    const pauses: number[] = [];
    const mostPauses = 8;
    const timers = timersOf({
      after: (delayMs, action) => {
        pauses.push(delayMs);
        if (pauses.length < mostPauses) setImmediate(action);
        return { cancel() {} };
      },
      soon: (action) => void setImmediate(action),
    });
    const dying = thread(DYING, timers);
    dying.tell({ kind: 'indexes', indexes: [] });
    await eventually(() => expect(pauses).to.have.length(mostPauses));
    expect(pauses).to.deep.equal([1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000]);
    await dying.stop();
  });

  it('ends its questions when it does not answer, and when it stops', async () => {
    const elapse: (() => void)[] = [];
    const timers = timersOf({
      after: (delayMs, action) => {
        if (delayMs === 50) elapse.push(action);
        return { cancel() {} };
      },
      soon: (action) => void setImmediate(action),
    });
    const idle = thread(IDLE, timers, 50);
    const codeOf = (asked: Promise<unknown>) =>
      asked.then(
        () => 'answered',
        ({ code }) => code as string,
      );
    const late = codeOf(idle.ask(new Uint8Array([1])));
    elapse.forEach((end) => void end());
    expect(await late).to.equal('TIMED_OUT');
    const open = codeOf(idle.ask(new Uint8Array([1])));
    await idle.stop();
    expect(await open).to.equal('SHARD_UNAVAILABLE');
    expect(await codeOf(idle.ask(new Uint8Array([1])))).to.equal('SHARD_UNAVAILABLE');
  });

  it('has a bounded number of open questions', async () => {
    const timers = timersOf({ after: () => ({ cancel() {} }), soon: (action) => void setImmediate(action) });
    const idle = thread(IDLE, timers);
    const questions = 512;
    const codes = Array.from({ length: questions + 1 }, () =>
      idle.ask(new Uint8Array([1])).then(
        () => 'answered',
        ({ code }) => code as string,
      ),
    );
    expect(await codes[questions]).to.equal('MAILBOX_FULL');
    await idle.stop();
    expect(await codes[0]).to.equal('SHARD_UNAVAILABLE');
  });
});
