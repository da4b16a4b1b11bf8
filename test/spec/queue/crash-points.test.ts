/**
 * Crash points that need no killed process: the successor is another engine on the same journal. The others are in
 * test/chaos/queue-crash-points.test.ts.
 */
import { expect } from 'chai';
import type { QueueCommand } from '../../../src/domain/queue/index.js';
import type { DlqId, MessageId } from '../../../src/kernel/index.js';
import { groupItem, item, QueueSpec } from '../../support/queue-spec.js';

const NO_OVERRIDES = { headers: [], query: [] };

/** A queue with a message in the DLQ, and the id of its DLQ entry. */
function withDeadLetter(): { queue: QueueSpec; dlqId: DlqId } {
  const queue = new QueueSpec();
  queue.publish(item('a', { maxRetries: 0 }));
  queue.work();
  queue.outcome('a', 500);
  const event = queue.journal.find(({ type }) => type === 'MessageDeadLettered');
  return { queue: queue.skipEvents(), dlqId: (event as { dlqId: DlqId }).dlqId };
}

describe('queue: a crash', () => {
  it('after a failed attempt keeps the time of its retry', () => {
    const queue = new QueueSpec();
    queue.publish(item('a', { retryDelay: '5000' }));
    queue.work();
    queue.outcome('a', 500);
    for (const successor of [queue.replayed(), queue.rebuilt()]) {
      successor.pass(4999);
      expect(successor.news()).to.deep.equal([]);
      successor.pass(1);
      expect(successor.news()).to.deep.equal(['started a, retry 1']);
    }
  });

  it('after RetryDlq does not make a second message when the command is repeated', () => {
    const { queue, dlqId } = withDeadLetter();
    const firstId = 'again' as MessageId;
    const selector = { kind: 'ids', dlqIds: [dlqId] } as const;
    const command: QueueCommand = { type: 'RetryDlq', selector, firstId, overrides: NO_OVERRIDES };
    const first = queue.ask(command);
    expect(first.type).to.equal('DlqRetried');
    for (const successor of [queue.replayed(), queue.rebuilt()]) {
      expect(successor.ask(command)).to.deep.equal(first);
      expect(successor.ask({ ...command, firstId: 'other' as MessageId })).to.include({ reason: 'NOT_FOUND' });
      expect(successor.news()).to.deep.equal([]);
    }
  });

  it('after DeleteDlq leaves no entry to delete', () => {
    const { queue, dlqId } = withDeadLetter();
    const command: QueueCommand = { type: 'DeleteDlq', selector: { kind: 'ids', dlqIds: [dlqId] } };
    expect(queue.ask(command)).to.include({ count: 1 });
    for (const successor of [queue.replayed(), queue.rebuilt()]) {
      expect(successor.ask(command)).to.include({ count: 0 });
      expect(successor.news()).to.deep.equal([]);
    }
  });

  it('after DeleteGroup lets messages in flight and waiting messages end', () => {
    const queue = new QueueSpec();
    const endpoints = [{ url: 'https://a.example/', name: undefined }];
    queue.ask({ type: 'UpsertEndpoints', group: 'g', endpoints });
    queue.publish(groupItem('a', 'g'), groupItem('b', 'g', [['svc-delay', '10s']]));
    queue.work();
    queue.ask({ type: 'DeleteGroup', group: 'g' });
    for (const successor of [queue.replayed(), queue.rebuilt()]) {
      successor.pass(10_000);
      expect(successor.news()).to.deep.equal(['started a, restart 1', 'started b']);
      successor.outcome('a', 200);
      successor.outcome('b', 200);
      expect(successor.news()).to.deep.equal(['delivered a', 'delivered b']);
    }
  });

  it('after DeleteQueue cancels the message in flight and keeps none', () => {
    const queue = new QueueSpec();
    queue.publish(item('a', { queueName: 'q' }), item('b', { queueName: 'q' }));
    queue.work();
    queue.ask({ type: 'DeleteQueue', name: 'q' });
    for (const successor of [queue.replayed(), queue.rebuilt()]) {
      successor.work();
      expect(successor.news()).to.deep.equal(['cancelled a']);
      expect(successor.ask({ type: 'GetMessage', id: 'a' as MessageId })).to.include({ reason: 'NOT_FOUND' });
    }
  });
});
