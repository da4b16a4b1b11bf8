/** Proves PRI1–PRI4: shares of classes of priority. */
import { expect } from 'chai';
import fc from 'fast-check';
import { PRIORITY_SHARES } from '../../../src/domain/queue/delivery/classed-messages.js';
import { PRIORITIES, type Priority, parseSettings } from '../../../src/domain/queue/index.js';
import { PRIORITIES_FORMAT_LEVEL } from '../../../src/kernel/index.js';
import { repetitions } from '../../support/depth.js';
import { type ItemOptions, item, NOW_MS, QueueSpec } from '../../support/queue-spec.js';

const KEY = { flowControl: { key: 'k', parallelism: 1, rate: undefined, periodSeconds: 1 } };
const QUEUE = { queueName: 'q' };

/** A class as options of a message; the normal one is left out, as the parser does. */
function of(priority: Priority): ItemOptions {
  return priority === 'normal' ? {} : { priority };
}

/** Delivers one message after the other. @returns the ids in the order of their starts */
function order(queue: QueueSpec, count: number): string[] {
  const ids: string[] = [];
  for (let at = 0; at < count; at += 1) {
    queue.work();
    const started = queue.news().find((line) => line.startsWith('started'));
    if (started === undefined) break;
    const id = started.split(' ')[1] as string;
    ids.push(id);
    queue.outcome(id, 200);
  }
  return ids;
}

function publishAll(queue: QueueSpec, place: ItemOptions, counts: Readonly<Partial<Record<Priority, number>>>): void {
  for (const priority of [...PRIORITIES].reverse()) {
    const items = Array.from({ length: counts[priority] ?? 0 }, (_, at) =>
      item(`${priority}.${at}`, { ...place, ...of(priority) }),
    );
    if (items.length > 0) queue.publish(...items);
  }
}

function classOf(id: string): Priority {
  return id.split('.')[0] as Priority;
}

describe('queue: priorities', () => {
  for (const [where, place] of [
    ['flow-control key', KEY],
    ['queue', QUEUE],
  ] as const) {
    it(`of the messages of one ${where}, the classes start in shares of 16, 8, 4, 2 and 1 (PRI1)`, () => {
      const queue = new QueueSpec();
      publishAll(queue, place, { highest: 80, high: 80, normal: 80, low: 80, lowest: 80 });
      const counts: Partial<Record<Priority, number>> = {};
      for (const id of order(queue, 2 * 31)) counts[classOf(id)] = (counts[classOf(id)] ?? 0) + 1;
      for (const priority of PRIORITIES) {
        expect(counts[priority], priority).to.be.closeTo(2 * PRIORITY_SHARES[priority], 1);
      }
    });
  }

  it('a message of the highest class starts before earlier ones of its queue', () => {
    const queue = new QueueSpec();
    publishAll(queue, QUEUE, { low: 3 });
    queue.publish(item('highest.0', { ...QUEUE, ...of('highest') }));
    expect(order(queue, 4)).to.deep.equal(['highest.0', 'low.0', 'low.1', 'low.2']);
  });

  it('a class that was empty neither saves starts nor owes them (PRI4)', () => {
    const queue = new QueueSpec();
    publishAll(queue, KEY, { normal: 60 });
    order(queue, 40);
    queue.publish(...Array.from({ length: 30 }, (_, at) => item(`lowest.${at}`, { ...KEY, ...of('lowest') })));
    const started = order(queue, 10).map(classOf);
    expect(started.filter((each) => each === 'lowest')).to.have.length(2);
  });

  it('in any mixture no class waits longer than the shares of the others, and each is in order (PRI2, PRI3)', () => {
    const counts = fc.record(Object.fromEntries(PRIORITIES.map((name) => [name, fc.integer({ min: 0, max: 40 })])));
    fc.assert(
      fc.property(counts, fc.constantFrom<ItemOptions>(KEY, QUEUE), (amounts, place) => {
        const queue = new QueueSpec();
        publishAll(queue, place, amounts);
        const total = Object.values(amounts).reduce((sum, count) => sum + count, 0);
        const ids = order(queue, total);
        expect(ids).to.have.length(total);
        for (const priority of PRIORITIES) {
          const places = ids.flatMap((id, at) => (classOf(id) === priority ? [at] : []));
          expect(places.map((at) => ids[at])).to.deep.equal(
            Array.from({ length: amounts[priority] ?? 0 }, (_, at) => `${priority}.${at}`),
          );
          const others = PRIORITIES.filter((each) => each !== priority).map((each) => PRIORITY_SHARES[each]);
          const longest = others.reduce((sum, share) => sum + Math.ceil(share / PRIORITY_SHARES[priority]) + 1, 0);
          for (const [at, each] of places.entries()) {
            expect(each - (places[at - 1] ?? -1), `${priority} among ${ids}`).to.be.at.most(longest + 1);
          }
        }
      }),
      { numRuns: repetitions(60) },
    );
  });

  it('Svc-Priority takes one of five words, and a retry of a DLQ entry can change it', () => {
    const context = { limits: new QueueSpec().account.limits, nowMs: NOW_MS, of: 'publish' } as const;
    const parsed = (value: string, more = {}) =>
      parseSettings({ headers: [['svc-priority', value]], query: [] }, { ...context, ...more });
    expect(parsed('HIGH')).to.have.nested.property('parsed.settings.priority', 'high');
    expect(parsed('normal')).not.to.have.nested.property('parsed.settings.priority');
    expect(parsed('urgent')).to.have.property(
      'message',
      'svc-priority must be one of highest, high, normal, low, lowest',
    );
    expect(parsed('high', { formatLevel: PRIORITIES_FORMAT_LEVEL - 1 })).to.have.property(
      'message',
      'svc-priority needs format level 6: run millrace cluster upgrade',
    );
    const queue = new QueueSpec();
    queue.publish(item('a', { ...of('high'), maxRetries: 0 }));
    queue.work();
    queue.outcome('a', 500);
    const { dlqId } = queue.journal.find((event) => event.type === 'MessageDeadLettered') as never;
    queue.ask({
      type: 'RetryDlq',
      selector: { kind: 'ids', dlqIds: [dlqId] },
      firstId: 'b' as never,
      overrides: { headers: [['svc-priority', 'normal']], query: [] },
    });
    const accepted = queue.journal.find((event) => event.type === 'MessageAccepted' && event.id === 'b');
    expect(accepted).not.to.have.nested.property('envelope.settings.priority');
  });

  it('GET /v2/messages filters by priority, where messages without one are normal', () => {
    const queue = new QueueSpec();
    queue.publish(item('a', { ...of('low'), delaySeconds: 60 }), item('b', { delaySeconds: 60 }));
    const listed = (priority: string) => {
      const filter = { priority: [priority] };
      const reply = queue.ask({
        type: 'ListMessages',
        filter,
        states: [],
        order: 'earliestFirst',
        count: 10,
        after: undefined,
      });
      return reply.type === 'Messages' ? reply.messages.map(({ id }) => id as string) : [];
    };
    expect([listed('low'), listed('normal'), listed('high')]).to.deep.equal([['a'], ['b'], []]);
  });
});
