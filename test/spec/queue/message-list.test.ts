/** Proves LST1. */
import { expect } from 'chai';
import type { MessageFilter, PendingState, QueueCommandOf, QueueReplyOf } from '../../../src/domain/queue/index.js';
import type { MessageId } from '../../../src/kernel/index.js';
import { item, QueueSpec } from '../../support/queue-spec.js';

type Wanted = Partial<Omit<QueueCommandOf<'ListMessages'>, 'type'>>;
type Page = QueueReplyOf<'Messages'>;

const listOf = (wanted: Wanted): QueueCommandOf<'ListMessages'> => ({
  type: 'ListMessages',
  filter: {},
  states: [],
  order: 'earliestFirst',
  count: 100,
  after: undefined,
  ...wanted,
});

function pageOf(queue: QueueSpec, wanted: Wanted = {}): Page {
  return queue.ask(listOf(wanted)) as Page;
}

const idsOf = ({ messages }: Page) => messages.map(({ id }) => id);

/**
 * One message in each state: `s` is not due, `w` waits for its turn in a queue, `d` is at its destination, `r` failed
 * once.
 */
function oneInEach(): QueueSpec {
  const queue = new QueueSpec();
  queue.ask({ type: 'SetQueue', name: 'q', parallelism: 1, isPaused: false });
  queue.publish(item('r', { maxRetries: 3 }));
  queue.work();
  queue.outcome('r', 500);
  queue.publish(item('d', { queueName: 'q' }), item('w', { queueName: 'q' }), item('s', { delaySeconds: 3600 }));
  queue.work();
  return queue;
}

describe('queue: ListMessages', () => {
  it('distinguishes and counts the states SCHEDULED, WAITING, DELIVERING and RETRYING', () => {
    const queue = oneInEach();
    const page = pageOf(queue);
    expect(page.messages.map(({ id, state }) => [id, state])).to.deep.equal([
      ['r', 'RETRYING'],
      ['d', 'DELIVERING'],
      ['w', 'WAITING'],
      ['s', 'SCHEDULED'],
    ]);
    expect(page.counts).to.deep.equal([1, 1, 1, 1]);
    expect(page.messages[3]).to.include({ dueAtMs: queue.nowMs + 3_600_000, retried: 0 });
    expect(page.messages[0]).to.include({ retried: 1 });
  });

  it('filters by state and filter; the counts include all states', () => {
    const queue = oneInEach();
    const states: PendingState[] = ['WAITING', 'DELIVERING'];
    const filter: MessageFilter = { queueName: ['q'] };
    expect(idsOf(pageOf(queue, { states }))).to.deep.equal(['d', 'w']);
    expect(pageOf(queue, { filter, states: ['WAITING'] })).to.deep.include({ counts: [0, 1, 1, 0] });
    expect(idsOf(pageOf(queue, { filter: { label: ['nobody has it'] } }))).to.deep.equal([]);
  });

  it('leaves out delivered and cancelled messages, and those of runs', () => {
    const queue = oneInEach();
    queue.outcome('d', 200);
    queue.ask({ type: 'CancelMessage', id: 's' as MessageId });
    expect(idsOf(pageOf(queue))).to.deep.equal(['r', 'w']);
  });

  for (const order of ['earliestFirst', 'latestFirst'] as const) {
    it(`shows each message on one page, ${order}, while others come and go`, () => {
      const queue = new QueueSpec();
      const all = Array.from({ length: 25 }, (_, at) => `m${at}`);
      queue.publish(...all.map((id, at) => item(id, { delaySeconds: at % 2 === 0 ? 3600 : 30 })));
      const seen: string[] = [];
      let page = pageOf(queue, { order, count: 7 });
      seen.push(...idsOf(page));
      queue.publish(item('new', { delaySeconds: 30 }));
      queue.ask({ type: 'CancelMessage', id: seen[0] as MessageId });
      while (page.after !== undefined) {
        page = pageOf(queue, { order, count: 7, after: page.after });
        seen.push(...idsOf(page));
      }
      expect(seen.filter((id) => id !== 'new')).to.deep.equal(order === 'earliestFirst' ? all : all.toReversed());
    });
  }

  it('scans many messages in steps, and leaves out one that ends in between', () => {
    const queue = new QueueSpec();
    for (let part = 0; part < 4; part += 1) {
      queue.publish(...Array.from({ length: 1500 }, (_, at) => item(`m${part} ${at}`, { delaySeconds: 3600 })));
    }
    const running = queue.engine.execute(listOf({ count: 2 }), queue.context, () => undefined);
    if (!('next' in running)) throw new Error('it is one step');
    let step = running.next();
    expect(step.done).to.equal(false);
    queue.ask({ type: 'CancelMessage', id: 'm0 0' as MessageId });
    while (step.done !== true) step = running.next();
    expect(idsOf(step.value as Page)).to.deep.equal(['m0 1']);
    expect((step.value as Page).counts).to.deep.equal([6000, 0, 0, 0]);
  });
});
