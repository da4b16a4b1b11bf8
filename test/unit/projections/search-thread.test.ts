/** The start of the search indexes' thread. Proves AN3. */
import { expect } from 'chai';
import { searchThread } from '../../support/search-thread.js';
import { silentLog } from '../../support/silent-log.js';
import { timersOf } from '../../support/timers-of.js';

const ENTRY = new URL(
  "data:text/javascript,import { parentPort as port } from 'node:worker_threads';" +
    "port.on('message', ({ kind }) => kind === 'stop' && process.exit())",
);
const TASK = { nats: { servers: [] }, prefix: '', options: { kvShards: 1 } };

describe('the thread of the search indexes', () => {
  const started = () => {
    const timers = timersOf({ after: () => ({ cancel() {} }), soon: (action) => void setImmediate(action) });
    const thread = searchThread({ entry: ENTRY, task: TASK, log: silentLog, timers }, () => []);
    thread.start();
    return thread;
  };

  it('does not run without an index, and reports that it is caught up', async () => {
    const thread = started();
    expect(thread.isResting).to.equal(true);
    expect(thread.status).to.include({ isCaughtUp: true, indexes: 0, documents: 0 });
    await thread.stop();
    expect(thread.status).to.equal(undefined);
  });

  it('starts with the first message or question, and reports no status until it has answered', async () => {
    for (const need of [
      (thread: ReturnType<typeof started>) => thread.tell({ kind: 'rebuild' }),
      (thread: ReturnType<typeof started>) => void thread.ask(new Uint8Array()).catch(() => {}),
    ]) {
      const thread = started();
      need(thread);
      expect(thread.isResting).to.equal(false);
      expect(thread.status).to.equal(undefined);
      await thread.stop();
    }
  });
});
