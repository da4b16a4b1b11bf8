/** Proves ATT1, ATT3, MSG1. */
import { expect } from 'chai';
import { MAX_ATTEMPT_RESTARTS, type QueueEventOf } from '../../../src/domain/queue/index.js';
import { item, noResponse, QueueSpec, response } from '../../support/queue-spec.js';

describe('queue: delivery', () => {
  it('a message starts in the turn that accepts it', () => {
    const queue = new QueueSpec();
    queue.publish(item('a'));
    expect(queue.work()).to.equal(1);
    expect(queue.news()).to.deep.equal(['accepted a', 'started a']);
  });

  it('a delayed message starts after its delay, to the millisecond', () => {
    const queue = new QueueSpec();
    queue.publish(item('a', { delaySeconds: 60 }));
    queue.pass(59_999);
    expect(queue.news()).to.deep.equal(['accepted a']);
    queue.pass(1);
    expect(queue.news()).to.deep.equal(['started a']);
  });

  it('only a status from 200 to 299 is a delivery', () => {
    const queue = new QueueSpec();
    for (const status of [199, 200, 299, 300]) queue.publish(item(`m${status}`));
    queue.work();
    queue.skipEvents();
    for (const status of [199, 200, 299, 300]) queue.outcome(`m${status}`, status);
    expect(queue.news().map((line) => line.split(',')[0])).to.deep.equal([
      'failed m199',
      'delivered m200',
      'delivered m299',
      'failed m300',
    ]);
  });

  it('a delivery keeps headers and the beginning of the body of its answer, up to the configured bytes', () => {
    const kept = (keptAnswerBytes: number | undefined, body: string) => {
      const queue = new QueueSpec(keptAnswerBytes === undefined ? {} : { keptAnswerBytes: () => keptAnswerBytes });
      queue.publish(item('a'));
      queue.work();
      queue.outcome('a', response(200, [['A', '1']], body));
      const event = queue.journal.find(({ type }) => type === 'MessageDelivered');
      const { answer } = event as QueueEventOf<'MessageDelivered'>;
      return answer && { ...answer, body: Buffer.from(answer.body).toString() };
    };
    expect(kept(10, '12345678')).to.deep.equal({ header: [['A', '1']], body: '12345678', isCut: false });
    expect(kept(10, '123456789')).to.deep.equal({ header: [['A', '1']], body: '12345678', isCut: true });
    expect(kept(1, '')).to.deep.equal({ header: [], body: '', isCut: true });
    expect(kept(0, '1')).to.equal(undefined);
    expect(kept(undefined, '1')).to.equal(undefined);
  });

  it('a failed message is retried after 12 s, 2½ min and 30 min, and then moves to the DLQ', () => {
    const queue = new QueueSpec();
    queue.publish(item('a', { maxRetries: 3 }));
    queue.work();
    for (const wait of [12_182, 148_413, 1_808_042]) {
      queue.skipEvents().outcome('a', 500);
      expect(queue.news()).to.deep.equal([`failed a, next in ${wait}`]);
      queue.pass(wait - 1);
      expect(queue.news()).to.deep.equal([]);
      queue.pass(1);
    }
    queue.skipEvents().outcome('a', noResponse());
    expect(queue.news()).to.deep.equal(['failed a, for good', 'dead-lettered a']);
  });

  it('a retry waits as long as the destination asks for', () => {
    const queue = new QueueSpec();
    queue.publish(item('a'));
    queue.work();
    queue.skipEvents().outcome('a', response(429, [['Retry-After', '7']]));
    expect(queue.news()).to.deep.equal(['failed a, next in 7000']);
  });

  it('a refusal with status 489 and the non-retryable header ends the attempts', () => {
    const queue = new QueueSpec();
    queue.publish(item('a'));
    queue.work();
    queue.skipEvents().outcome('a', response(489, [['Svc-NonRetryable-Error', 'true']]));
    expect(queue.news()).to.deep.equal(['failed a, for good', 'dead-lettered a']);
  });

  it('an outcome for another attempt than the open one is ignored', () => {
    const queue = new QueueSpec();
    queue.publish(item('a', { retryDelay: '0' }));
    queue.work();
    queue.outcome('a', 500);
    queue.work();
    queue.skipEvents();
    const late = { type: 'RecordAttempt', id: item('a').id, retried: 0, restarts: 0, sentBody: undefined } as const;
    expect(queue.ask({ ...late, outcome: response(200) })).to.deep.equal({ type: 'Done' });
    expect(queue.news()).to.deep.equal([]);
    queue.outcome('a', 200);
    expect(queue.news()).to.deep.equal(['delivered a']);
  });

  it('GetMessage shows a delivered message for ten seconds', () => {
    const queue = new QueueSpec();
    queue.publish(item('a'));
    queue.work();
    queue.outcome('a', 200);
    const get = () => queue.ask({ type: 'GetMessage', id: item('a').id }).type;
    queue.nowMs += 9999;
    expect(get()).to.equal('Message');
    queue.nowMs += 1;
    expect(get()).to.equal('Rejected');
  });

  it('a suspended account delivers no message, and continues after its activation', () => {
    const queue = new QueueSpec();
    queue.publish(item('a'));
    queue.suspend().work();
    expect(queue.news()).to.deep.equal(['accepted a']);
    expect(queue.publish(item('b'))).to.include({ type: 'Rejected', reason: 'SUSPENDED' });
    queue.suspend(false).work();
    expect(queue.news()).to.deep.equal(['started a']);
  });

  it("open attempts stay within the account's parallelism and the process's room", () => {
    const queue = new QueueSpec().limit({ maxGlobalParallelism: 3 });
    queue.publish(...['a', 'b', 'c', 'd'].map((id) => item(id, { url: `https://${id}.example/` })));
    expect(queue.work(2)).to.equal(2);
    expect(queue.engine.isBehind).to.equal(true);
    expect(queue.work()).to.equal(1);
    expect(queue.engine.isBehind).to.equal(false);
    queue.outcome('a', 200);
    expect(queue.work()).to.equal(1);
    expect(queue.ask({ type: 'GetGlobalParallelism' })).to.deep.equal({ type: 'GlobalParallelism', max: 3, active: 3 });
  });

  it('one origin cannot take all places of the account', () => {
    const queue = new QueueSpec({ maxInFlightPerOrigin: 2 });
    queue.publish(...['a', 'b', 'c'].map((id) => item(id, { url: `https://sick.example/${id}` })), item('d'));
    queue.work();
    expect(
      queue
        .news()
        .filter((line) => line.startsWith('started'))
        .sort(),
    ).to.deep.equal(['started a', 'started b', 'started d']);
    queue.outcome('a', 500);
    queue.work();
    expect(queue.news().at(-1)).to.equal('started c');
  });
});

describe('queue: after a crash', () => {
  it('open attempts are repeated', () => {
    const before = new QueueSpec();
    before.publish(item('a'), item('b', { delaySeconds: 60 }));
    before.work();
    const after = before.replayed();
    after.work();
    expect(after.news()).to.deep.equal(['started a, restart 1']);
    after.outcome('a', 200);
    expect(after.news()).to.deep.equal(['delivered a']);
    after.pass(60_000);
    expect(after.news()).to.deep.equal(['started b']);
  });

  it('an attempt that was interrupted too often counts as failed', () => {
    let queue = new QueueSpec();
    queue.publish(item('a', { maxRetries: 0 }));
    queue.work();
    for (let restart = 1; restart <= MAX_ATTEMPT_RESTARTS; restart += 1) {
      queue = queue.rebuilt();
      queue.work();
      expect(queue.news()).to.deep.equal([`started a, restart ${restart}`]);
    }
    queue = queue.rebuilt();
    queue.work();
    expect(queue.news()).to.deep.equal(['failed a, for good', 'dead-lettered a']);
  });

  it('messages that fell due during the downtime start one per millisecond', () => {
    const before = new QueueSpec();
    before.publish(...Array.from({ length: 100 }, (_, at) => item(`m${at}`, { delaySeconds: 1 })));
    before.nowMs += 3_600_000;
    const after = before.replayed();
    after.work();
    expect(after.news().length).to.equal(1);
    after.pass(49);
    expect(after.news().length).to.equal(49);
    after.pass(100);
    expect(after.news().length).to.equal(50);
  });

  it('a new message starts before overdue ones', () => {
    const before = new QueueSpec();
    before.publish(...Array.from({ length: 100 }, (_, at) => item(`m${at}`, { delaySeconds: 1 })));
    before.nowMs += 3_600_000;
    const after = before.replayed();
    after.publish(item('fresh'));
    after.work();
    expect(after.news()).to.include('started fresh');
  });
});
