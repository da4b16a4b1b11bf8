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

describe('queue: cancelling', () => {
  it('takes a waiting message away at once', () => {
    const queue = new QueueSpec();
    queue.publish(later('a'));
    queue.forgetNews();
    expect(queue.ask(one('a'))).to.deep.equal(cancelled(1));
    expect(queue.news()).to.deep.equal(['cancel requested a', 'cancelled a']);
    expect(queue.ask({ type: 'GetMessage', id: item('a').id })).to.include({ reason: 'NOT_FOUND' });
    queue.pass(120_000);
    expect(queue.news()).to.deep.equal([]);
  });

  it('ends one in flight with its attempt, without a retry and outside the DLQ', () => {
    const queue = new QueueSpec();
    queue.publish(item('a'));
    queue.work();
    queue.forgetNews();
    expect(queue.ask(one('a'))).to.deep.equal(cancelled(1));
    expect(queue.ask({ type: 'GetMessage', id: item('a').id })).to.include({ reason: 'NOT_FOUND' });
    queue.outcome('a', 500);
    expect(queue.news()).to.deep.equal(['cancel requested a', 'failed a, for good', 'cancelled a']);
  });

  it('takes a delivery for a delivery all the same', () => {
    const queue = new QueueSpec();
    queue.publish(item('a'));
    queue.work();
    queue.ask(one('a'));
    queue.forgetNews().outcome('a', 200);
    expect(queue.news()).to.deep.equal(['delivered a']);
  });

  it('does not make an interrupted attempt again that was to be cancelled', () => {
    const before = new QueueSpec();
    before.publish(item('a'));
    before.work();
    before.ask(one('a'));
    const after = before.replayed();
    after.work();
    expect(after.news()).to.deep.equal(['cancelled a']);
  });

  it('knows no message that was never there, or was cancelled before', () => {
    const queue = new QueueSpec();
    queue.publish(later('a'));
    queue.ask(one('a'));
    for (const id of ['a', 'nobody']) expect(queue.ask(one(id))).to.include({ reason: 'NOT_FOUND' });
  });

  it('answers one for a message that was delivered a moment ago', () => {
    const queue = new QueueSpec();
    queue.publish(item('a'));
    queue.work();
    queue.outcome('a', 200);
    queue.forgetNews();
    expect(queue.ask(one('a'))).to.deep.equal(cancelled(1));
    expect(queue.news()).to.deep.equal([]);
  });

  it('counts exactly', () => {
    const queue = new QueueSpec();
    queue.publish(later('a'), later('b'), later('c'));
    expect(queue.ask(ids('a', 'b', 'a', 'nobody'))).to.deep.equal(cancelled(2));
    expect(queue.ask(where({}))).to.deep.equal(cancelled(1));
    expect(queue.ask(where({}))).to.deep.equal(cancelled(0));
  });

  it('by filter means one of the values, of every criterion', () => {
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

  it('stops at the count that was asked for', () => {
    const queue = new QueueSpec();
    queue.publish(...Array.from({ length: 30 }, (_, at) => later(`m${at}`)));
    expect(queue.ask(where({}, 10))).to.deep.equal(cancelled(10));
    expect(queue.ask(where({}))).to.deep.equal(cancelled(20));
  });

  it('of very many goes in steps, and means those that were there when it began', () => {
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
