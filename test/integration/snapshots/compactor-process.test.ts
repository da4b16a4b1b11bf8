/** The compactor in its process, on a real journal and a real object store. */
import { readdir, readFile } from 'node:fs/promises';
import { setImmediate as nextRound } from 'node:timers/promises';
import { expect } from 'chai';
import { replayFold } from '../../../src/actors/kv-shard/index.js';
import { ProcessCompactor } from '../../../src/adapters/node/index.js';
import type { CompactorTask } from '../../../src/composition/thread-tasks.js';
import { DEFAULT_COMPACTION_LIMITS, recover, SnapshotStore, verifyShard } from '../../../src/journal/index.js';
import { isMillraceError, type ShardName } from '../../../src/kernel/index.js';
import { entrySections, type ManifestPartition } from '../../../src/protocol/index.js';
import { KEEP_NOTHING } from '../../spec/journal/journal-stand.js';
import { ALPHA, BETA, CLUSTER, ShardHistory } from '../../spec/journal/shard-history.js';
import { JetStreamStand } from '../../support/jetstream-stand.js';
import { jobProcessesOf } from '../../support/job-processes.js';
import { silentLog } from '../../support/silent-log.js';
import { standOfAllTests } from '../../support/stand-hooks.js';

const PREFIX = 'snapshots';
/** The niceness of a job, as its entry has it. */
const BEHIND = 10;
/** Field of /proc/<pid>/task/<tid>/stat, counted from the state. */
const NICENESS_FIELD = 16;
const ENTRY = new URL('../../../src/composition/compactor-worker.js', import.meta.url);

describe('the compactor in its own process, on JetStream', function () {
  this.timeout(60_000);
  // Before the server ends.
  after(async () => {
    await compactor?.close();
  });
  const nats = standOfAllTests(() => JetStreamStand.start(PREFIX, { kvShards: 5 }));
  let compactor: ProcessCompactor<CompactorTask>;
  let shards = 0;
  const limits = { ...DEFAULT_COMPACTION_LIMITS, segmentBytes: 300_000, retention: KEEP_NOTHING };

  before(async () => {
    compactor = newCompactor();
  });

  function newCompactor() {
    const installation: CompactorTask = { nats: { servers: [nats.server.url] }, prefix: PREFIX, limits };
    return new ProcessCompactor<CompactorTask>({ entry: ENTRY, installation, log: silentLog });
  }

  /** A new shard with a claim and 4,000 keys in two partitions; large entries come in chunks. */
  async function freshHistory(): Promise<ShardHistory> {
    const history = new ShardHistory(nats.journal, { shard: `KV_${shards}` as ShardName, chunkBytes: 64 * 1024 });
    shards += 1;
    await history.claim();
    for (let batch = 0; batch < 4; batch += 1) {
      const sets = (prefix: string) =>
        Array.from({ length: 500 }, (_, i) => ['SET', `${prefix}${batch}-${i}`, 'x'.repeat(i)]);
      await history.batch({ [ALPHA]: sets('a'), [BETA]: sets('b') });
    }
    return history;
  }

  const jobFor = ({ shard, head }: ShardHistory) => ({ shard, clusterId: CLUSTER, upToPosition: head.position });

  async function recoveredKeys({ shard, head }: ShardHistory): Promise<number> {
    const store = new SnapshotStore(nats.objects, silentLog);
    const fold = replayFold();
    const apply = async (partition: ManifestPartition | undefined) => {
      if (partition !== undefined) await store.loadWhole(partition, fold, { checkDigest: true });
    };
    for await (const step of recover(
      { journal: nats.journal, objects: nats.objects, log: silentLog },
      shard,
      head,
      head,
    ).steps) {
      if (step.kind === 'manifest') await apply(step.manifest?.partitions.find(({ name }) => name === ALPHA));
      else {
        for (const { partition, effects } of step.reads.flatMap(({ entry }) => entrySections(entry)))
          if (partition === ALPHA) fold.apply(effects);
      }
    }
    return fold.size;
  }

  it('makes snapshots that recovery and verification accept, so that the front can be removed', async () => {
    const history = await freshHistory();
    const first = await compactor.compact(jobFor(history));
    expect(first.coveredNumber).to.equal(5);
    expect(first.snapshotBytes).to.be.greaterThan(900_000);
    await history.claim();
    await history.batch({ [ALPHA]: ['SET one-more 1'] });
    const second = await compactor.compact(jobFor(history));
    expect(second.purgeBelow).to.equal(first.coveredPosition + 1);
    await nats.journal.truncateFront(history.shard, second.purgeBelow);
    await history.batch({ [ALPHA]: ['SET another 1'] });
    expect(await recoveredKeys(history)).to.equal(2002);
    const audit = await verifyShard({ journal: nats.journal, objects: nats.objects, log: silentLog }, history.shard);
    expect([audit.findings, audit.anchoredBy, audit.manifestsOnChain]).to.deep.equal([[], 'snapshot', 1]);
  });

  it('runs all its threads at lower priority than commands', async function () {
    if (process.platform !== 'linux') this.skip();
    const job = compactor.compact(jobFor(await freshHistory()));
    let isOver = false;
    const ended = job.finally(() => {
      isOver = true;
    });
    let least: number | undefined;
    while (!isOver && least !== BEHIND) {
      const threads = (await Promise.all((await jobProcessesOf(process.pid)).map(nicenessOfThreads))).flat();
      if (threads.length > 1) least = Math.min(...threads);
      await nextRound();
    }
    await ended;
    expect(least).to.equal(BEHIND);
  });

  it('runs one job at a time, in order', async () => {
    const history = await freshHistory();
    const early = jobFor(history);
    await history.batch({ [ALPHA]: ['SET later 1'] });
    const order: string[] = [];
    const [a, b] = await Promise.all([
      compactor.compact(early).finally(() => order.push('early')),
      compactor.compact(jobFor(history)).finally(() => order.push('late')),
    ]);
    expect(order).to.deep.equal(['early', 'late']);
    expect(b.coveredNumber).to.equal(a.coveredNumber + 1);
  });

  it('reports an error of its process with its code', async () => {
    const history = await freshHistory();
    const job = { ...jobFor(history), clusterId: 'another' };
    await expectFailure(compactor.compact(job), 'JOURNAL_DAMAGED');
    const { coveredNumber } = await compactor.compact(jobFor(history));
    expect(coveredNumber).to.equal(history.head.number);
  });

  it('fails running and waiting jobs when it is closed', async () => {
    const history = await freshHistory();
    const closing = newCompactor();
    const jobs = [closing.compact(jobFor(history)), closing.compact(jobFor(history))];
    const failures = Promise.all(jobs.map((job) => expectFailure(job, 'SHUTTING_DOWN')));
    await closing.close();
    await failures;
    expect(await recoveredKeys(history)).to.equal(2000);
  });
});

async function expectFailure(act: Promise<unknown>, code: Parameters<typeof isMillraceError>[1]): Promise<void> {
  try {
    await act;
  } catch (error) {
    expect(isMillraceError(error, code), String(error)).to.equal(true);
    return;
  }
  expect.fail(`no ${code}`);
}

async function nicenessOfThreads(pid: number): Promise<readonly number[]> {
  const threads = await readdir(`/proc/${pid}/task`).catch(() => []);
  const stats = threads.map((tid) => readFile(`/proc/${pid}/task/${tid}/stat`, 'latin1').catch(() => ''));
  return (await Promise.all(stats))
    .filter((stat) => stat !== '')
    .map((stat) => Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[NICENESS_FIELD]));
}
