/** Proves HR1, HE1–HE3. */
import { expect } from 'chai';
import type { QueueReply } from '../../../src/domain/queue/index.js';
import type { DlqId, MessageId, ScheduleId } from '../../../src/kernel/index.js';
import { groupItem, item, QueueSpec, response, SETTINGS } from '../../support/queue-spec.js';

const DAY = { delaySeconds: 24 * 3600 };
const FEW = 3;

function refusal(reply: QueueReply): string {
  return reply.type === 'Rejected' ? `${reply.reason}: ${reply.message}` : reply.type;
}

const NONE = { headers: [], query: [] };
const byId = (dlqId: DlqId | undefined) => ({ kind: 'ids', dlqIds: [dlqId as DlqId] }) as const;

function dlqIds(queue: QueueSpec): DlqId[] {
  return [...queue.engine.rebuildingEvents()].flatMap((event) =>
    event.type === 'DlqRestored' ? [event.entry.dlqId] : [],
  );
}

const TOO_MANY = `FULL: too many messages are waiting, current limit: ${FEW}`;

/** A queue with as many messages as its bound allows. */
function full(): QueueSpec {
  const queue = new QueueSpec().bound({ messages: FEW });
  for (let n = 0; n < FEW; n += 1) queue.publish(item(`m${n}`, { ...DAY, maxRetries: 0 }));
  return queue.skipEvents();
}

function withGroup(queue: QueueSpec, count: number): QueueSpec {
  const endpoints = Array.from({ length: count }, (_, at) => ({ url: `https://e${at}.example/`, name: undefined }));
  queue.ask({ type: 'UpsertEndpoints', group: 'team', endpoints });
  return queue.skipEvents();
}

const schedule = (id: string, body: string) =>
  ({
    type: 'SetSchedule',
    schedule: {
      id: id as ScheduleId,
      cron: '* * * * *',
      destination: { kind: 'url', url: 'https://tick.example/', settings: SETTINGS },
      queueName: undefined,
      body: Buffer.from(body),
      callerIp: '192.0.2.2',
      isAlias: false,
    },
  }) as const;

describe("queue: the bounds of an account's holdings", () => {
  describe('counted in messages', () => {
    it('Publish above the bound is refused as a whole', () => {
      const queue = full();
      expect(queue.held.messages).to.equal(FEW);
      expect(refusal(queue.publish(item('one more', DAY)))).to.equal(TOO_MANY);
      expect(queue.news()).to.deep.equal([]);
    });

    it('the bound counts each message of a batch and of a group, and none of a refused call is accepted', () => {
      const queue = withGroup(new QueueSpec().bound({ messages: FEW }), FEW);
      expect(refusal(queue.publish(item('a'), item('b'), item('c'), item('d')))).to.equal(TOO_MANY);
      expect(refusal(queue.publish(item('a'), groupItem('g', 'team')))).to.equal(TOO_MANY);
      expect(queue.held.messages).to.equal(0);
      expect(queue.publish(groupItem('g', 'team')).type).to.equal('Published');
      expect(queue.held.messages).to.equal(FEW);
    });

    it('the bound applies to enqueued messages', () => {
      const queue = full();
      expect(refusal(queue.publish(item('q', { queueName: 'line' })))).to.equal(TOO_MANY);
      expect(queue.ask({ type: 'ListQueues' })).to.deep.equal({ type: 'Queues', queues: [] });
    });

    it('repeated ids and duplicates are not refused', () => {
      const queue = new QueueSpec().bound({ messages: 1 });
      const one = item('a', { ...DAY, deduplication: { id: 'x' } });
      queue.publish(one);
      expect(queue.publish(one).type).to.equal('Published');
      const again = queue.publish({ ...one, id: 'b' as MessageId });
      expect(again).to.have.nested.property('results[0].isDuplicate', true);
    });

    it('items that the intake acknowledged are accepted above the bound', () => {
      const queue = full();
      queue.ask({ type: 'TakeIntake', records: [{ position: 1, items: [item('told', DAY)] }] });
      expect(queue.held.messages).to.equal(FEW + 1);
    });

    it('accepted messages are delivered while publishes are refused, and free room as they end', () => {
      const queue = full();
      queue.pass(24 * 3600 * 1000);
      expect(queue.news()).to.deep.equal(['started m0', 'started m1', 'started m2']);
      expect(refusal(queue.publish(item('n')))).to.equal(TOO_MANY);
      queue.outcome('m1', 200);
      expect(queue.publish(item('n')).type).to.equal('Published');
      expect(refusal(queue.publish(item('o')))).to.equal(TOO_MANY);
    });

    it('an account that was full and then idle has room again', () => {
      const queue = full();
      queue.pass(24 * 3600 * 1000);
      for (const id of ['m0', 'm1', 'm2']) queue.outcome(id, 200);
      expect(queue.held.messages).to.equal(0);
      expect(queue.held.bytes).to.equal(0);
    });

    it('DLQ entries count, because they may be retried', () => {
      const queue = full();
      queue.pass(24 * 3600 * 1000);
      for (const id of ['m0', 'm1', 'm2']) queue.outcome(id, 500);
      expect(refusal(queue.publish(item('n')))).to.equal(TOO_MANY);
      const [first, second] = dlqIds(queue);
      const retried = queue.ask({
        type: 'RetryDlq',
        selector: byId(first),
        firstId: 'again' as MessageId,
        overrides: NONE,
      });
      expect(retried.type).to.equal('DlqRetried');
      expect(queue.held.messages).to.equal(FEW);
      queue.ask({ type: 'DeleteDlq', selector: byId(second) });
      expect(queue.publish(item('n', DAY)).type).to.equal('Published');
    });

    it('callbacks and retries may exceed the bound', () => {
      const callback = { url: 'https://cb.example/', settings: SETTINGS };
      const queue = new QueueSpec().bound({ messages: 1 });
      queue.publish(item('a', { callback, maxRetries: 1 }));
      queue.work();
      queue.bound({ messages: 0 });
      queue.outcome('a', 500);
      queue.pass(3600 * 1000);
      queue.outcome('a', 200);
      expect(queue.held.messages, 'a callback for each attempt').to.equal(2);
      expect(queue.news().at(-1)).to.match(/^delivered a/);
    });

    it('ticks of schedules are skipped with the reason full', () => {
      const queue = new QueueSpec().bound({ messages: 1 });
      queue.ask(schedule('s', 'tick'));
      queue.pass(60_000);
      expect(queue.held.messages).to.equal(1);
      queue.pass(60_000);
      expect(queue.held.messages).to.equal(1);
      expect(queue.journal.at(-1)).to.include({ type: 'ScheduleSkipped', reason: 'full' });
      queue.bound({ messages: 2 }).pass(60_000);
      expect(queue.held.messages).to.equal(2);
    });
  });

  describe('counted in bytes', () => {
    const body = 'x'.repeat(1000);

    it('Publish is refused one byte above the bound of bodies and headers', () => {
      const queue = new QueueSpec();
      queue.publish(item('a', { ...DAY, body }));
      const { bytes } = queue.held;
      expect(bytes).to.be.within(1000 + 50, 1000 + 120);
      queue.bound({ bytes: 2 * bytes });
      expect(refusal(queue.publish(item('b', { ...DAY, body: `${body}x` })))).to.equal(
        `FULL: the messages that are waiting are too large, current limit: ${2 * bytes} bytes`,
      );
      expect(queue.publish(item('b', { ...DAY, body })).type).to.equal('Published');
      expect(queue.held.bytes).to.equal(2 * bytes);
    });

    it('headers, labels and callbacks count for every message', () => {
      const bytesOf = (options: Parameters<typeof item>[1]) => {
        const queue = new QueueSpec();
        queue.publish(item('a', { ...DAY, ...options }), item('b', { ...DAY, ...options }));
        return queue.held.bytes;
      };
      const plain = bytesOf({});
      expect(bytesOf({ header: [['X-A', body]] })).to.be.within(plain + 2000, plain + 2040);
      expect(bytesOf({ labels: [body] })).to.be.within(plain + 2000, plain + 2040);
      const callback = { url: 'https://cb.example/', settings: { ...SETTINGS, header: [['X-A', body]] as const } };
      expect(bytesOf({ callback })).to.be.within(plain + 2000, plain + 2200);
    });

    it('a shared body counts once', () => {
      const queue = withGroup(new QueueSpec(), 10);
      queue.publish({ ...groupItem('g', 'team'), body: Buffer.from(body) });
      expect(queue.held.messages).to.equal(10);
      expect(queue.held.bytes).to.be.within(1000, 2500);
    });

    it('schedules count with their bodies; replacing one frees its bytes', () => {
      const queue = new QueueSpec();
      queue.ask(schedule('s', body));
      const { bytes } = queue.held;
      expect(bytes).to.be.within(1000, 1200);
      queue.bound({ bytes: bytes + 100 });
      expect(refusal(queue.ask(schedule('t', body)))).to.match(/^FULL/);
      expect(queue.ask(schedule('s', `${body}${'x'.repeat(100)}`)).type).to.equal('ScheduleSet');
      expect(refusal(queue.ask(schedule('s', `${body}${'x'.repeat(101)}`)))).to.match(/^FULL/);
      queue.ask({ type: 'DeleteSchedule', id: 's' as ScheduleId });
      expect(queue.held.bytes).to.equal(0);
      expect(queue.ask(schedule('t', body)).type).to.equal('ScheduleSet');
    });

    it('groups count with endpoints and defaults; a smaller group frees bytes', () => {
      const queue = new QueueSpec();
      const set = (count: number) => {
        const endpoints = Array.from({ length: count }, (_, at) => ({
          url: `https://e${at}.example/${'x'.repeat(80)}`,
          name: undefined,
        }));
        return { type: 'UpsertEndpoints', group: 'team', endpoints } as const;
      };
      queue.ask(set(10));
      const { bytes } = queue.held;
      expect(bytes).to.be.within(1000, 1100);
      queue.bound({ bytes });
      expect(refusal(queue.ask(set(11)))).to.match(/^FULL/);
      const defaults = [['svc-retries', '3']] as const;
      expect(refusal(queue.ask({ type: 'SetGroupDefaults', group: 'team', defaults }))).to.match(/^FULL/);
      queue.ask({ type: 'RemoveEndpoints', group: 'team', endpoints: set(1).endpoints });
      expect(queue.ask({ type: 'SetGroupDefaults', group: 'team', defaults }).type).to.equal('Done');
      queue.ask({ type: 'DeleteGroup', group: 'team' });
      expect(queue.held.bytes).to.equal(0);
    });

    it('the last response of a dead-lettered message counts', () => {
      const queue = new QueueSpec();
      queue.publish(item('a', { maxRetries: 0, body: '' }));
      queue.work();
      const { bytes } = queue.held;
      queue.outcome('a', response(500, [['X-A', body]], body));
      expect(queue.held.bytes).to.be.within(bytes + 2000, bytes + 2040);
      queue.ask({ type: 'DeleteDlq', selector: byId(dlqIds(queue)[0]) });
      expect(queue.held).to.include({ messages: 0, bytes: 0 });
    });
  });

  describe('counted in memory', () => {
    const REFUSED = 'FULL: the server has no room for more waiting messages';

    it('Publish is refused above the bound', () => {
      const queue = new QueueSpec();
      queue.publish(item('a', DAY));
      queue.bound({ memoryBytes: queue.held.memoryBytes });
      expect(refusal(queue.publish(item('b', DAY)))).to.equal(REFUSED);
    });

    it('messages with equal envelopes take little memory, different ones more, and bodies none', () => {
      const memoryOf = (options: (n: number) => Parameters<typeof item>[1]) => {
        const queue = new QueueSpec();
        for (let n = 0; n < 100; n += 1) queue.publish(item(`m${n}`, { ...DAY, ...options(n) }));
        return queue.held.memoryBytes / 100;
      };
      const alike = memoryOf(() => ({}));
      expect(alike).to.be.within(130, 160);
      expect(memoryOf(() => ({ body: 'x'.repeat(10_000) }))).to.equal(alike);
      expect(memoryOf((n) => ({ url: `https://a.example/${n}` }))).to.be.within(alike + 600, alike + 900);
      const header = (n: number) => [['X-A', `${n}${'x'.repeat(1000)}`]] as const;
      expect(memoryOf((n) => ({ header: header(n) }))).to.be.within(alike + 2600, alike + 3100);
      expect(memoryOf((n) => ({ deduplication: { id: `d${n}` } }))).to.be.within(alike + 150, alike + 200);
    });

    it('expired ids stop counting even without further events', () => {
      const queue = new QueueSpec();
      queue.publish(item('a', { deduplication: { id: 'd' } }));
      queue.work();
      queue.outcome('a', 200);
      expect(queue.held.memoryBytes).to.be.greaterThan(0);
      queue.nowMs += 15 * 60_000;
      expect(queue.held.memoryBytes).to.equal(0);
    });

    it('headers in the overrides of RetryDlq count', () => {
      const queue = new QueueSpec();
      queue.publish(item('a', { maxRetries: 0 }));
      queue.work();
      queue.outcome('a', 500);
      queue.bound({ memoryBytes: queue.held.memoryBytes });
      const overrides = { headers: [['svc-forward-x', 'y']] as const, query: [] };
      const selector = byId(dlqIds(queue)[0]);
      const asked = { type: 'RetryDlq', selector, firstId: 'again' as MessageId } as const;
      expect(refusal(queue.ask({ ...asked, overrides }))).to.equal(REFUSED);
      expect(queue.ask({ ...asked, overrides: NONE }).type).to.equal('DlqRetried');
    });
  });

  it('the counts are equal after a crash and from a snapshot', () => {
    const queue = withGroup(new QueueSpec(), 2);
    queue.publish(item('a', DAY), item('b', { ...DAY, url: 'https://b.example/' }), groupItem('g', 'team'));
    queue.publish(item('c', { maxRetries: 0 }), item('d', { deduplication: { id: 'd' } }));
    queue.ask(schedule('s', 'tick'));
    queue.work();
    queue.outcome('c', response(500, [['X-A', 'b']], 'answer'));
    queue.outcome('d', 200);
    expect(queue.replayed().held).to.deep.equal(queue.held);
    expect(queue.rebuilt().held).to.deep.equal(queue.held);
    const { messages } = queue.held;
    for (const copy of [queue.replayed(), queue.rebuilt()]) {
      expect(copy.bound({ messages }).publish(item('n')).type).to.equal('Rejected');
    }
  });
});
