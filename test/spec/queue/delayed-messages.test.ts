/** Proves MSG2, RST1, RST2. */
import { expect } from 'chai';
import type { MessageId } from '../../../src/kernel/index.js';
import { item, QueueSpec } from '../../support/queue-spec.js';

const HOUR = { delaySeconds: 3600 };
const HOUR_MS = 3_600_000;
const OURS = 'msg_123456789ABCDEFGHJKLMNPQRSTU';

function statusOf(queue: QueueSpec, id: string): string {
  const reply = queue.ask({ type: 'GetMessage', id: id as MessageId });
  return reply.type === 'Message' ? reply.message.status : reply.type;
}

describe('queue: a message with a long delay', () => {
  it('counts about half the memory of one that is due soon', () => {
    const memoryOf = (delaySeconds: number) => {
      const queue = new QueueSpec();
      for (let n = 0; n < 100; n += 1) queue.publish(item(`m${n}`, { delaySeconds }));
      return queue.held.memoryBytes;
    };
    expect(memoryOf(60)).to.be.below(memoryOf(59) * 0.6);
  });

  it('counts its full memory as soon as it is due', () => {
    const queue = new QueueSpec();
    queue.publish(item('a', HOUR));
    const resting = queue.held.memoryBytes;
    queue.nowMs += HOUR_MS;
    queue.work(0);
    expect(queue.held.memoryBytes).to.be.greaterThan(resting + 100);
  });

  it('is shown, started in the order of due times, and cancelled like any other', () => {
    const queue = new QueueSpec();
    queue.publish(
      item(OURS, { delaySeconds: 3602 }),
      item('b', { delaySeconds: 3601 }),
      item('c', HOUR),
      item('d', HOUR),
    );
    expect(statusOf(queue, OURS)).to.equal('waiting');
    expect(statusOf(queue, 'x')).to.equal('Rejected');
    queue.ask({ type: 'CancelMessage', id: 'c' as MessageId });
    expect(statusOf(queue, 'c')).to.equal('Rejected');
    queue.skipEvents().pass(HOUR_MS - 1);
    expect(queue.news()).to.deep.equal([]);
    queue.pass(5000);
    expect(queue.news()).to.deep.equal(['started d', 'started b', `started ${OURS}`]);
    expect(statusOf(queue, OURS)).to.equal('active');
  });

  it('is cancelled by a matching filter', () => {
    const queue = new QueueSpec();
    queue.publish(item('a', HOUR), item('b', { delaySeconds: 1 }), item('c', HOUR));
    const selector = { kind: 'filter', filter: {}, count: undefined } as const;
    expect(queue.ask({ type: 'CancelMessages', selector })).to.deep.equal({ type: 'Cancelled', count: 3 });
    expect(queue.held).to.include({ messages: 0, bytes: 0 });
  });

  it('is not accepted twice', () => {
    const queue = new QueueSpec();
    queue.publish(item('a', HOUR));
    const [accepted] = queue.journal;
    expect(() => queue.engine.evolve(accepted as NonNullable<typeof accepted>)).to.throw('rests twice');
  });

  it('releases its body from memory when it waits ten minutes or longer', () => {
    const queue = new QueueSpec();
    queue.publish(item('a', { delaySeconds: 599 }), item('b', { delaySeconds: 600 }), item('c', { body: '', ...HOUR }));
    expect(queue.shelf.rested).to.deep.equal([2]);
  });

  it('starts gradually when it fell due during a downtime', () => {
    const queue = new QueueSpec();
    queue.publish(...Array.from({ length: 100 }, (_, i) => item(`m${i}`, HOUR)));
    queue.nowMs += 2 * HOUR_MS;
    const successor = queue.replayed();
    successor.work();
    expect(successor.news()).to.have.length.below(5);
    successor.pass(100);
    expect(successor.news().length).to.be.greaterThan(90);
  });
});
