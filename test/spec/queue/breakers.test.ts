/** Proves BRK1, BRK2, BRD1–BRD4: circuit breakers of destinations. */
import { expect } from 'chai';
import fc from 'fast-check';
import type { Breaker, BreakerRules, QueueEvent, QueueReply } from '../../../src/domain/queue/index.js';
import { parseSettings, USUAL_BREAKER_RULES } from '../../../src/domain/queue/index.js';
import { BREAKERS_FORMAT_LEVEL } from '../../../src/kernel/index.js';
import { repetitions } from '../../support/depth.js';
import { type ItemOptions, item, NOW_MS, QueueSpec, SETTINGS } from '../../support/queue-spec.js';

const URL_A = 'https://a.example/hook';
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const RULES: BreakerRules = { ...USUAL_BREAKER_RULES, failures: 3, seconds: 10, probeSeconds: 30 };
/** The message would be tried again every second. */
const EAGER: ItemOptions = { retryDelay: '1000', maxRetries: 10 };

function guarded(rules: Partial<BreakerRules> = {}): QueueSpec {
  const queue = new QueueSpec();
  queue.ask({ type: 'SetBreakerRules', rules: { ...RULES, ...rules } });
  queue.news();
  return queue;
}

function breakers(queue: QueueSpec): (QueueReply & { type: 'Breakers' })['breakers'] {
  const reply = queue.ask({ type: 'ListBreakers', onlyStopped: false });
  return reply.type === 'Breakers' ? reply.breakers : [];
}

function breaker(queue: QueueSpec): Partial<Breaker & { waiting: number }> {
  return breakers(queue)[0] ?? {};
}

function started(queue: QueueSpec): string[] {
  queue.work();
  return queue.news().flatMap((line) => (line.startsWith('started') ? [line.split(/[ ,]/)[1] as string] : []));
}

/** Messages f1, f2, f3 fail at their only attempt over twelve seconds, so the breaker opens. */
function opened(queue: QueueSpec): QueueSpec {
  for (const id of ['f1', 'f2', 'f3']) {
    queue.publish(item(id, { maxRetries: 0 }));
    queue.work();
    queue.outcome(id, 500);
    if (id !== 'f3') queue.pass(6000);
  }
  queue.news();
  return queue;
}

function endings({ journal }: QueueSpec): number {
  return journal.filter(({ type }) => type === 'MessageDelivered' || type === 'MessageDeadLettered').length;
}

describe('queue: circuit breakers of destinations', () => {
  it('an account without rules has no breakers, and its messages are tried as before (BRK2)', () => {
    const queue = opened(new QueueSpec());
    queue.publish(item('a'));
    expect(started(queue)).to.deep.equal(['a']);
    expect(queue.journal.filter(({ type }) => type.startsWith('Breaker'))).to.deep.equal([]);
    expect(queue.ask({ type: 'SetBreaker', url: URL_A, isDisabled: true })).to.include({ reason: 'INVALID' });
  });

  it('consecutive failures over a time open the breaker, and due messages wait (BRD1)', () => {
    const queue = opened(guarded());
    expect(breaker(queue)).to.include({
      url: URL_A,
      state: 'open',
      failures: 3,
      status: 500,
      error: 'HTTP status 500',
    });
    queue.publish(item('a'), item('b'), item('c', { url: 'https://b.example/' }));
    expect(started(queue)).to.deep.equal(['c']);
    expect(breaker(queue).waiting).to.equal(2);
  });

  it('failures within a shorter time, or with a success between them, do not open it (BRD1)', () => {
    const quick = guarded();
    quick.publish(...['a', 'b', 'c', 'd'].map((id) => item(id, { maxRetries: 0 })));
    quick.work();
    for (const id of ['a', 'b', 'c', 'd']) quick.outcome(id, 500);
    expect(breaker(quick)).to.include({ state: 'closed', failures: 4 });
    const mixed = guarded({ seconds: 0 });
    mixed.publish(...['a', 'b', 'c', 'd'].map((id) => item(id, { maxRetries: 0 })));
    mixed.work();
    mixed.outcome('a', 500);
    mixed.outcome('b', 500);
    mixed.outcome('c', 204);
    expect(breakers(mixed)).to.deep.equal([]);
    mixed.outcome('d', 500);
    expect(breaker(mixed)).to.include({ state: 'closed', failures: 1 });
  });

  it('an open breaker lets one attempt through after each wait, and the wait doubles up to an hour (BRD2)', () => {
    const queue = opened(guarded());
    queue.publish(item('a', EAGER), item('b', EAGER));
    queue.pass(29_000);
    expect(started(queue)).to.deep.equal([]);
    queue.pass(1000);
    expect(started(queue)).to.deep.equal(['a']);
    queue.pass(10_000);
    expect(started(queue), 'while the probe is under way').to.deep.equal([]);
    queue.outcome('a', 503);
    const waits: number[] = [];
    for (let at = 0; at < 9; at += 1) {
      const fromMs = queue.nowMs;
      while (started(queue).length === 0) queue.pass(1000);
      waits.push((queue.nowMs - fromMs) / 1000);
      const id = ['a', 'b'].find((each) => queue.engine.attemptOf(each as never) !== undefined) as string;
      queue.outcome(id, 503);
    }
    expect(waits).to.deep.equal([60, 120, 240, 480, 960, 1920, 3600, 3600, 3600]);
  });

  it('a successful probe closes it, and all messages go out in the order of acceptance', () => {
    const queue = opened(guarded());
    queue.publish(...['a', 'b', 'c'].map((id) => item(id)));
    queue.pass(30_000);
    expect(started(queue)).to.deep.equal(['a']);
    queue.outcome('a', 200);
    expect(started(queue)).to.deep.equal(['b', 'c']);
    expect(breakers(queue)).to.deep.equal([]);
  });

  it('in the open state, attempts from before count only if they succeed (BRD4)', () => {
    const queue = guarded();
    queue.publish(item('old', { maxRetries: 0 }), item('older', { maxRetries: 0 }));
    queue.work();
    opened(queue);
    queue.outcome('old', 500);
    expect(breaker(queue)).to.include({ state: 'open', failures: 3, probes: 0 });
    queue.outcome('older', 200);
    expect(breakers(queue)).to.deep.equal([]);
  });

  it('five days without a success disable the destination, and only a command starts it again (BRD3)', () => {
    const queue = opened(guarded());
    queue.publish(...Array.from({ length: 40 }, (_, at) => item(`m${at}`, { maxRetries: 4, retryDelay: '1000' })));
    const untilMs = queue.nowMs + 5 * DAY_MS;
    while (queue.nowMs < untilMs + HOUR_MS) {
      for (const id of started(queue)) queue.outcome(id, 500);
      queue.pass(MINUTE_MS);
    }
    expect(breaker(queue)).to.include({ state: 'disabled', reason: 'failures' });
    const { waiting = 0 } = breaker(queue);
    expect(waiting).to.be.greaterThan(0);
    queue.pass(2 * DAY_MS);
    expect(started(queue)).to.deep.equal([]);
    expect(queue.ask({ type: 'SetBreaker', url: `${URL_A}?with=query`, isDisabled: false })).to.include({
      type: 'Done',
    });
    expect(started(queue)).to.have.length(waiting);
  });

  it('410 Gone disables the destination immediately (BRD3)', () => {
    const queue = guarded();
    queue.publish(item('a', { maxRetries: 0 }));
    queue.work();
    queue.outcome('a', 410);
    expect(breaker(queue)).to.include({ state: 'disabled', reason: 'gone', status: 410 });
  });

  it('with messages=dlq, messages of a stopped destination go to the DLQ with a failure callback, apart from probes', () => {
    const queue = opened(guarded({ messages: 'dlq' }));
    queue.publish(item('a', { ...EAGER, failureCallback: { url: 'https://back.example/', settings: SETTINGS } }));
    queue.work();
    const told = queue.journal.filter((event) => event.type === 'MessageAccepted' && event.envelope.callbackOf === 'a');
    expect(told).to.have.length(1);
    const failed = queue.journal.find((event): event is QueueEvent & { type: 'MessageDeadLettered' } => {
      return event.type === 'MessageDeadLettered' && event.id === 'a';
    });
    expect(failed).to.include({ status: 0, error: 'the destination is open: HTTP status 500' });
    queue.news();
    queue.pass(30_000);
    queue.publish(item('b'));
    expect(started(queue)).to.include('b');
  });

  it('a message with whenStopped waits, or goes to the DLQ, with precedence over the rules', () => {
    const dlq = opened(guarded({ messages: 'dlq' }));
    dlq.publish(item('a', { ...EAGER, whenStopped: 'wait' }), item('b', EAGER));
    expect(started(dlq)).to.deep.equal([]);
    expect(breaker(dlq).waiting).to.equal(1);
    expect(endings(dlq)).to.equal(4);
    dlq.pass(30_000);
    expect(started(dlq)).to.deep.equal(['a']);
    const wait = opened(guarded({ messages: 'wait' }));
    wait.publish(item('a', { ...EAGER, whenStopped: 'dlq' }), item('b', EAGER));
    expect(started(wait)).to.deep.equal([]);
    expect(breaker(wait).waiting).to.equal(1);
    expect(endings(wait)).to.equal(4);
    expect(wait.rebuilt().digest()).to.equal(wait.digest());
  });

  it('Svc-When-Stopped takes one of two words, for a message and for its callback', () => {
    const parsed = (headers: [string, string][], more = {}) =>
      parseSettings(
        { headers, query: [] },
        { limits: new QueueSpec().account.limits, nowMs: NOW_MS, of: 'publish', ...more },
      );
    expect(parsed([['svc-when-stopped', 'DLQ']])).to.have.nested.property('parsed.settings.whenStopped', 'dlq');
    expect(parsed([])).not.to.have.nested.property('parsed.settings.whenStopped');
    expect(parsed([['svc-when-stopped', 'later']])).to.have.property(
      'message',
      'svc-when-stopped must be one of wait, dlq',
    );
    expect(parsed([['svc-when-stopped', 'wait']], { formatLevel: BREAKERS_FORMAT_LEVEL - 1 })).to.have.property(
      'message',
      'svc-when-stopped needs format level 6: run millrace cluster upgrade',
    );
    const callback: [string, string][] = [
      ['svc-callback', 'https://back.example/'],
      ['svc-callback-when-stopped', 'wait'],
    ];
    expect(parsed(callback)).to.have.nested.property('parsed.settings.callback.settings.whenStopped', 'wait');
  });

  it('SetBreaker disables and enables a destination; without rules it is forgotten', () => {
    const queue = guarded();
    expect(queue.ask({ type: 'SetBreaker', url: URL_A, isDisabled: false })).to.include({ reason: 'NOT_FOUND' });
    queue.ask({ type: 'SetBreaker', url: URL_A, isDisabled: true });
    expect(breaker(queue)).to.include({ state: 'disabled', reason: 'request' });
    queue.publish(item('a'));
    expect(started(queue)).to.deep.equal([]);
    queue.ask({ type: 'SetBreakerRules', rules: undefined });
    expect(started(queue)).to.deep.equal(['a']);
    expect(breakers(queue)).to.deep.equal([]);
  });

  describe('notices', () => {
    const OWNER = 'https://owner.example/notices';
    const CUSTOMER = 'https://customer.example/notices';
    const webhook = { application: 'app_1', endpoint: 'ep_1', id: 'evt_1', eventType: 'a.b' };
    const told = ({ journal }: QueueSpec) =>
      journal.flatMap((event) => {
        if (event.type !== 'MessageAccepted' || !event.envelope.settings.labels.includes('notice')) return [];
        const { type, data } = JSON.parse(Buffer.from(event.body.content ?? []).toString()) as {
          type: string;
          data: Record<string, unknown>;
        };
        return [{ url: event.envelope.url, type, data, envelope: event.envelope }];
      });
    const withCustomer = () => {
      const queue = guarded({ notifyUrl: OWNER });
      const none = { uid: 'customer-1', name: undefined, metadata: undefined, rate: undefined };
      queue.ask({ type: 'SetApplication', id: 'app_1', isNew: true, ...none, notifyUrl: CUSTOMER });
      return queue;
    };
    const failed = (queue: QueueSpec, id: string, status: number) => {
      queue.publish({ ...item(id, { maxRetries: 0 }), webhook });
      queue.work();
      queue.outcome(id, status);
    };

    it('owner and customer get one message each when an endpoint is disabled, and when it works again (BRN1, BRN2)', () => {
      const queue = withCustomer();
      failed(queue, 'a', 410);
      const notices = told(queue);
      expect(notices.map(({ url, type }) => [url, type])).to.deep.equal([
        [OWNER, 'endpoint.disabled'],
        [CUSTOMER, 'endpoint.disabled'],
      ]);
      expect(notices[0]?.data).to.include({
        url: URL_A,
        state: 'disabled',
        reason: 'gone',
        applicationId: 'app_1',
        applicationUid: 'customer-1',
        endpointId: 'ep_1',
        responseStatus: 410,
      });
      expect(notices[0]?.envelope.webhook).to.equal(undefined);
      expect(notices[1]?.envelope).to.deep.include({ topicName: 'app_1', endpointName: 'ep_1' });
      expect(notices[1]?.envelope.webhook?.eventType).to.equal('endpoint.disabled');
      queue.ask({ type: 'SetBreaker', url: URL_A, isDisabled: false });
      queue.ask({ type: 'SetBreaker', url: URL_A, isDisabled: false });
      expect(told(queue).map(({ type }) => type)).to.deep.equal([
        'endpoint.disabled',
        'endpoint.disabled',
        'endpoint.recovered',
      ]);
    });

    it('an address has no message about itself, and messages in the same state have none (BRN1, BRN3)', () => {
      const queue = guarded({ notifyUrl: `${URL_A}?key=1` });
      failed(queue, 'a', 410);
      expect(told(queue)).to.deep.equal([]);
      const other = withCustomer();
      failed(other, 'a', 500);
      failed(other, 'b', 410);
      other.ask({ type: 'SetBreaker', url: URL_A, isDisabled: true });
      expect(told(other)).to.have.length(2);
    });

    it('a successor has the same messages, and sends no second one', () => {
      const queue = withCustomer();
      failed(queue, 'a', 410);
      const next = queue.rebuilt();
      expect(next.digest()).to.equal(queue.digest());
      next.ask({ type: 'SetBreaker', url: URL_A, isDisabled: true });
      expect(told(next)).to.deep.equal([]);
    });
  });

  it('rules outside of their bounds are refused with the name of the member', () => {
    const queue = new QueueSpec();
    expect(queue.ask({ type: 'SetBreakerRules', rules: { ...RULES, failures: 0 } })).to.include({
      reason: 'INVALID',
      message: 'failures must be a whole number from 1 to 1000, not 0',
    });
  });

  it('a queue with order continues with other destinations, and keeps the order of each', () => {
    const queue = opened(guarded());
    const ofQueue = { queueName: 'q' };
    queue.publish(item('a', ofQueue), item('b', { ...ofQueue, url: 'https://b.example/' }), item('c', ofQueue));
    expect(started(queue)).to.deep.equal(['b']);
    queue.outcome('b', 200);
    queue.pass(30_000);
    expect(started(queue)).to.deep.equal(['a']);
    queue.outcome('a', 200);
    expect(started(queue)).to.deep.equal(['c']);
  });

  it('a cancelled message leaves its line, and the next one is the probe', () => {
    const queue = opened(guarded());
    queue.publish(item('a'), item('b'));
    queue.ask({ type: 'CancelMessage', id: 'a' as never });
    expect(breaker(queue).waiting).to.equal(1);
    queue.pass(30_000);
    expect(started(queue)).to.deep.equal(['b']);
  });

  it('a successor continues with the state of the journal or of a snapshot, and no message is lost (BRK1)', () => {
    const step = fc.oneof(
      fc.record({
        kind: fc.constant('publish' as const),
        url: fc.constantFrom('https://a.example/x', 'https://b.example/y'),
      }),
      fc.record({ kind: fc.constant('outcome' as const), status: fc.constantFrom(200, 500, 500, 500, 410) }),
      fc.record({ kind: fc.constant('pass' as const), seconds: fc.integer({ min: 1, max: 100 }) }),
      fc.record({
        kind: fc.constant('enable' as const),
        url: fc.constantFrom('https://a.example/x', 'https://b.example/y'),
      }),
      fc.record({ kind: fc.constant('takeover' as const) }),
    );
    fc.assert(
      fc.property(
        fc.array(step, { maxLength: 60 }),
        fc.constantFrom('wait' as const, 'dlq' as const),
        (steps, messages) => {
          let queue = guarded({ failures: 2, seconds: 0, messages });
          const open: string[] = [];
          let made = 0;
          let ended = 0;
          for (const each of steps) {
            if (each.kind === 'publish') {
              queue.publish(item(`m${made}`, { url: each.url, ...EAGER, maxRetries: 1 }));
              made += 1;
            } else if (each.kind === 'outcome') {
              const id = open.shift();
              if (id !== undefined && queue.engine.attemptOf(id as never) !== undefined) queue.outcome(id, each.status);
            } else if (each.kind === 'pass') queue.pass(each.seconds * 1000);
            else if (each.kind === 'enable') queue.ask({ type: 'SetBreaker', url: each.url, isDisabled: false });
            else {
              ended += endings(queue);
              const next = queue.rebuilt();
              expect(next.digest()).to.equal(queue.digest());
              queue = next;
            }
            for (const id of started(queue)) if (!open.includes(id)) open.push(id);
          }
          queue.ask({ type: 'SetBreakerRules', rules: undefined });
          for (let at = 0; at < 4 * made + 4; at += 1) {
            queue.pass(5000);
            for (let m = 0; m < made; m += 1) {
              if (queue.engine.attemptOf(`m${m}` as never) !== undefined) queue.outcome(`m${m}`, 200);
            }
          }
          expect(ended + endings(queue)).to.equal(made);
        },
      ),
      { numRuns: repetitions(150) },
    );
  });
});
