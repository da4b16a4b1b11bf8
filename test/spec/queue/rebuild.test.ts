/** Proves QST1–QST3. */
import { expect } from 'chai';
import fc from 'fast-check';
import type { QueueCommand, QueueEvent } from '../../../src/domain/queue/index.js';
import { type DlqId, isMillraceError, type MessageId, type ScheduleId } from '../../../src/kernel/index.js';
import { repetitions } from '../../support/depth.js';
import { groupItem, item, QueueSpec, SETTINGS } from '../../support/queue-spec.js';
import { GOLDEN_EVENTS } from '../../unit/codec/queue/golden-values.js';

const callback = { url: 'https://cb.example/', settings: { ...SETTINGS, maxRetries: 0 } };
const WHERE = { kind: 'filter', filter: {}, after: undefined, order: 'earliestFirst' } as const;

type Action = { readonly do: number; readonly a: number; readonly b: number };

/** Executes one action, which may be refused. */
function play(queue: QueueSpec, { do: what, a, b }: Action, number: number): void {
  const id = `m${number}`;
  const key = `key${a % 3}`;
  const name = `q${a % 2}`;
  const ask = (command: QueueCommand) => queue.ask(command);
  const open = () =>
    [...queue.engine.rebuildingEvents()].flatMap((event) =>
      event.type === 'MessageRestored' && event.status === 'active' ? [event.id] : [],
    );
  const actions: (() => unknown)[] = [
    () => queue.publish(item(id, { delaySeconds: a % 3, maxRetries: b % 3, retryDelay: '700', callback })),
    () => queue.publish(item(id, { queueName: name, maxRetries: 1, failureCallback: callback })),
    () => queue.publish(item(id, { ...(b % 2 === 0 && { queueName: name }), delaySeconds: 59 + (a % 5) * 30 })),
    () =>
      queue.publish(
        item(id, { flowControl: { key, parallelism: 1 + (b % 2), rate: a % 4 || undefined, periodSeconds: 5 } }),
      ),
    () => queue.publish(groupItem(id, 'team', [['svc-deduplication-id', `x${b % 5}`]])),
    () => {
      const ids = open();
      if (ids.length > 0 && queue.work() >= 0) queue.outcome(ids[a % ids.length] as string, b % 3 === 0 ? 200 : 500);
    },
    () => {
      const ids = open();
      if (ids.length > 0 && queue.work() >= 0) queue.outcome(ids[b % ids.length] as string, 200);
    },
    () => queue.pass(1 + a * 150),
    () => queue.pass(a % 7 === 0 ? 4_000_000 : 30_000),
    () => ask({ type: 'CancelMessage', id: `m${b}` as MessageId }),
    () => ask({ type: 'CancelMessages', selector: { kind: 'filter', filter: {}, count: 1 + (a % 3) } }),
    () => ask({ type: 'SetQueue', name, parallelism: 1 + (b % 3), isPaused: b % 4 === 0 }),
    () => ask({ type: 'DeleteQueue', name }),
    () => ask({ type: 'PauseFlow', key, isPaused: b % 2 === 0 }),
    () => ask({ type: 'PinFlow', key, parallelism: 1, rate: b % 2 || undefined, periodSeconds: undefined }),
    () => ask({ type: 'UnpinFlow', key, parallelism: true, rate: true }),
    () => ask({ type: 'ResetFlow', key, all: b % 2 === 0 }),
    () => ask({ type: 'DeleteDlq', selector: { ...WHERE, count: 1 } }),
    () =>
      ask({
        type: 'RetryDlq',
        selector: { ...WHERE, count: 2 },
        firstId: id as MessageId,
        overrides: { headers: [], query: [] },
      }),
    () =>
      ask({
        type: 'SetSchedule',
        schedule: {
          id: `s${a % 2}` as ScheduleId,
          cron: '* * * * *',
          destination: { kind: 'url', url: 'https://tick.example/', settings: SETTINGS },
          queueName: b % 2 === 0 ? name : undefined,
          body: Buffer.from(id),
          callerIp: '192.0.2.2',
          isAlias: false,
        },
      }),
    () => ask({ type: 'DeleteSchedule', id: `s${a % 2}` as ScheduleId }),
    () =>
      ask({
        type: 'UpsertEndpoints',
        group: 'team',
        endpoints: [{ url: `https://e${b % 3}.example/`, name: undefined }],
      }),
    () => ask({ type: 'TakeIntake', records: [{ position: number, items: [item(id)] }] }),
    () => ask({ type: 'GetDlq', dlqId: '1-1' as DlqId }),
    () => {
      const call = { kind: 'publish', item: b % 4 === 0 ? groupItem(id, 'missing') : item(id) } as const;
      return ask({ type: 'TakeOutbox', source: `kv:db${a % 2}:0`, records: [{ sequence: number, call }] });
    },
  ];
  actions[what % actions.length]?.();
  queue.work(3);
}

const programs = fc.array(fc.record({ do: fc.nat(24), a: fc.nat(100), b: fc.nat(100) }), {
  minLength: 40,
  maxLength: 120,
  size: 'max',
});

describe('queue: one event', () => {
  const events = Object.values(GOLDEN_EVENTS);
  const evolve = (queue: QueueSpec, event: QueueEvent) => {
    try {
      queue.engine.evolve(event);
      return 'applied';
    } catch (error) {
      return isMillraceError(error, 'DEFECT') ? 'cannot be' : `${String(error)} at ${event.type}`;
    }
  };

  it('applies or asserts in any state, and causes no other event (QST1)', () => {
    const outcomes = new Map<string, Set<string>>();
    for (const before of [undefined, ...events]) {
      for (const event of events) {
        const queue = new QueueSpec();
        if (before !== undefined) evolve(queue, before);
        const known = outcomes.get(event.type) ?? new Set();
        outcomes.set(event.type, known.add(evolve(queue, event)));
      }
    }
    expect(new Set([...outcomes.values()].flatMap((met) => [...met]))).to.deep.equal(new Set(['applied', 'cannot be']));
    // An event about an object is rejected if the object does not exist.
    for (const type of [
      'MessageDelivered',
      'DlqDeleted',
      'GroupDeleted',
      'QueueDeleted',
      'ScheduleFired',
      'RunEnded',
    ]) {
      expect([...(outcomes.get(type) ?? [])], type).to.include('cannot be');
    }
    // An event that creates an object always applies: the account's limits and state are not checked.
    for (const type of ['GroupSet', 'QueueSet', 'ScheduleSet', 'FlowPaused', 'DailyLimitReached']) {
      expect([...(outcomes.get(type) ?? [])], type).to.deep.equal(['applied']);
    }
  });

  it('is not judged: an event that would be refused now was accepted once (QST1)', () => {
    const open = new QueueSpec();
    for (let at = 0; at < 5; at += 1) open.publish(item(`m${at}`));
    const closed = new QueueSpec().suspend();
    expect(closed.publish(item('new'))).to.include({ type: 'Rejected', reason: 'SUSPENDED' });
    for (const event of open.journal) closed.engine.evolve(event);
    expect(closed.digest()).to.equal(open.digest());
  });

  it('that is missing is noticed by events that follow from it (QST1)', () => {
    const queue = new QueueSpec();
    queue.publish(item('m1'));
    queue.work();
    queue.outcome('m1', 200);
    const [accepted, ...rest] = queue.journal;
    expect(accepted?.type).to.equal('MessageAccepted');
    expect(rest.map((event) => evolve(new QueueSpec(), event))).to.include('cannot be');
    const twice = new QueueSpec();
    for (const event of queue.journal) twice.engine.evolve(event);
    expect(rest.filter(({ type }) => type === 'MessageDelivered').map((event) => evolve(twice, event))).to.deep.equal([
      'cannot be',
    ]);
  });
});

describe('queue: the state', () => {
  it('is equal live, replayed, and rebuilt from a snapshot at any time', () => {
    fc.assert(
      fc.property(programs, fc.nat(119), (program, at) => {
        const queue = new QueueSpec().limit({ maxDlqEntries: 3 });
        let middle: { copy: QueueSpec; from: number } | undefined;
        program.forEach((action, index) => {
          play(queue, action, index);
          if (index === at) middle = { copy: queue.rebuilt(), from: queue.journal.length };
        });
        const digest = queue.digest();
        expect(queue.replayed().digest()).to.equal(digest);
        expect(queue.rebuilt().digest()).to.equal(digest);
        if (middle === undefined) return;
        for (const event of queue.journal.slice(middle.from)) middle.copy.engine.evolve(event);
        expect(middle.copy.digest()).to.equal(digest);
      }),
      { numRuns: repetitions(200) },
    );
  });

  it('refers to exactly the bodies that are still needed', () => {
    fc.assert(
      fc.property(programs, (program) => {
        const queue = new QueueSpec().limit({ maxDlqEntries: 3 });
        program.forEach((action, index) => {
          play(queue, action, index);
        });
        const needed = new Set<number>();
        for (const event of queue.engine.rebuildingEvents()) {
          if (event.type === 'MessageRestored') needed.add(event.body.number);
          if (event.type === 'ScheduleRestored') needed.add(event.schedule.body.number);
          if (event.type !== 'DlqRestored') continue;
          needed.add(event.entry.body.number).add(event.entry.response.body.number);
        }
        needed.delete(0);
        const sorted = (numbers: Iterable<number>) => [...numbers].sort((a, b) => a - b);
        expect(sorted(queue.shelf.contents.keys())).to.deep.equal(sorted(needed));
      }),
      { numRuns: repetitions(100) },
    );
  });

  it('lets every accepted message end, and releases all that it held', () => {
    fc.assert(
      fc.property(programs, (program) => {
        const queue = new QueueSpec();
        program.forEach((action, index) => {
          play(queue, action, index);
        });
        release(queue);
        finishAll(queue);
        const events = [...queue.engine.rebuildingEvents()];
        expect(
          events.filter((event) => event.type === 'MessageRestored' && event.status !== 'delivered'),
        ).to.deep.equal([]);
        for (const event of events) {
          if (event.type === 'FlowRestored') expect(event.active, event.key).to.equal(0);
          if (event.type === 'QueueRestored') expect(event.places, event.name).to.deep.equal([]);
        }
        const reply = queue.ask({ type: 'ListQueues' });
        if (reply.type === 'Queues') for (const { lag } of reply.queues) expect(lag).to.equal(0);
      }),
      { numRuns: repetitions(100) },
    );
  });

  /** Resumes all queues and keys, and deletes all schedules. */
  function release(queue: QueueSpec): void {
    for (const id of ['s0', 's1']) queue.ask({ type: 'DeleteSchedule', id: id as ScheduleId });
    for (const name of ['q0', 'q1']) queue.ask({ type: 'PauseQueue', name, isPaused: false });
    for (const key of ['key0', 'key1', 'key2']) queue.ask({ type: 'PauseFlow', key, isPaused: false });
  }

  function finishAll(queue: QueueSpec): void {
    for (let round = 0; round < 2000; round += 1) {
      queue.work();
      const open = [...queue.engine.rebuildingEvents()].flatMap((event) =>
        event.type === 'MessageRestored' && event.status === 'active' ? [event.id] : [],
      );
      for (const id of open) queue.outcome(id, 200);
      if (open.length > 0) continue;
      const waiting = [...queue.engine.rebuildingEvents()].some(
        (event) => event.type === 'MessageRestored' && event.status === 'waiting',
      );
      if (!waiting) return;
      queue.pass(2000);
    }
  }
});
