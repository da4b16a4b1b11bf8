import { expect } from 'chai';
import { judgeConservation } from '../../support/queue-conservation.js';
import type {
  CallRecord,
  ConservationHistory,
  FaultRecord,
  PublishRecord,
} from '../../support/queue-conservation-history.js';

function publish(number: number, more: Partial<PublishRecord> = {}): PublishRecord {
  return {
    number,
    is: 'acked',
    id: `msg_${number}`,
    why: undefined,
    maxRetries: 1,
    queue: undefined,
    flow: undefined,
    hasCallbacks: false,
    isFar: false,
    cancel: undefined,
    ...more,
  };
}

/** Answered with 200 after ten milliseconds. */
function call(number: number, startedAtMs: number, more: Partial<CallRecord> = {}): CallRecord {
  return {
    id: `msg_${number}`,
    retried: 0,
    number,
    carries: undefined,
    by: 'one',
    startedAtMs,
    endedAtMs: startedAtMs + 10,
    end: 'answered',
    status: 200,
    isGenuine: true,
    ...more,
  };
}

function callback(source: number, startedAtMs: number, more: Partial<CallRecord['carries'] & object> = {}): CallRecord {
  const carries = { source: `msg_${source}`, retried: 0, status: 200, dlqId: undefined, ...more };
  const id = `msg_callback_${source}_${carries.dlqId ?? carries.retried}`;
  return call(0, startedAtMs, { id, number: undefined, carries });
}

function history(more: Partial<ConservationHistory>): ConservationHistory {
  return { publishes: [], calls: [], faults: [], dlq: [], pending: [], parallelism: {}, rates: {}, ...more };
}

const killed: FaultRecord = { what: 'killed', victim: 'one', atMs: 10_005, untilMs: 12_000 };
const failed: Partial<CallRecord> = { status: 500 };
/** A process that died, or is suspended, has not closed its connection. */
const open: Partial<CallRecord> = { endedAtMs: undefined, end: undefined, status: 0 };

describe('the judge of conservation', () => {
  const good: [string, Partial<ConservationHistory>][] = [
    [
      'messages that are delivered, pending, dead, cancelled or refused as reported',
      {
        publishes: [
          publish(1),
          publish(2, { isFar: true }),
          publish(3),
          publish(4, { cancel: 'acked' }),
          publish(5, { is: 'refused', id: undefined }),
          publish(6, { is: 'unknown', id: undefined }),
          publish(7, { is: 'unknown', id: undefined }),
        ],
        calls: [call(1, 1000), call(3, 1000, failed), call(3, 2000, { ...failed, retried: 1 }), call(6, 1000)],
        pending: ['msg_2'],
        dlq: [{ dlqId: '1-1', messageId: 'msg_3' }],
      },
    ],
    [
      'an attempt that is made again because its process died',
      { publishes: [publish(1)], calls: [call(1, 10_000, open), call(1, 12_500, { by: 'two' })], faults: [killed] },
    ],
    [
      'a delivery that is repeated because its answer was never recorded',
      { publishes: [publish(1)], calls: [call(1, 9995), call(1, 12_500, { by: 'two' })], faults: [killed] },
    ],
    [
      'two calls of a queue of which one is of a dead process',
      {
        publishes: [publish(1, { queue: 'line' }), publish(2, { queue: 'line' })],
        calls: [call(1, 10_000, open), call(1, 12_500, { by: 'two' }), call(2, 12_600, { by: 'two' })],
        faults: [killed],
        parallelism: { line: 1 },
      },
    ],
    [
      'two adjacent windows',
      {
        publishes: [1, 2, 3, 4, 5].map((number) => publish(number, { flow: 'gate' })),
        calls: [900, 950, 1000, 1050, 2000].map((atMs, at) => call(at + 1, atMs)),
        rates: { gate: { rate: 2, periodMs: 1000 } },
      },
    ],
    [
      'one callback for an outcome and one for a failure',
      {
        publishes: [publish(1, { hasCallbacks: true }), publish(2, { hasCallbacks: true, maxRetries: 0 })],
        calls: [
          call(1, 1000),
          callback(1, 1100),
          call(2, 1000, failed),
          callback(2, 1100, { status: 500 }),
          callback(2, 1100, { status: 500, dlqId: '1-2' }),
        ],
        dlq: [{ dlqId: '1-2', messageId: 'msg_2' }],
      },
    ],
  ];
  for (const [name, facts] of good) {
    it(`accepts ${name}`, () => {
      expect(judgeConservation(history(facts))).to.deep.equal([]);
    });
  }

  const bad: [string, Partial<ConservationHistory>, RegExp][] = [
    ['an accepted message that is lost', { publishes: [publish(1)] }, /accepted and is lost/],
    [
      'an accepted message that failed and left',
      { publishes: [publish(1)], calls: [call(1, 1000, failed)] },
      /accepted and is lost/,
    ],
    [
      'a cut answer that counts as a delivery',
      { publishes: [publish(1)], calls: [call(1, 1000, { end: 'closed' })] },
      /accepted and is lost/,
    ],
    [
      'a refused message that is delivered',
      { publishes: [publish(1, { is: 'refused', id: undefined })], calls: [call(1, 1000)] },
      /was refused .* delivered all the same/,
    ],
    [
      'a message that is sent long before its due time',
      { publishes: [publish(1, { isFar: true })], calls: [call(1, 1000)], pending: ['msg_1'] },
      /long before it is due/,
    ],
    ['a missing message that is not due yet', { publishes: [publish(1, { isFar: true })] }, /accepted and is lost/],
    [
      'a message that is pending and dead',
      { publishes: [publish(1)], pending: ['msg_1'], dlq: [{ dlqId: '1-1', messageId: 'msg_1' }] },
      /pending and in the DLQ/,
    ],
    [
      'a message that was delivered and is dead',
      { publishes: [publish(1)], calls: [call(1, 1000)], dlq: [{ dlqId: '1-1', messageId: 'msg_1' }] },
      /delivered and is in the DLQ/,
    ],
    [
      'a message that was cancelled and is dead',
      { publishes: [publish(1, { cancel: 'acked' })], dlq: [{ dlqId: '1-1', messageId: 'msg_1' }] },
      /cancelled and is in the DLQ/,
    ],
    ['a message that was never published', { calls: [call(9, 1000)] }, /nobody published it/],
    [
      'one publish that became two messages',
      { publishes: [publish(1)], calls: [call(1, 1000), call(1, 1000, { id: 'msg_other' })] },
      /delivered as msg_1 and as msg_other/,
    ],
    [
      'a publish of unknown outcome that became two messages',
      {
        publishes: [publish(1, { is: 'unknown', id: undefined })],
        calls: [call(1, 1000), call(1, 1000, { id: 'msg_other' })],
      },
      /delivered as msg_1 and as msg_other/,
    ],
    [
      'a retry too many',
      {
        publishes: [publish(1)],
        calls: [0, 1, 2].map((retried) => call(1, 1000 + retried * 100, { retried, status: retried < 2 ? 500 : 200 })),
      },
      /retry 2 of 1/,
    ],
    [
      'an attempt that is made again without a fault',
      { publishes: [publish(1)], calls: [call(1, 1000, failed), call(1, 1100)] },
      /made again without a fault/,
    ],
    [
      'an attempt that is made again long after a fault',
      { publishes: [publish(1)], calls: [call(1, 20_000, failed), call(1, 20_100)], faults: [killed] },
      /made again without a fault/,
    ],
    [
      'an attempt that is made again and again',
      {
        publishes: [publish(1)],
        calls: [1, 2, 3, 4, 5].map((time) => call(1, 10_010 + time, time < 5 ? open : {})),
        faults: [killed],
      },
      /was made 5 times/,
    ],
    [
      'attempts with falling numbers',
      { publishes: [publish(1)], calls: [call(1, 1000, { ...failed, retried: 1 }), call(1, 1100)] },
      /attempt 0 after attempt 1/,
    ],
    [
      'a message that is sent again after its delivery',
      { publishes: [publish(1)], calls: [call(1, 1000), call(1, 2000, { retried: 1 })] },
      /after it was delivered/,
    ],
    [
      'a queue with too many parallel calls',
      {
        publishes: [publish(1, { queue: 'lines' }), publish(2, { queue: 'lines' }), publish(3, { queue: 'lines' })],
        calls: [call(1, 1000), call(2, 1001), call(3, 1002)],
        parallelism: { lines: 2 },
      },
      /lines: 3 calls at once/,
    ],
    [
      'a flow-control key with too many parallel calls',
      {
        publishes: [publish(1, { flow: 'lanes' }), publish(2, { flow: 'lanes' })],
        calls: [call(1, 1000), call(2, 1001)],
        parallelism: { lanes: 1 },
      },
      /lanes: 2 calls at once/,
    ],
    [
      'a call parallel to one of a stopped process that was not suspended',
      {
        publishes: [publish(1, { flow: 'lanes' }), publish(2, { flow: 'lanes' })],
        calls: [call(1, 10_000, { ...open, by: 'two' }), call(1, 12_500, { by: 'two' }), call(2, 12_600)],
        faults: [killed],
        parallelism: { lanes: 1 },
      },
      /lanes: 2 calls at once/,
    ],
    [
      'a key that starts more than its windows allow',
      {
        publishes: [1, 2, 3, 4, 5].map((number) => publish(number, { flow: 'gate' })),
        calls: [1000, 1050, 1100, 1150, 1200].map((atMs, at) => call(at + 1, atMs)),
        rates: { gate: { rate: 2, periodMs: 1000 } },
      },
      /gate: 5 calls began within 200 ms/,
    ],
    [
      'a key that is slightly too fast all the time',
      {
        publishes: Array.from({ length: 21 }, (_, at) => publish(at, { flow: 'gate' })),
        calls: Array.from({ length: 21 }, (_, at) => call(at, 1000 + at * 250)),
        rates: { gate: { rate: 2, periodMs: 1000 } },
      },
      /gate: 7 calls began within 1500 ms/,
    ],
    [
      'a queue that overtakes a message that is to be tried again',
      {
        publishes: [publish(1, { queue: 'line' }), publish(2, { queue: 'line' })],
        calls: [call(1, 1000, failed), call(2, 1100), call(1, 1200, { retried: 1 })],
        parallelism: { line: 1 },
      },
      /line: 2 began 110 ms before 1 was over/,
    ],
    [
      'a queue that does not wait for a callback',
      {
        publishes: [publish(1, { queue: 'line', hasCallbacks: true }), publish(2, { queue: 'line' })],
        calls: [call(1, 1000), call(2, 1100), callback(1, 1200)],
        parallelism: { line: 1 },
      },
      /line: 2 began 110 ms before 1 was over/,
    ],
    [
      'a queue in another order than that of acceptance',
      {
        publishes: [publish(1, { queue: 'line' }), publish(2, { queue: 'line' })],
        calls: [call(2, 1000), call(1, 2000)],
        parallelism: { line: 1 },
      },
      /line: 2 began 1010 ms before 1 was over/,
    ],
    [
      'a call with a signature of another body',
      { publishes: [publish(1)], calls: [call(1, 1000, { isGenuine: false })] },
      /not signed/,
    ],
    [
      'a delivery without its callback',
      { publishes: [publish(1, { hasCallbacks: true })], calls: [call(1, 1000)] },
      /delivered, and nobody was told/,
    ],
    [
      'a failure without its failure callback',
      {
        publishes: [publish(1, { hasCallbacks: true })],
        calls: [call(1, 1000, failed), callback(1, 1100, { status: 500 })],
        dlq: [{ dlqId: '1-1', messageId: 'msg_1' }],
      },
      /in the DLQ as 1-1, and nobody was told/,
    ],
    [
      'one outcome in two messages',
      {
        publishes: [publish(1, { hasCallbacks: true })],
        calls: [call(1, 1000), callback(1, 1100), { ...callback(1, 1200), id: 'msg_other' }],
      },
      /is told by msg_callback_1_0 and by msg_other/,
    ],
    ['the outcome of a message that was never published', { calls: [callback(9, 1000)] }, /which nobody published/],
  ];
  for (const [name, facts, expected] of bad) {
    it(`finds ${name}`, () => {
      const violations = judgeConservation(history(facts));
      expect(violations.length).to.be.greaterThan(0);
      expect(violations[0]).to.match(expected);
    });
  }
});
