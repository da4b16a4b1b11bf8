/** The threads that keep moments of databases, when they come to nothing. */
import { expect } from 'chai';
import { KeeperThread } from '../../../src/composition/backup-keeper-thread.js';
import type { BackupId } from '../../../src/kernel/index.js';
import { silentLog } from '../../spec/journal/shard-history.js';

const REQUEST = { clusterId: 'c', backup: 'bk-aaaaaaaaaaaaaaaa' as BackupId, partitions: [], shards: [] };
const SILENT = 'setInterval(() => {}, 1000)';

function keeper(code: string, options: { timeLimitMs?: number; maxHeapMb?: number } = {}): KeeperThread {
  const entry = new URL(`data:text/javascript,${code}`);
  return new KeeperThread({ entry, task: { nats: { servers: [] }, prefix: '' }, log: silentLog, ...options });
}

function codeOf(kept: Promise<unknown>): Promise<string> {
  return kept.then(
    () => 'kept',
    ({ code }) => code as string,
  );
}

describe('a thread that keeps a moment of a database', () => {
  it('fails its request when it dies, throws or takes too long', async () => {
    expect(await codeOf(keeper('process.exit(3)').keep(REQUEST))).to.equal('TIMED_OUT');
    expect(await codeOf(keeper('throw new Error("broken on purpose")').keep(REQUEST))).to.equal('TIMED_OUT');
    expect(await codeOf(keeper(SILENT, { timeLimitMs: 50 }).keep(REQUEST))).to.equal('TIMED_OUT');
  });

  it('ends with its process: what is under way fails, and what comes later', async () => {
    const thread = keeper(SILENT);
    const underWay = codeOf(thread.keep(REQUEST));
    await thread.close();
    expect(await underWay).to.equal('SHUTTING_DOWN');
    expect(await codeOf(thread.keep(REQUEST))).to.equal('SHUTTING_DOWN');
  });
});
