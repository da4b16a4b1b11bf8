/** Proves DI2, FK1–FK4. */
import { expect } from 'chai';
import fc from 'fast-check';
import type { FlowControlSetting, FlowView, QueueCommand, QueueReply } from '../../../src/domain/queue/index.js';
import { repetitions } from '../../support/depth.js';
import { type ItemOptions, item, QueueSpec } from '../../support/queue-spec.js';

const HOUR_MS = 3_600_000;

function keyed(key: string, parallelism?: number, rate?: number, periodSeconds = 1): ItemOptions {
  return { flowControl: { key, parallelism, rate, periodSeconds } as FlowControlSetting };
}

function started(queue: QueueSpec): number {
  queue.work();
  return queue.news().filter((line) => line.startsWith('started')).length;
}

function view(queue: QueueSpec, key = 'k'): FlowView {
  const reply = queue.ask({ type: 'GetFlow', key });
  expect(reply.type).to.equal('Flows');
  return (reply as QueueReply & { type: 'Flows' }).flows[0] as FlowView;
}

function pin(parallelism?: number, rate?: number, periodSeconds?: number): QueueCommand {
  return { type: 'PinFlow', key: 'k', parallelism, rate, periodSeconds };
}

describe('queue: flow control', () => {
  it('a key exists as soon as a publish that names it is answered', () => {
    const queue = new QueueSpec();
    expect(queue.ask({ type: 'GetFlow', key: 'k' })).to.include({ type: 'Rejected', reason: 'NOT_FOUND' });
    queue.publish(item('a', { ...keyed('k', 2, 5, 60), delaySeconds: 60 }));
    expect(view(queue)).to.include({ parallelism: 2, rate: 5, periodSeconds: 60, waiting: 0, active: 0, started: 0 });
  });

  it('parallelism limits the active calls, and each outcome starts the next one', () => {
    const queue = new QueueSpec();
    queue.publish(...['a', 'b', 'c'].map((id) => item(id, keyed('k', 2))));
    expect(started(queue)).to.equal(2);
    expect(view(queue)).to.include({ active: 2, waiting: 1 });
    queue.outcome('a', 500);
    expect(started(queue)).to.equal(1);
    expect(view(queue)).to.include({ active: 2, waiting: 0 });
  });

  it('rate limits the starts within a window, which begins with its first start', () => {
    const queue = new QueueSpec();
    queue.nowMs += 700;
    const firstMs = queue.nowMs;
    queue.publish(...['a', 'b', 'c', 'd', 'e'].map((id) => item(id, keyed('k', undefined, 2, 10))));
    expect(started(queue)).to.equal(2);
    expect(view(queue)).to.include({ started: 2, windowStartedAtMs: firstMs, waiting: 3 });
    queue.pass(9999);
    expect(started(queue)).to.equal(0);
    queue.pass(1);
    expect(started(queue)).to.equal(2);
    queue.pass(10_000);
    expect(started(queue)).to.equal(1);
  });

  it("messages of a paused key stay waiting across a restart, and then follow the key's limits", () => {
    const queue = new QueueSpec();
    queue.publish(...Array.from({ length: 100 }, (_, i) => item(`m${i}`, keyed('k', 30))));
    queue.ask({ type: 'PauseFlow', key: 'k', isPaused: true });
    for (const successor of [queue.replayed(), queue.rebuilt()]) {
      expect(started(successor)).to.equal(0);
      expect(view(successor)).to.include({ active: 0, waiting: 100 });
      successor.ask({ type: 'PauseFlow', key: 'k', isPaused: false });
      expect(started(successor)).to.equal(30);
    }
  });

  it("messages that fell due during a downtime follow the key's limits", () => {
    const queue = new QueueSpec();
    const options = { ...keyed('k', undefined, 20), delaySeconds: 1 };
    queue.publish(...Array.from({ length: 100 }, (_, i) => item(`m${i}`, options)));
    queue.nowMs += HOUR_MS;
    const successor = queue.replayed();
    expect(started(successor)).to.equal(20);
    expect(view(successor)).to.include({ started: 20, waiting: 80 });
  });

  it('a clock that is set back allows no further starts in a window that has ended', () => {
    const queue = new QueueSpec();
    const firstMs = queue.nowMs;
    queue.publish(...['a', 'b', 'c'].map((id) => item(id, keyed('k', undefined, 2))));
    expect(started(queue)).to.equal(2);
    queue.nowMs += 1000;
    queue.work(0);
    queue.nowMs -= 500;
    expect(started(queue)).to.equal(1);
    expect(view(queue)).to.include({ started: 1, windowStartedAtMs: firstMs + 1000 });
  });

  it('a new window allows its full rate across all destinations', () => {
    const queue = new QueueSpec();
    const items = Array.from({ length: 12 }, (_, at) =>
      item(`m${at}`, { ...keyed('k', undefined, 4, 10), url: `https://d${at}.example/` }),
    );
    queue.publish(...items);
    for (let window = 0; window < 3; window += 1) {
      expect(started(queue)).to.equal(4);
      queue.nowMs += 10_000;
    }
  });

  it('keys progress evenly, also when they wait for their destination', () => {
    for (const options of [{}, { maxInFlightPerOrigin: 15 }]) progressIsEven(new QueueSpec(options));
  });

  function progressIsEven(queue: QueueSpec): void {
    queue.limit({ maxGlobalParallelism: 20 });
    const progress = new Map<string, number>();
    for (let key = 0; key < 100; key += 1) {
      progress.set(`k${key}`, 0);
      for (let at = 0; at < 10; at += 1) queue.publish(item(`k${key} ${at}`, keyed(`k${key}`, 1 + (key % 3))));
    }
    for (let ended = 0; ended < 500; ) {
      const from = queue.journal.length;
      queue.work();
      for (const event of queue.journal.slice(from)) {
        if (event.type !== 'AttemptStarted') continue;
        const [key = ''] = event.id.split(' ');
        progress.set(key, (progress.get(key) ?? 0) + 1);
        queue.outcome(event.id, 200);
        ended += 1;
      }
    }
    expect(Math.max(...progress.values())).to.be.at.most(2 * Math.min(...progress.values()));
  }

  it('a retry counts as another start', () => {
    const queue = new QueueSpec();
    queue.publish(item('a', { ...keyed('k', undefined, 1, 10), retryDelay: '0' }));
    queue.work();
    queue.skipEvents().outcome('a', 500);
    expect(started(queue)).to.equal(0);
    queue.pass(10_000);
    expect(queue.news()).to.include('started a, retry 1');
  });

  it('with both parallelism and rate, both limits apply', () => {
    const queue = new QueueSpec();
    queue.publish(...Array.from({ length: 30 }, (_, at) => item(`m${at}`, keyed('k', 20, 10, 60))));
    expect(started(queue)).to.equal(10);
    queue.pass(60_000);
    expect(started(queue)).to.equal(10);
    queue.pass(60_000);
    expect(started(queue)).to.equal(0);
    queue.outcome('m0', 200);
    expect(started(queue)).to.equal(1);
  });

  it('the limits of a key are those of the latest message', () => {
    const queue = new QueueSpec();
    queue.publish(item('a', keyed('k', 1)), item('b', keyed('k', 1)));
    expect(started(queue)).to.equal(1);
    queue.publish(item('c', keyed('k', 3)));
    expect(started(queue)).to.equal(2);
    expect(view(queue).parallelism).to.equal(3);
  });

  it('PinFlow keeps the limits until UnpinFlow and a later message', () => {
    const queue = new QueueSpec();
    queue.ask(pin(1));
    queue.publish(item('a', keyed('k', 5, 7)));
    expect(view(queue)).to.include({ parallelism: 1, rate: 7, isParallelismPinned: true, isRatePinned: false });
    queue.ask({ type: 'UnpinFlow', key: 'k', parallelism: true, rate: false });
    expect(view(queue)).to.include({ parallelism: 1, isParallelismPinned: false });
    queue.publish(item('b', keyed('k', 5)));
    expect(view(queue)).to.include({ parallelism: 5, rate: undefined });
  });

  it('PinFlow starts a new window', () => {
    const queue = new QueueSpec();
    queue.publish(item('a', keyed('k', undefined, 1, 60)), item('b', keyed('k', undefined, 1, 60)));
    queue.work();
    queue.nowMs += 5000;
    queue.ask(pin(undefined, 3, 120));
    expect(view(queue)).to.include({ started: 0, windowStartedAtMs: queue.nowMs, rate: 3, periodSeconds: 120 });
    queue.skipEvents();
    expect(started(queue)).to.equal(1);
  });

  it('PinFlow is refused without a value, below one, and above a week', () => {
    const queue = new QueueSpec();
    for (const bad of [pin(), pin(0), pin(undefined, 1.5), pin(undefined, 1, 7 * 86_400 + 1)]) {
      expect(queue.ask(bad)).to.include({ type: 'Rejected', reason: 'INVALID' });
    }
    expect(queue.ask(pin(undefined, 1, 7 * 86_400))).to.deep.equal({ type: 'Done' });
  });

  it('PauseFlow holds all messages of a key, and resuming lets them go', () => {
    const queue = new QueueSpec();
    queue.ask({ type: 'PauseFlow', key: 'k', isPaused: true });
    queue.publish(item('a', keyed('k', 5)));
    expect(started(queue)).to.equal(0);
    expect(view(queue)).to.include({ isPaused: true, waiting: 1 });
    queue.ask({ type: 'PauseFlow', key: 'k', isPaused: false });
    expect(started(queue)).to.equal(1);
  });

  it('resuming, UnpinFlow and ResetFlow are refused for an unknown key', () => {
    const queue = new QueueSpec();
    for (const command of [
      { type: 'PauseFlow', key: 'k', isPaused: false },
      { type: 'UnpinFlow', key: 'k', parallelism: true, rate: true },
      { type: 'ResetFlow', key: 'k', all: false },
    ] as const) {
      expect(queue.ask(command)).to.include({ type: 'Rejected', reason: 'INVALID' });
    }
  });

  it('ResetFlow starts a new window', () => {
    const queue = new QueueSpec();
    queue.publish(item('a', keyed('k', undefined, 1, 3600)), item('b', keyed('k', undefined, 1, 3600)));
    expect(started(queue)).to.equal(1);
    queue.ask({ type: 'ResetFlow', key: 'k', all: false });
    expect(view(queue).started).to.equal(0);
    expect(started(queue)).to.equal(1);
  });

  it('ResetFlow with all sets the active calls to 0, and no token is freed twice', () => {
    let queue = new QueueSpec();
    queue.publish(...['a', 'b', 'c', 'd'].map((id) => item(id, keyed('k', 1))));
    expect(started(queue)).to.equal(1);
    queue.ask({ type: 'ResetFlow', key: 'k', all: true });
    expect(view(queue).active).to.equal(0);
    expect(started(queue)).to.equal(1);
    const copy = queue.rebuilt();
    expect(copy.digest()).to.equal(queue.digest());
    for (queue of [queue, copy]) {
      queue.work();
      queue.skipEvents().outcome('a', 200);
      expect(view(queue).active).to.equal(1);
      expect(started(queue)).to.equal(0);
    }
  });

  it('one key does not block another', () => {
    const queue = new QueueSpec();
    for (let at = 0; at < 50; at += 1) queue.publish(item(`slow${at}`, keyed('slow', 1)));
    queue.publish(item('other', keyed('quick', 1)), item('plain'));
    queue.work();
    expect(queue.news()).to.include.members(['started other', 'started plain']);
  });

  it('a key is forgotten an hour after its last message', () => {
    const queue = new QueueSpec();
    queue.publish(item('a', keyed('k', 1)));
    queue.work();
    queue.outcome('a', 200);
    queue.nowMs += HOUR_MS - 1;
    queue.publish(item('b'));
    expect(view(queue).key).to.equal('k');
    queue.nowMs += 1;
    queue.publish(item('c'));
    expect(queue.ask({ type: 'GetFlow', key: 'k' }).type).to.equal('Rejected');
  });

  it('a key that is paused, pinned or in a longer window is kept', () => {
    const queue = new QueueSpec();
    queue.ask({ type: 'PauseFlow', key: 'paused', isPaused: true });
    queue.ask(pin(1));
    queue.publish(item('a', keyed('window', undefined, 1, 7200)));
    queue.work();
    queue.outcome('a', 200);
    queue.nowMs += HOUR_MS + 1;
    for (const id of ['b', 'c', 'd']) queue.publish(item(id));
    for (const key of ['paused', 'k', 'window']) expect(view(queue, key).key).to.equal(key);
  });

  it('ListFlows with search returns the keys that contain the text', () => {
    const queue = new QueueSpec();
    for (const key of ['mail-eu', 'MAIL-us', 'sms']) queue.publish(item(key, keyed(key, 1)));
    const reply = queue.ask({ type: 'ListFlows', search: 'mail' });
    const keys = reply.type === 'Flows' ? reply.flows.map((flow) => flow.key).sort() : [];
    expect(keys).to.deep.equal(['MAIL-us', 'mail-eu']);
  });

  it('random commands respect both limits and block no message for ever (against a simple model)', () => {
    const action = fc.oneof(
      fc.record({ do: fc.constant('publish' as const), key: fc.nat(2), parallelism: fc.nat(3), rate: fc.nat(3) }),
      fc.record({ do: fc.constant('finish' as const), which: fc.nat(20), isFailure: fc.boolean() }),
      fc.record({ do: fc.constant('pass' as const), ms: fc.integer({ min: 1, max: 3000 }) }),
    );
    fc.assert(fc.property(fc.array(action, { minLength: 20, maxLength: 80, size: 'max' }), modelHolds), {
      numRuns: repetitions(150),
    });
  });

  type Action =
    | { do: 'publish'; key: number; parallelism: number; rate: number }
    | { do: 'finish'; which: number; isFailure: boolean }
    | { do: 'pass'; ms: number };

  /** The model has the open attempts of each key, and a window with its count. */
  function modelHolds(actions: readonly Action[]): void {
    const queue = new QueueSpec();
    const model = new Map<string, { limits: ItemOptions; open: Set<string>; from: number; count: number }>();
    const keyOf = new Map<string, string>();
    const open: string[] = [];
    let seen = 0;
    const follow = () => {
      for (const event of queue.journal.slice(seen)) {
        if (event.type !== 'AttemptStarted') continue;
        const key = model.get(keyOf.get(event.id) as string)!;
        const { parallelism, rate } = key.limits.flowControl as FlowControlSetting;
        if (key.from + 1000 <= event.atMs) [key.from, key.count] = [event.atMs, 0];
        key.count += 1;
        key.open.add(event.id);
        open.push(event.id);
        expect(key.open.size).to.be.at.most(parallelism ?? Number.POSITIVE_INFINITY);
        expect(key.count).to.be.at.most(rate ?? Number.POSITIVE_INFINITY);
      }
      seen = queue.journal.length;
    };
    const finish = (which: number, status: number) => {
      const [id] = open.splice(which % open.length, 1) as [string];
      model.get(keyOf.get(id) as string)!.open.delete(id);
      queue.outcome(id, status);
    };
    let number = 0;
    for (const one of actions) {
      if (one.do === 'publish') {
        const key = `key${one.key}`;
        const id = `m${number}`;
        number += 1;
        // A key keeps its first limits here: another test covers a limit below the number of open calls.
        const known = model.get(key);
        const [parallelism, rate] = [one.parallelism || undefined, one.rate || undefined];
        const limits = known?.limits ?? keyed(key, parallelism ?? (rate === undefined ? 1 : undefined), rate, 1);
        if (known === undefined) model.set(key, { limits, open: new Set(), from: 0, count: 0 });
        keyOf.set(id, key);
        queue.publish(item(id, { ...limits, retryDelay: '500', maxRetries: 1 }));
      } else if (one.do === 'finish' && open.length > 0) finish(one.which, one.isFailure ? 500 : 200);
      else if (one.do === 'pass') queue.nowMs += one.ms;
      queue.work();
      follow();
    }
    for (let round = 0; round < 400 && queue.engine.activeCount + open.length >= 0; round += 1) {
      while (open.length > 0) finish(0, 200);
      queue.nowMs += 500;
      if (queue.work() === 0 && queue.engine.nextDueAtMs(queue.context) === undefined) break;
      follow();
    }
    const ended = queue.journal.filter(({ type }) => type === 'MessageDelivered' || type === 'MessageDeadLettered');
    expect(ended.length).to.equal(number);
  }
});
