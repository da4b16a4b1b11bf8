/** Requests to partitions that are closed, because the number of partitions is changed. Proves LCH1, LCH2, POR3. */
import { expect } from 'chai';
import { type CommandSpec, type ErrorReply, findCommand, type Reply } from '../../../src/domain/kv/index.js';
import { PartitionRouter } from '../../../src/edge/commands/partition-routing.js';
import type { AdmittedCommands } from '../../../src/edge/commands/portions.js';
import { type DatabaseId, isMillraceError, MillraceError } from '../../../src/kernel/index.js';
import type { KvGrant, KvLayout } from '../../../src/ports/index.js';
import { type KvRequest, type KvResponse, kvPartitions, type PartitionLayout } from '../../../src/protocol/index.js';
import { ManualTime } from '../../support/memory/index.js';

const DATABASE = 'db-aaaaaaaaaaaaaaaa' as DatabaseId;
const HOLD_MS = 10_000;

const layoutOf = (layout: PartitionLayout): KvLayout => ({
  partitions: kvPartitions(DATABASE, layout),
  firstPartition: layout.firstPartition,
});
const ONE = layoutOf({ partitions: 1 });
const FOUR = layoutOf({ firstPartition: 1, partitions: 4 });
const TWO = layoutOf({ firstPartition: 5, partitions: 2 });

const grantOf = (layout: KvLayout): KvGrant => ({
  database: DATABASE,
  ...layout,
  role: 'standard',
  user: 'default',
  limits: { maxCommandBytes: 1000, maxRequestsPerDay: 0 },
});

function admitted(...lines: string[]): AdmittedCommands {
  const commands = lines.map((line) => line.split(' '));
  return { specs: commands.map((words) => findCommand(words) as CommandSpec), commands, bytes: 30 };
}

describe('edge: a request to a closed partition', () => {
  let time: ManualTime;
  let present: KvLayout;
  let router: PartitionRouter;
  let asked: KvRequest[];
  let failureOf: (request: KvRequest) => MillraceError | undefined;

  beforeEach(() => {
    time = new ManualTime(0);
    present = ONE;
    asked = [];
    failureOf = ({ partition }) =>
      present.partitions.includes(partition) ? undefined : new MillraceError('PARTITION_CLOSED', 'closed');
    const execute = async (request: KvRequest): Promise<KvResponse> => {
      asked.push(request);
      const failure = failureOf(request);
      if (failure !== undefined) throw failure;
      // Each command is answered with its last word.
      return { replies: request.commands.map((words) => words.at(-1) as Reply), syncToken: '1-0' };
    };
    router = new PartitionRouter({ execute }, { clock: time, timers: time, access: { layoutOf: () => present } });
  });

  async function settled<T>(promise: Promise<T>): Promise<T> {
    let isOver = false;
    const ended = promise.finally(() => {
      isOver = true;
    });
    ended.catch(() => undefined);
    while (!isOver) await time.advance(20);
    return ended;
  }

  const closed = () => new MillraceError('PARTITION_CLOSED', 'closed');

  it('waits, and is sent to the partitions of the present layout (LCH1)', async () => {
    failureOf = ({ partition }) => (partition === ONE.partitions[0] ? closed() : undefined);
    const answer = router.runAgain(closed(), grantOf(ONE), 'single', admitted('SET a 1'), () => ({}));
    await time.advance(200);
    expect(asked.length).to.be.greaterThan(1);
    present = FOUR;
    expect((await settled(answer)).replies).to.deep.equal(['1']);
    expect(FOUR.partitions).to.include(asked.at(-1)?.partition);
    expect(asked.at(-1)).to.include({ partitions: 4, firstPartition: 1 });
  });

  it('is refused after the hold time (LCH2)', async () => {
    failureOf = closed;
    const answer = router.runAgain(closed(), grantOf(ONE), 'single', admitted('SET a 1'), () => ({}));
    const startedAtMs = time.monotonicMs();
    const failure = await settled(answer).catch((error: unknown) => error);
    expect(isMillraceError(failure, 'PARTITION_CLOSED')).to.equal(true);
    expect(time.monotonicMs() - startedAtMs).to.be.within(HOLD_MS, HOLD_MS + 100);
  });

  it('is not sent again when its outcome is another one (LCH1)', async () => {
    const unknown = new MillraceError('OUTCOME_UNKNOWN', 'unknown');
    const failure = await router
      .runAgain(unknown, grantOf(ONE), 'single', admitted('SET a 1'), () => ({}))
      .catch((error: unknown) => error);
    expect(failure).to.equal(unknown);
    expect(asked).to.deep.equal([]);
  });

  it('of a transaction with keys of several slots is discarded in a layout of several partitions', async () => {
    present = FOUR;
    const both = admitted('SET a 1', 'SET b 2');
    const { replies, isAborted } = await settled(
      router.runAgain(closed(), grantOf(ONE), 'transaction', both, () => ({})),
    );
    expect(isAborted).to.equal(true);
    expect((replies[0] as ErrorReply).text).to.match(/^CROSSSLOT/);
    expect(asked).to.deep.equal([]);
  });

  it('of a pipeline runs only the refused commands again (LCH1)', async () => {
    const lines = Array.from({ length: 12 }, (_, n) => `SET k${n} v${n}`);
    const open = FOUR.partitions[0];
    failureOf = ({ partition }) => (partition === open || TWO.partitions.includes(partition) ? undefined : closed());
    present = TWO;
    const { replies } = await settled(router.run(grantOf(FOUR), 'pipeline', admitted(...lines)));
    expect(replies).to.deep.equal(lines.map((line) => line.split(' ')[2]));
    const ran = asked.filter((request) => failureOf(request) === undefined).flatMap(({ commands }) => commands);
    expect(ran.map((words) => words[1]).sort()).to.deep.equal(lines.map((line) => line.split(' ')[1]).sort());
  });

  it('of which a part has failed otherwise is not sent again as a whole (LCH1)', async () => {
    present = TWO;
    failureOf = ({ partition }) =>
      partition === FOUR.partitions[0] ? new MillraceError('OUTCOME_UNKNOWN', 'unknown') : closed();
    const lines = Array.from({ length: 12 }, (_, n) => `SET k${n} v${n}`);
    const failure = await settled(router.run(grantOf(FOUR), 'pipeline', admitted(...lines))).catch(
      (error: unknown) => error,
    );
    expect(isMillraceError(failure, 'OUTCOME_UNKNOWN')).to.equal(true);
  });

  it('of a pipeline in portions asks the partitions of the grant that it is asked with (POR3)', async () => {
    const lines = Array.from({ length: 6 }, (_, n) => `SET k${n} v${n}`);
    const portions = router.portions(grantOf(ONE), admitted(...lines));
    present = FOUR;
    const { replies } = await portions.next(grantOf(FOUR), {});
    expect(replies).to.deep.equal(lines.map((line) => line.split(' ')[2]));
    expect(portions.isOver).to.equal(true);
    expect(asked.every(({ partition }) => FOUR.partitions.includes(partition))).to.equal(true);
  });

  it('of a pipeline in portions waits for the present layout', async () => {
    const portions = router.portions(grantOf(ONE), admitted('SET a 1', 'SET b 2'));
    present = FOUR;
    expect((await settled(portions.next(grantOf(ONE), {}))).replies).to.deep.equal(['1', '2']);
  });
});
