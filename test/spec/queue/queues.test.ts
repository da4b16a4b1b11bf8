/** Proves ATT2, DI4, OQ1, OQ2. */
import { expect } from 'chai';
import type { MessageId } from '../../../src/kernel/index.js';
import { item, QueueSpec, SETTINGS } from '../../support/queue-spec.js';

const set = (parallelism: number, isPaused = false, name = 'q') =>
  ({ type: 'SetQueue', name, parallelism, isPaused }) as const;
const pause = (isPaused: boolean) => ({ type: 'PauseQueue', name: 'q', isPaused }) as const;
const inQ = (id: string, more = {}) => item(id, { queueName: 'q', retryDelay: '1000', ...more });

function lag(queue: QueueSpec): number | undefined {
  const reply = queue.ask({ type: 'GetQueue', name: 'q' });
  return reply.type === 'Queues' ? reply.queues[0]?.lag : undefined;
}

describe('queue: named queues', () => {
  it('the first message creates a missing queue with parallelism 1', () => {
    const queue = new QueueSpec();
    queue.publish(inQ('a'));
    expect(queue.news()).to.deep.equal(['queue q set, 1', 'accepted a']);
    expect(lag(queue)).to.equal(1);
  });

  it('a queue delivers in order, one message after the other, and waits for retries', () => {
    const queue = new QueueSpec();
    queue.publish(inQ('a'), inQ('b'));
    queue.work();
    queue.outcome('a', 500);
    queue.skipEvents().pass(999);
    expect(queue.news()).to.deep.equal([]);
    queue.pass(1);
    expect(queue.news()).to.deep.equal(['started a, retry 1']);
    queue.outcome('a', 200);
    queue.skipEvents().work();
    expect(queue.news()).to.deep.equal(['started b']);
  });

  it('a message keeps its place until its callbacks have ended', () => {
    const callback = { url: 'https://cb.example/', settings: SETTINGS };
    const queue = new QueueSpec();
    queue.publish(inQ('a', { callback }), inQ('b'));
    queue.work();
    queue.skipEvents().outcome('a', 200);
    queue.work();
    const [accepted = ''] = queue.news();
    const id = accepted.replace('accepted ', '');
    expect(queue.engine.attemptOf(id as MessageId)?.envelope.url).to.equal('https://cb.example/');
    queue.outcome(id, 200);
    queue.skipEvents().work();
    expect(queue.news()).to.deep.equal(['started b']);
  });

  it('a retried message keeps its place when its callback ends first, also across a crash', () => {
    const callback = { url: 'https://cb.example/', settings: SETTINGS };
    const before = new QueueSpec();
    before.publish(inQ('a', { callback }), inQ('b'));
    before.work();
    before.skipEvents().outcome('a', 500);
    const id = (before.news()[0] ?? '').replace('accepted ', '');
    before.work();
    for (const queue of [before.replayed(), before.rebuilt(), before]) {
      queue.work();
      queue.outcome(id, 200);
      queue.skipEvents().work();
      expect(queue.news()).to.deep.equal([]);
      queue.pass(1000);
      expect(queue.news()).to.deep.equal(['started a, retry 1']);
    }
  });

  it('a queue delivers as many messages together as its parallelism, starting in order', () => {
    const queue = new QueueSpec();
    queue.ask(set(2));
    queue.publish(inQ('a'), inQ('b'), inQ('c'));
    queue.work();
    queue.skipEvents().outcome('b', 200);
    queue.work();
    expect(queue.news()).to.deep.equal(['delivered b', 'started c']);
  });

  it('a due retry starts while the line waits for a place', () => {
    const queue = new QueueSpec();
    queue.publish(inQ('early', { delaySeconds: 1 }), inQ('a'));
    queue.work();
    queue.outcome('a', 500);
    queue.skipEvents().pass(1000);
    expect(queue.news()).to.deep.equal(['started a, retry 1']);
    queue.outcome('a', 200);
    queue.skipEvents().work();
    expect(queue.news()).to.deep.equal(['started early']);
  });

  it('a paused queue accepts messages, and resumes with the earliest', () => {
    const queue = new QueueSpec();
    queue.ask(set(1, true));
    queue.publish(inQ('a'), inQ('b'));
    expect(queue.work()).to.equal(0);
    expect(lag(queue)).to.equal(2);
    queue.skipEvents().ask(pause(false));
    queue.work();
    expect(queue.news()).to.deep.equal(['queue q set, 1', 'started a']);
  });

  it('a paused queue delivers no retries', () => {
    const queue = new QueueSpec();
    queue.publish(inQ('a'));
    queue.work();
    queue.outcome('a', 500);
    queue.ask(pause(true));
    queue.skipEvents().pass(5000);
    expect(queue.news()).to.deep.equal([]);
    queue.ask(pause(false));
    queue.skipEvents().work();
    expect(queue.news()).to.deep.equal(['started a, retry 1']);
  });

  it('SetQueue with the present values records no event', () => {
    const queue = new QueueSpec();
    queue.ask(set(2));
    queue.skipEvents().ask(set(2));
    queue.ask(pause(false));
    expect(queue.news()).to.deep.equal([]);
  });

  it('SetQueue is refused above maxQueues and maxParallelism, but an existing queue may change', () => {
    const queue = new QueueSpec().limit({ maxQueues: 1, maxParallelism: 3 });
    queue.ask(set(3));
    expect(queue.ask(set(4))).to.include({ reason: 'TOO_MANY' });
    expect(queue.ask(set(1, false, 'other'))).to.include({ reason: 'TOO_MANY' });
    expect(queue.publish(item('a', { queueName: 'other' }))).to.include({ reason: 'TOO_MANY' });
    expect(queue.ask(set(1))).to.deep.equal({ type: 'Done' });
  });

  it('GetQueue of an unknown queue is NOT_FOUND, and DeleteQueue of it succeeds', () => {
    const queue = new QueueSpec();
    expect(queue.ask({ type: 'GetQueue', name: 'q' })).to.include({ reason: 'NOT_FOUND' });
    expect(queue.ask(pause(true))).to.include({ reason: 'NOT_FOUND' });
    expect(queue.ask({ type: 'DeleteQueue', name: 'q' })).to.deep.equal({ type: 'Done' });
  });

  it('DeleteQueue cancels waiting messages immediately, and the one in flight with its outcome', () => {
    const queue = new QueueSpec();
    queue.publish(inQ('a'), inQ('b'), item('other'));
    queue.work();
    queue.skipEvents().ask({ type: 'DeleteQueue', name: 'q' });
    expect(queue.news().sort()).to.deep.equal([
      'QueueDeleted',
      'cancel requested a',
      'cancel requested b',
      'cancelled b',
    ]);
    queue.outcome('a', 500);
    expect(queue.news()).to.deep.equal(['failed a, for good', 'cancelled a']);
    expect(queue.engine.attemptOf(item('other').id)?.id).to.equal('other');
  });

  it('DeleteQueue with ifEmpty removes a queue whose messages have ended, and leaves one with messages', () => {
    const queue = new QueueSpec();
    queue.publish(inQ('a'));
    queue.work();
    queue.skipEvents().ask({ type: 'DeleteQueue', name: 'q', ifEmpty: true });
    expect(queue.news()).to.deep.equal([]);
    queue.outcome('a', 200);
    queue.skipEvents().ask({ type: 'DeleteQueue', name: 'q', ifEmpty: true });
    expect(queue.news()).to.deep.equal(['QueueDeleted']);
  });

  it('order and places survive a crash', () => {
    const before = new QueueSpec();
    before.publish(inQ('a'), inQ('b'), inQ('c'));
    before.work();
    before.outcome('a', 500);
    for (const after of [before.replayed(), before.rebuilt()]) {
      after.pass(1000);
      expect(after.news()).to.deep.equal(['started a, retry 1']);
      after.outcome('a', 200);
      after.skipEvents().work();
      expect(after.news()).to.deep.equal(['started b']);
    }
  });
});
