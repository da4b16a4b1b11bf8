/** When the thread of the search indexes begins. Proves AN3. */
import { expect } from 'chai';
import { silentLog } from '../../spec/journal/shard-history.js';
import { searchThread } from '../../support/search-thread.js';
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

  it('rests while there is no index, and says that it has everything', async () => {
    const thread = started();
    expect(thread.isResting).to.equal(true);
    expect(thread.status).to.include({ isCaughtUp: true, indexes: 0, documents: 0 });
    await thread.stop();
    expect(thread.status).to.equal(undefined);
  });

  it('begins with the first word or question, and says nothing until it has heard of it', async () => {
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
