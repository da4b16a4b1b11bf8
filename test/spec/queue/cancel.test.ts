import { expect } from 'chai';
import type { MessageFilter, QueueReply } from '../../../src/domain/queue/index.js';
import type { MessageId } from '../../../src/kernel/index.js';
import { type ItemOptions, item, QueueSpec } from '../../support/queue-spec.js';

const later = (id: string, more: ItemOptions = {}) => item(id, { delaySeconds: 60, ...more });
const one = (id: string) => ({ type: 'CancelMessage', id: id as MessageId }) as const;
const ids = (...messageIds: string[]) =>
  ({ type: 'CancelMessages', selector: { kind: 'ids', messageIds: messageIds as MessageId[] } }) as const;
const where = (filter: MessageFilter, count?: number) =>
  ({ type: 'CancelMessages', selector: { kind: 'filter', filter, count } }) as const;
const cancelled = (count: number): QueueReply => ({ type: 'Cancelled', count });

describe('queue: CancelMessage and CancelMessages', () => {
  it('a waiting message leaves immediately', () => {
    const queue = new QueueSpec();
    queue.publish(later('a'));
    queue.skipEvents();
    expect(queue.ask(one('a'))).to.deep.equal(cancelled(1));
    expect(queue.news()).to.deep.equal(['cancel requested a', 'cancelled a']);
    expect(queue.ask({ type: 'GetMessage', id: item('a').id })).to.include({ reason: 'NOT_FOUND' });
    queue.pass(120_000);
    expect(queue.news()).to.deep.equal([]);
  });

  it('a message in flight ends with its attempt, without a retry and without a DLQ entry', () => {
    const queue = new QueueSpec();
    queue.publish(item('a'));
    queue.work();
    queue.skipEvents();
    expect(queue.ask(one('a'))).to.deep.equal(cancelled(1));
    expect(queue.ask({ type: 'GetMessage', id: item('a').id })).to.include({ reason: 'NOT_FOUND' });
    queue.outcome('a', 500);
    expect(queue.news()).to.deep.equal(['cancel requested a', 'failed a, for good', 'cancelled a']);
  });

  it('a message that is delivered in spite of the cancellation counts as delivered', () => {
    const queue = new QueueSpec();
    queue.publish(item('a'));
    queue.work();
    queue.ask(one('a'));
    queue.skipEvents().outcome('a', 200);
    expect(queue.news()).to.deep.equal(['delivered a']);
  });

  it('a cancelled attempt that a crash interrupted is not repeated', () => {
    const before = new QueueSpec();
    before.publish(item('a'));
    before.work();
    before.ask(one('a'));
    const after = before.replayed();
    after.work();
    expect(after.news()).to.deep.equal(['cancelled a']);
  });

  it('an unknown or already cancelled id is answered with NOT_FOUND', () => {
    const queue = new QueueSpec();
    queue.publish(later('a'));
    queue.ask(one('a'));
    for (const id of ['a', 'nobody']) expect(queue.ask(one(id))).to.include({ reason: 'NOT_FOUND' });
  });

  it('a message that was delivered a moment ago is answered as cancelled', () => {
    const queue = new QueueSpec();
    queue.publish(item('a'));
    queue.work();
    queue.outcome('a', 200);
    queue.skipEvents();
    expect(queue.ask(one('a'))).to.deep.equal(cancelled(1));
    expect(queue.news()).to.deep.equal([]);
  });

  it('the reply has the exact number of cancelled messages', () => {
    const queue = new QueueSpec();
    queue.publish(later('a'), later('b'), later('c'));
    expect(queue.ask(ids('a', 'b', 'a', 'nobody'))).to.deep.equal(cancelled(2));
    expect(queue.ask(where({}))).to.deep.equal(cancelled(1));
    expect(queue.ask(where({}))).to.deep.equal(cancelled(0));
  });

  it('a filter combines values of one criterion with OR and criteria with AND', () => {
    const queue = new QueueSpec();
    queue.publish(
      later('a', { labels: ['x'], url: 'https://one.example/p' }),
      later('b', { labels: ['y'], url: 'https://one.example/p' }),
      later('c', { labels: ['x'], url: 'https://two.example/p' }),
      later('d', { queueName: 'q', labels: ['z'] }),
    );
    expect(queue.ask(where({ label: ['x', 'y'], host: ['one.example'] }))).to.deep.equal(cancelled(2));
    expect(queue.ask(where({ queueName: ['q'] }))).to.deep.equal(cancelled(1));
    expect(queue.ask(where({ path: ['/p'] }))).to.deep.equal(cancelled(1));
  });

  it('count limits the number of cancelled messages', () => {
    const queue = new QueueSpec();
    queue.publish(...Array.from({ length: 30 }, (_, at) => later(`m${at}`)));
    expect(queue.ask(where({}, 10))).to.deep.equal(cancelled(10));
    expect(queue.ask(where({}))).to.deep.equal(cancelled(20));
  });

  it('cancelling many messages runs in steps, and leaves messages that came after its start', () => {
    const queue = new QueueSpec();
    for (let part = 0; part < 10; part += 1) {
      queue.publish(...Array.from({ length: 1500 }, (_, at) => later(`m${part} ${at}`)));
    }
    const running = queue.engine.execute(where({}), queue.context, (event) => queue.journal.push(event));
    expect('next' in running).to.equal(true);
    queue.publish(later('meanwhile'));
    if (!('next' in running)) return;
    let step = running.next();
    while (step.done !== true) step = running.next();
    expect(step.value).to.deep.equal(cancelled(15_000));
    expect(queue.ask(one('meanwhile'))).to.deep.equal(cancelled(1));
  });
});
