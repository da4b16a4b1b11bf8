/** Proves OUT1–OUT3. */
import { expect } from 'chai';
import {
  ACCEPTED_IDS_MS,
  type OutboxCall,
  type PublishItem,
  type SequencedCall,
} from '../../../src/domain/queue/index.js';
import type { MessageId, RunId, ScheduleId } from '../../../src/kernel/index.js';
import { groupItem, item, QueueSpec } from '../../support/queue-spec.js';

const SOURCE = 'kv:db-aaaaaaaaaaaaaaaa:0';
const published = (sequence: number, message: PublishItem): SequencedCall => ({
  sequence,
  call: { kind: 'publish', item: message },
});
const { destination } = item('s');
const REPORT: OutboxCall = {
  kind: 'schedule',
  schedule: {
    id: 'report' as ScheduleId,
    cron: '0 8 * * *',
    destination,
    queueName: undefined,
    body: Buffer.from('tick'),
    callerIp: '',
    isAlias: false,
  },
};
const PAID: OutboxCall = {
  kind: 'notify',
  eventId: 'paid',
  runId: undefined as RunId | undefined,
  firstId: 'e' as MessageId,
  content: Buffer.from('{}'),
};

function take(queue: QueueSpec, ...records: SequencedCall[]) {
  return queue.ask({ type: 'TakeOutbox', source: SOURCE, records });
}

describe('queue: TakeOutbox', () => {
  it('accepts publishes together, in order, and answers the last sequence', () => {
    const queue = new QueueSpec();
    const reply = take(queue, published(4, item('a')), published(9, item('b', { queueName: 'q' })));
    expect(reply).to.deep.equal({ type: 'OutboxTaken', sequence: 9 });
    expect(queue.news()).to.deep.equal(['accepted a', 'queue q set, 1', 'accepted b', 'OutboxTaken']);
  });

  it('without records answers the last sequence, and moves it forward to upTo', () => {
    const queue = new QueueSpec();
    take(queue, published(4, item('a')));
    queue.skipEvents();
    const ask = (upTo?: number) => queue.ask({ type: 'TakeOutbox', source: SOURCE, records: [], upTo });
    expect(ask()).to.deep.equal({ type: 'OutboxTaken', sequence: 4 });
    expect(ask(3)).to.deep.equal({ type: 'OutboxTaken', sequence: 4 });
    expect(queue.news()).to.deep.equal([]);
    expect(ask(12)).to.deep.equal({ type: 'OutboxTaken', sequence: 12 });
    expect(queue.news()).to.deep.equal(['OutboxTaken']);
    expect(take(queue.replayed(), published(9, item('b')))).to.deep.equal({ type: 'OutboxTaken', sequence: 12 });
  });

  it('skips records that were accepted before, however old, live, after a replay and from a snapshot (OUT1)', () => {
    const queue = new QueueSpec();
    take(queue, published(4, item('a')), published(9, item('b')));
    queue.skipEvents();
    for (const copy of [queue, queue.replayed(), queue.rebuilt()]) {
      copy.nowMs += 10 * ACCEPTED_IDS_MS;
      expect(take(copy, published(4, item('a')), published(9, item('b')))).to.deep.equal({
        type: 'OutboxTaken',
        sequence: 9,
      });
      expect(copy.news()).to.deep.equal([]);
      take(copy, published(9, item('b')), published(11, item('c')));
      expect(copy.news()).to.deep.equal(['accepted c', 'OutboxTaken']);
    }
  });

  it('knows each source by itself', () => {
    const queue = new QueueSpec();
    take(queue, published(9, item('a')));
    queue.skipEvents();
    queue.ask({ type: 'TakeOutbox', source: 'kv:db-bbbbbbbbbbbbbbbb:0', records: [published(4, item('b'))] });
    expect(queue.news()).to.deep.equal(['accepted b', 'OutboxTaken']);
  });

  it('takes publishes up to a schedule or an event, and each of those alone (OUT2)', () => {
    const queue = new QueueSpec();
    const records = [published(1, item('a')), { sequence: 2, call: REPORT }, { sequence: 3, call: PAID }];
    expect(take(queue, ...records)).to.include({ sequence: 1 });
    expect(take(queue, ...records)).to.include({ sequence: 2 });
    expect(take(queue, ...records)).to.include({ sequence: 3 });
    expect(queue.news()).to.deep.equal(['accepted a', 'OutboxTaken', 'ScheduleSet', 'OutboxTaken', 'OutboxTaken']);
  });

  it('takes more than one step for many messages, with their sequence in the same decision (OUT1)', () => {
    const queue = new QueueSpec();
    const records = Array.from({ length: 250 }, (_, at) => published(at + 1, item(`m${at}`, { delaySeconds: 60 })));
    expect(take(queue, ...records)).to.include({ type: 'OutboxTaken', sequence: 250 });
    expect(queue.news().at(-1)).to.equal('OutboxTaken');
  });

  it('refuses for the moment a message that a suspended or full account cannot take, without an event (OUT3)', () => {
    const queue = new QueueSpec().suspend();
    expect(take(queue, published(1, item('a')))).to.include({ type: 'Rejected', reason: 'SUSPENDED' });
    const limited = new QueueSpec().limit({ maxMessagesPerDayHard: 1 });
    expect(take(limited, published(1, item('a')), published(2, item('b')))).to.include({ reason: 'DAILY_LIMIT' });
    expect([...queue.news(), ...limited.news()]).to.deep.equal([]);
    expect(take(limited, published(1, item('a')))).to.include({ sequence: 1 });
  });

  it('makes a DLQ entry of a message to a missing group, with its body (OUT3)', () => {
    const queue = new QueueSpec();
    expect(take(queue, published(1, groupItem('a', 'nobody')), published(2, item('b')))).to.include({
      type: 'Rejected',
      reason: 'INVALID',
    });
    expect(take(queue, published(1, groupItem('a', 'nobody')))).to.include({ type: 'OutboxTaken', sequence: 1 });
    const [entry] = [...queue.engine.rebuildingEvents()].flatMap((event) =>
      event.type === 'DlqRestored' ? [event.entry] : [],
    );
    expect(entry?.envelope.topicName).to.equal('nobody');
    expect(entry?.response.error).to.contain('invalid destination url');
    expect(queue.rebuilt().digest()).to.equal(queue.digest());
  });

  it('makes a DLQ entry of a schedule above the limit of schedules (OUT3)', () => {
    const queue = new QueueSpec().limit({ maxSchedules: 0 });
    expect(take(queue, { sequence: 1, call: REPORT })).to.include({ type: 'OutboxTaken' });
    expect(queue.journal.map(({ type }) => type)).to.include('MessageDeadLettered');
  });
});
