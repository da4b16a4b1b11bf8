/** The times of snapshots and of retention decisions for a shard. Proves SNP1–SNP3. */
import { expect } from 'chai';
import { type RuntimeMetrics, type ShardActor, Snapshotter, type Work } from '../../../src/actors/runtime/index.js';
import type { ChainHead } from '../../../src/journal/index.js';
import { MillraceError, type ShardName } from '../../../src/kernel/index.js';
import type { CompactionJob, CompactionResult, Journal } from '../../../src/ports/index.js';
import { ManualTime } from '../../support/memory/index.js';
import { silentLog } from '../../support/silent-log.js';

const SHARD = 'KV_0' as ShardName;
const HOUR_MS = 3_600_000;
const POLICY = { entries: 100, bytes: 1e9, idleMs: 600_000, retainMs: HOUR_MS, retryMs: 1000 };

/** A snapshotter over ports that record their calls in order, and can be made to fail. */
class Stand {
  readonly time = new ManualTime();
  readonly calls: string[] = [];
  readonly jobs: CompactionJob[] = [];
  readonly named: number[] = [];
  readonly cuts: number[] = [];
  purgeBelow = 1;
  /** Before each call; may throw, or wait. */
  before: (call: string) => void | Promise<void> = () => {};
  readonly actor = {
    shard: SHARD,
    head: { position: 50, number: 5 } as ChainHead,
    replayed: { entries: 3, bytes: 10 },
    state: 'serving',
    ended: new Promise(() => {}),
    appendSnapshot: async (_: string, __: Uint8Array, covered: number) => {
      await this.#call('append');
      this.named.push(covered);
    },
  } as unknown as ShardActor<Work>;
  readonly snapshotter = new Snapshotter<Work>(
    {
      compactor: {
        compact: async (job: CompactionJob): Promise<CompactionResult> => {
          this.jobs.push(job);
          await this.#call('compact');
          const about = { manifest: 'm', manifestDigest: new Uint8Array(), coveredNumber: 5, snapshotBytes: 1 };
          return { ...about, coveredPosition: 50, purgeBelow: this.purgeBelow };
        },
      },
      journal: {
        truncateFront: async (_: ShardName, keepFrom: number) => {
          await this.#call('purge');
          this.cuts.push(keepFrom);
        },
      } as unknown as Journal,
      clock: this.time,
      timers: this.time,
      log: silentLog,
      metrics: { snapshotted: () => undefined } as unknown as RuntimeMetrics,
      onSnapshot: () => this.#call('tell'),
    },
    POLICY,
    'cluster',
  );

  /** Watches a shard with new entries, for which a snapshot is due. */
  async begin(): Promise<void> {
    this.snapshotter.watch(this.actor);
    this.snapshotter.start();
    await this.time.advance(POLICY.idleMs);
  }

  async #call(call: string): Promise<void> {
    this.calls.push(call);
    await this.before(call);
  }
}

describe('snapshots of an idle shard', () => {
  it('are checked again, and old history is removed without another snapshot or entry', async () => {
    const stand = new Stand();
    const { time, jobs, named, cuts } = stand;
    await stand.begin();
    await time.advance(POLICY.idleMs);
    expect([jobs.length, named, cuts]).to.deep.equal([1, [5], [1]]);
    stand.purgeBelow = 40;
    await time.advance(2 * HOUR_MS);
    expect(jobs.slice(1).map(({ upToPosition }) => upToPosition)).to.deep.equal([50, 50].slice(0, jobs.length - 1));
    expect([named, cuts.at(-1)]).to.deep.equal([[5], 40]);
    expect(jobs.length).to.be.within(2, 3);
    stand.snapshotter.stop();
  });
});

describe('a snapshot of a shard', () => {
  let stand: Stand;
  beforeEach(() => {
    stand = new Stand();
  });
  afterEach(() => stand.snapshotter.stop());

  const STEPS = ['compact', 'append', 'tell', 'purge'];
  for (const [at, step] of STEPS.entries()) {
    it(`removes no history while it is at “${step}” (SNP1)`, async () => {
      let goOn = () => {};
      stand.before = (call) => {
        if (call !== step) return;
        return new Promise((resolve) => {
          goOn = resolve;
        });
      };
      await stand.begin();
      await stand.time.advance(4 * POLICY.idleMs);
      expect([stand.calls, stand.cuts]).to.deep.equal([STEPS.slice(0, at + 1), []]);
      goOn();
      await stand.time.advance(1);
      expect([stand.calls, stand.cuts]).to.deep.equal([STEPS, [1]]);
    });

    it(`that fails at “${step}” has changed no data, and is made again after a pause (SNP2)`, async () => {
      stand.before = (call) => {
        if (call === step) throw new MillraceError('JOURNAL_UNAVAILABLE', 'on purpose');
      };
      await stand.begin();
      expect([stand.calls, stand.cuts]).to.deep.equal([STEPS.slice(0, at + 1), []]);
      stand.before = () => {};
      stand.calls.length = 0;
      const head = { ...stand.actor.head, position: 60 } as ChainHead;
      stand.snapshotter.noteStored(stand.actor, head, 2 * POLICY.bytes);
      await stand.time.advance(POLICY.retryMs - 1);
      expect(stand.calls).to.deep.equal([]);
      await stand.time.advance(1);
      // The failed snapshot's entries still need one: the next entry starts it.
      stand.snapshotter.noteStored(stand.actor, head, 1);
      await stand.time.advance(1);
      expect([stand.calls, stand.cuts]).to.deep.equal([STEPS, [1]]);
      expect(stand.jobs.at(-1)?.upToPosition).to.equal(60);
    });
  }
});
