/** When a shard is snapshotted, and when what is kept of its past is decided anew. Proves SNP3. */
import { expect } from 'chai';
import { type RuntimeMetrics, type ShardActor, Snapshotter, type Work } from '../../../src/actors/runtime/index.js';
import type { ChainHead } from '../../../src/journal/index.js';
import type { ShardName } from '../../../src/kernel/index.js';
import type { CompactionJob, CompactionResult, Journal } from '../../../src/ports/index.js';
import { silentLog } from '../../spec/journal/shard-history.js';
import { ManualTime } from '../../support/memory/index.js';

const SHARD = 'KV_0' as ShardName;
const HOUR_MS = 3_600_000;
const POLICY = { entries: 100, bytes: 1e9, idleMs: 600_000, retainMs: HOUR_MS, retryMs: 1000 };

describe('snapshots of a shard that nobody writes to any more', () => {
  it('are looked at again, and its history is let go of without another snapshot or entry', async () => {
    const time = new ManualTime();
    const jobs: CompactionJob[] = [];
    const named: number[] = [];
    const cuts: number[] = [];
    let purgeBelow = 1;
    const compactor = {
      compact: async (job: CompactionJob): Promise<CompactionResult> => {
        jobs.push(job);
        const coveredPosition = 50;
        const about = { manifest: 'm', manifestDigest: new Uint8Array(), coveredNumber: 5, snapshotBytes: 1 };
        return { ...about, coveredPosition, purgeBelow };
      },
    };
    const journal = { truncateFront: async (_: ShardName, keepFrom: number) => void cuts.push(keepFrom) };
    const actor = {
      shard: SHARD,
      head: { position: 50, number: 5 } as ChainHead,
      replayed: { entries: 3, bytes: 10 },
      state: 'serving',
      ended: new Promise(() => {}),
      appendSnapshot: async (_: string, __: Uint8Array, covered: number) => void named.push(covered),
    } as unknown as ShardActor<Work>;
    const snapshotter = new Snapshotter<Work>(
      {
        compactor,
        journal: journal as unknown as Journal,
        clock: time,
        timers: time,
        log: silentLog,
        metrics: { snapshotted: () => undefined } as unknown as RuntimeMetrics,
        onSnapshot: async () => undefined,
      },
      POLICY,
      'cluster',
    );
    snapshotter.watch(actor);
    snapshotter.start();
    await time.advance(POLICY.idleMs * 2);
    expect([jobs.length, named, cuts]).to.deep.equal([1, [5], [1]]);
    purgeBelow = 40;
    await time.advance(2 * HOUR_MS);
    expect(jobs.slice(1).map(({ upToPosition }) => upToPosition)).to.deep.equal([50, 50].slice(0, jobs.length - 1));
    expect([named, cuts.at(-1)]).to.deep.equal([[5], 40]);
    expect(jobs.length).to.be.within(2, 3);
    snapshotter.stop();
  });
});
