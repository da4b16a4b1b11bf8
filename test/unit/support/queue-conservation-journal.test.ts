import { expect } from 'chai';
import type { QueueEvent, QueueEventOf } from '../../../src/domain/queue/index.js';
import type { MessageId } from '../../../src/kernel/index.js';
import type { CallRecord } from '../../support/queue-conservation-history.js';
import { judgeQueueJournal, markUnreported } from '../../support/queue-conservation-journal.js';
import { item, QueueSpec } from '../../support/queue-spec.js';

const FLOW = { key: 'k', parallelism: 1, rate: 2, periodSeconds: 1 };

/** Events as the engine records them. */
function eventsOf(play: (queue: QueueSpec) => void): QueueEvent[] {
  const queue = new QueueSpec();
  play(queue);
  return queue.journal;
}

function call(id: string, more: Partial<CallRecord> = {}): CallRecord {
  return {
    id,
    retried: 0,
    number: 1,
    carries: undefined,
    by: 'one',
    startedAtMs: 0,
    endedAtMs: 1,
    end: 'answered',
    status: 200,
    isGenuine: true,
    ...more,
  };
}

function started(id: string, atMs: number): QueueEventOf<'AttemptStarted'> {
  return { type: 'AttemptStarted', id: id as MessageId, atMs, retried: 0, restarts: 0 };
}

function delivered(id: string, atMs: number): QueueEventOf<'MessageDelivered'> {
  return { type: 'MessageDelivered', id: id as MessageId, atMs, status: 200, durationMs: 1 };
}

describe('the judge of a queue journal', () => {
  const accepted = eventsOf((queue) => queue.publish(item('a')));
  const inFlow = eventsOf((queue) => queue.publish(...['a', 'b', 'c'].map((id) => item(id, { flowControl: FLOW }))));

  it('accepts the events of an engine with matching destinations', () => {
    const events = eventsOf((queue) => {
      queue.publish(item('a', { flowControl: FLOW, retryDelay: '0' }), item('b', { flowControl: FLOW, maxRetries: 0 }));
      queue.work();
      queue.outcome('a', 500);
      queue.work();
      queue.outcome('a', 200);
      queue.pass(1000);
      queue.outcome('b', 500);
    });
    const calls = [call('a', { status: 500 }), call('a', { retried: 1 }), call('b', { status: 500 })];
    expect(judgeQueueJournal(events, calls, () => true)).to.deep.equal([]);
  });

  const tick = { type: 'ScheduleFired', id: 'scd_1', tickAtMs: 60_000, messages: [], nextTickAtMs: 0, atMs: 0 };
  const bad: [string, readonly unknown[], CallRecord[], RegExp][] = [
    ['a message that is accepted twice', [...accepted, ...accepted], [], /a is accepted twice/],
    ['an attempt of an unknown message', [started('a', 0)], [], /a: AttemptStarted before it was accepted/],
    [
      'a message that ends twice',
      [...accepted, started('a', 0), delivered('a', 1), delivered('a', 2)],
      [call('a')],
      /a: MessageDelivered after MessageDelivered/,
    ],
    ['a call that was never journaled', accepted, [call('a')], /a: attempt 0 was called and not journaled/],
    [
      'a delivery without an answer',
      [...accepted, started('a', 0), delivered('a', 1)],
      [call('a', { status: 500 })],
      /a is journaled as delivered/,
    ],
    ['a token too many', [...inFlow, started('a', 0), started('b', 2000)], [], /k: 2 are active with b/],
    [
      'a start too many in one window',
      [...inFlow, ...['a', 'b', 'c'].flatMap((id, at) => [started(id, at * 400), delivered(id, at * 400)])],
      ['a', 'b', 'c'].map((id) => call(id)),
      /k: c is start 3 of the window at 0/,
    ],
    ['a tick that is taken twice', [tick, tick], [], /tick scd_1 at 60000 is taken twice/],
  ];
  for (const [name, events, calls, expected] of bad) {
    it(`finds ${name}`, () => {
      const violations = judgeQueueJournal(events as QueueEvent[], calls, () => true);
      expect(violations.length).to.be.greaterThan(0);
      expect(violations[0]).to.match(expected);
    });
  }
});

describe('an answer that its caller did not receive', () => {
  const failed = (id: string, error: string): QueueEvent =>
    ({ type: 'AttemptFailed', id: id as MessageId, atMs: 3, status: 0, durationMs: 2000, error }) as QueueEvent;

  it('is one that arrived after its caller had given the attempt up', () => {
    const calls = [call('a'), call('a', { retried: 1 }), call('b'), call('c', { end: 'closed', status: 0 })];
    const events = [
      ...['a', 'b', 'c'].map((id) => started(id, 1)),
      failed('a', 'timed out after 2s'),
      failed('b', 'connection closed'),
      failed('c', 'timed out after 2s'),
      { ...started('a', 4), retried: 1 },
    ];
    markUnreported(events, calls);
    expect(calls.map(({ end }) => end)).to.deep.equal(['closed', 'answered', 'answered', 'closed']);
  });
});
