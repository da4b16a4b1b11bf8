/** The first actions of an owner that takes over from a killed one. */
import { expect } from 'chai';
import { item, QueueSpec } from '../../support/queue-spec.js';

describe('queue: after a crash', () => {
  it('a message that was delivered a moment ago is not sent again', () => {
    const queue = new QueueSpec();
    queue.publish(item('a'), item('b'));
    queue.work();
    queue.outcome('a', 200);
    const successor = queue.replayed();
    successor.work();
    expect(successor.news()).to.deep.equal(['started b, restart 1']);
    expect(successor.ask({ type: 'GetMessage', id: 'a' as never }).type).to.equal('Message');
  });

  it('open attempts are repeated with the same retry number', () => {
    const queue = new QueueSpec();
    queue.publish(item('a', { retryDelay: '0' }));
    queue.work();
    queue.outcome('a', 500);
    queue.work();
    const successor = queue.replayed();
    successor.work();
    expect(successor.news()).to.deep.equal(['started a, retry 1, restart 1']);
  });

  it('messages that fell due during a downtime start gradually', () => {
    const queue = new QueueSpec();
    queue.publish(...Array.from({ length: 100 }, (_, i) => item(`m${i}`, { delaySeconds: 1 })));
    queue.nowMs += 3_600_000;
    const successor = queue.replayed();
    successor.work();
    expect(successor.news()).to.have.length.below(5);
    successor.pass(100);
    expect(successor.news().length).to.be.greaterThan(90);
  });
});
