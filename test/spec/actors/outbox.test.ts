/** Proves OBR1–OBR4, OB1–OB4 and RPL4, with an owner of a partition and a queue in memory. */
import { expect } from 'chai';
import { AccountRefusals, type KvWork, replayFold } from '../../../src/actors/kv-shard/index.js';
import type { ShardActor } from '../../../src/actors/runtime/index.js';
import type { QueueCommandOf, QueueReply } from '../../../src/domain/queue/index.js';
import { keepStates } from '../../../src/journal/backup/index.js';
import { type BackupId, MillraceError } from '../../../src/kernel/index.js';
import { messagesOf, readable } from '../../support/kv-bench.js';
import { KvShardStand, type Outcome, SHARD } from '../../support/kv-shard-stand.js';
import { silentLog } from '../../support/silent-log.js';

const URL = 'https://shop.example/mail';

const textOf = ({ replies }: Outcome) => String(readable(replies?.[0] ?? null));

/** Accepts records as an account does: each sequence once. */
class MemoryQueue {
  readonly bodies: string[] = [];
  readonly requests: QueueCommandOf<'TakeOutbox'>[] = [];
  takenUpTo = 0;
  /** Answers that come before it accepts anything. */
  readonly refusals: (QueueReply | MillraceError)[] = [];
  /** Accepts, but its answer is lost. */
  losesAnswer = false;

  ask = async (_: unknown, command: unknown): Promise<QueueReply> => {
    const taken = command as QueueCommandOf<'TakeOutbox'>;
    this.requests.push(taken);
    const refusal = this.refusals.shift();
    if (refusal instanceof MillraceError) throw refusal;
    if (refusal !== undefined) return refusal;
    for (const { sequence, call } of taken.records) {
      if (sequence <= this.takenUpTo || call.kind !== 'publish') continue;
      this.takenUpTo = sequence;
      this.bodies.push(Buffer.from(call.item.body).toString());
    }
    if (this.losesAnswer) throw new MillraceError('OUTCOME_UNKNOWN', 'the answer was lost');
    return { type: 'OutboxTaken', sequence: this.takenUpTo };
  };
}

describe('the outbox of a partition', () => {
  let stand: KvShardStand;
  let queue: MemoryQueue;
  let refusals: AccountRefusals;
  let actor: ShardActor<KvWork>;

  beforeEach(async () => {
    stand = new KvShardStand();
    queue = new MemoryQueue();
    refusals = new AccountRefusals();
    const composer = messagesOf(1, refusals);
    stand.outbox = { queue, refusals, composerFor: () => composer };
    actor = await stand.serving();
  });

  afterEach(() => {
    for (const each of stand.actors) each.fail(new Error('the test is over'));
  });

  async function takeOver(): Promise<void> {
    actor.fail(new Error('it died'));
    actor = await stand.serving();
    await stand.time.advance(200);
  }

  const pending = () => [...(stand.planes.at(-1)?.loaded() ?? [])].reduce((sum, [, fold]) => sum + fold.pending, 0);

  it('sends stored messages in order, and they leave it a moment later (OBR1, OBR4)', async () => {
    stand.send(actor, [`QUEUE.PUBLISH ${URL} a`, `QUEUE.PUBLISH ${URL} b`], 'pipeline');
    stand.send(actor, [`SET k v`, `QUEUE.PUBLISH ${URL} c`], 'transaction');
    await stand.settle();
    expect(queue.bodies).to.deep.equal(['a', 'b', 'c']);
    await stand.time.advance(200);
    expect(pending()).to.equal(0);
  });

  it('sends no message before its entry is stored (OB2)', async () => {
    stand.journal.isOpen = false;
    stand.send(actor, `QUEUE.PUBLISH ${URL} a`);
    await stand.time.advance(100);
    expect(queue.requests).to.deep.equal([]);
    stand.journal.isOpen = true;
    await stand.journal.held[0]?.ack();
    await stand.time.advance(100);
    expect(queue.bodies).to.deep.equal(['a']);
  });

  it('sends no message of a discarded transaction, and no command of it runs', async () => {
    const outcome = stand.send(actor, ['SET k v', `QUEUE.PUBLISH ${URL} a DELAY soon`], 'transaction');
    const read = stand.send(actor, 'EXISTS k');
    await stand.settle();
    expect(outcome.isAborted).to.equal(true);
    expect(textOf(outcome)).to.contain('svc-delay must be a duration');
    expect(read.replies).to.deep.equal([0]);
    expect(queue.requests).to.deep.equal([]);
  });

  it('drops the messages of a script that is stopped and undone', async () => {
    const script = `redis.call('QUEUE.PUBLISH','${URL}','a') while true do end`;
    const outcome = stand.ask(actor, { commands: [['EVAL', script, '0']] });
    while (outcome.replies === undefined) await stand.time.advance(1);
    stand.send(actor, `QUEUE.PUBLISH ${URL} b`);
    await stand.time.advance(200);
    expect(queue.bodies).to.deep.equal(['b']);
    expect(pending()).to.equal(0);
  });

  it('sends each message once when answers are lost and owners die (OBR2)', async () => {
    queue.losesAnswer = true;
    stand.send(actor, [`QUEUE.PUBLISH ${URL} a`, `QUEUE.PUBLISH ${URL} b`], 'pipeline');
    await stand.settle();
    await takeOver();
    stand.send(actor, `QUEUE.PUBLISH ${URL} c`);
    await stand.settle();
    queue.losesAnswer = false;
    await takeOver();
    await stand.time.advance(1000);
    expect(queue.bodies).to.deep.equal(['a', 'b', 'c']);
    expect(pending()).to.equal(0);
  });

  it('a refused message stays, further commands are refused with the reason, and it is sent later (OBR3)', async () => {
    const refusal: QueueReply = { type: 'Rejected', reason: 'FULL', message: 'the account is full' };
    queue.refusals.push(refusal);
    stand.send(actor, `QUEUE.PUBLISH ${URL} a`);
    await stand.settle();
    const second = stand.send(actor, ['INCR n', `QUEUE.PUBLISH ${URL} b`], 'transaction');
    await stand.settle();
    expect(textOf(second)).to.contain('ERR queue: the account is full');
    await stand.time.advance(1000);
    expect(queue.bodies).to.deep.equal(['a']);
    stand.send(actor, `QUEUE.PUBLISH ${URL} c`);
    await stand.time.advance(100);
    expect(queue.bodies).to.deep.equal(['a', 'c']);
  });

  it('sends fewer messages after a refusal of several, until the cause is alone', async () => {
    const invalid: QueueReply = { type: 'Rejected', reason: 'INVALID', message: 'no' };
    queue.refusals.push(invalid, invalid);
    const commands = ['a', 'b', 'c', 'd'].map((body) => `QUEUE.PUBLISH ${URL} ${body}`);
    stand.send(actor, commands, 'transaction');
    await stand.time.advance(100);
    expect(queue.requests.slice(0, 3).map(({ records }) => records.length)).to.deep.equal([4, 2, 1]);
    expect(queue.bodies).to.deep.equal(['a', 'b', 'c', 'd']);
  });

  it('waiting messages are in snapshots, and a new owner sends them without a command (OB3)', async () => {
    queue.refusals.push(...Array.from({ length: 50 }, () => new MillraceError('SHARD_UNAVAILABLE', 'no owner')));
    stand.send(actor, [`SET k v`, `QUEUE.PUBLISH ${URL} a`], 'transaction');
    await stand.settle();
    await stand.compact(actor);
    const stored = await stand.snapshots.newest(SHARD);
    expect(stored?.manifest.partitions[0]?.pending).to.equal(1);
    queue.refusals.length = 0;
    await takeOver();
    await stand.time.advance(200);
    expect(queue.bodies).to.deep.equal(['a']);
    expect(pending()).to.equal(0);
  });

  it('a restored backup keeps the messages that wait, and brings none of its own (RPL4)', async () => {
    const noOwner = () => Array.from({ length: 50 }, () => new MillraceError('SHARD_UNAVAILABLE', 'no owner'));
    queue.refusals.push(...noOwner());
    stand.send(actor, ['SET k old', `QUEUE.PUBLISH ${URL} a`], 'transaction');
    await stand.settle();
    const { journal, objects, time: clock } = stand;
    const partitions = [...(stand.planes[0]?.loaded() ?? [])].map(([name]) => name);
    const request = { clusterId: 'cluster', backup: 'b' as BackupId, partitions, shards: [SHARD] };
    const { manifests } = await keepStates({ journal, objects, clock, log: silentLog }, request, () => replayFold());
    queue.refusals.length = 0;
    await stand.time.advance(10_000);
    queue.refusals.push(...noOwner());
    stand.send(actor, ['SET k new', `QUEUE.PUBLISH ${URL} b`], 'transaction');
    await stand.settle();
    const replaced = stand.ask(actor, { mode: 'replace', commands: [[manifests[0] as string]], waiter: 'replace' });
    while (replaced.replies === undefined) await stand.settle();
    const read = stand.send(actor, 'GET k');
    await stand.settle();
    expect(read.replies).to.deep.equal(['old']);
    await takeOver();
    queue.refusals.length = 0;
    await stand.time.advance(10_000);
    expect(queue.bodies).to.deep.equal(['a', 'b']);
    expect(pending()).to.equal(0);
  });

  it('refuses messages above its bound, and the transaction has no effect (OB4)', async () => {
    queue.refusals.push(...Array.from({ length: 500 }, () => new MillraceError('SHARD_UNAVAILABLE', 'no owner')));
    const body = 'x'.repeat(1_000_000);
    const commands = Array.from({ length: 17 }, () => `QUEUE.PUBLISH ${URL} ${body}`);
    const outcome = stand.send(actor, ['SET k v', ...commands], 'transaction');
    await stand.settle();
    const read = stand.send(actor, 'EXISTS k');
    while (read.replies === undefined) await stand.settle();
    expect(textOf(outcome)).to.contain('wait for the queue');
    expect(read.replies).to.deep.equal([0]);
  });
});
