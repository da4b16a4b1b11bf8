/** One call, with the events of its connection in any order. Proves DC3, and DC1 for any order. */
import { expect } from 'chai';
import { AnswerMemory } from '../../../../src/adapters/http-delivery/answer-memory.js';
import type { Connection } from '../../../../src/adapters/http-delivery/connection.js';
import { DeliveryCall } from '../../../../src/adapters/http-delivery/delivery-call.js';
import { ConnectionLost } from '../../../../src/adapters/http-delivery/failure-words.js';
import type { OriginConnections } from '../../../../src/adapters/http-delivery/origin-connections.js';
import type { HeaderList } from '../../../../src/domain/queue/index.js';
import type { CallOutcome } from '../../../../src/ports/index.js';
import { seededRandom } from '../../../support/kv-bench.js';

const MAX_RESPONSE_BYTES = 200_000;
const ERRORS = [
  new Error('plain'),
  new ConnectionLost(),
  Object.assign(new Error('reset'), { code: 'ECONNRESET' }),
  Object.assign(new Error('odd'), { code: 7 }),
  null as unknown as Error,
  undefined as unknown as Error,
  'a text' as unknown as Error,
];
const HEADERS = [
  [],
  [['Content-Length', '']],
  [['Content-Length', '-1']],
  [['content-length', 'many']],
  [['Content-Length', '150000']],
  [
    ['\xff\0', '\xff'],
    ['x', ''],
  ],
] as const;

describe('a call to a destination', () => {
  it('never throws and has exactly one outcome, for any order of connection events (DC3)', () => {
    const { float } = seededRandom(18);
    const below = (limit: number): number => Math.floor(float() * limit);
    const pick = <T>(from: readonly T[]): T => from[below(from.length)] as T;
    const kinds = new Set<string>();
    for (let run = 0; run < 1000; run += 1) {
      const outcomes: CallOutcome[] = [];
      const stand = callWith((_, outcome) => outcomes.push(outcome));
      const { call, connection } = stand;
      const told: (() => unknown)[] = [
        () => {
          call.board(connection);
          call.request();
        },
        () => call.received(pick([0, 1, 1000, 100_000])),
        () => call.readsOn,
        () => call.onHeaders(pick([100, 103, 200, 204, 404, 599]), pick<HeaderList>(HEADERS)),
        () => call.onData(Buffer.alloc(pick([0, 1, 70_000, 300_000]))),
        () => call.onComplete(),
        () => call.onError(pick(ERRORS)),
        () => call.interrupt(),
      ];
      const order: number[] = [];
      call.start();
      for (let step = 0; step < 12; step += 1) {
        // Most steps continue the call, so that it collects as much as it may hold.
        const next = float() < 0.6 ? pick([0, 1, 3, 4]) : below(told.length);
        order.push(next);
        expect(told[next], order.join(' ')).not.to.throw();
      }
      call.interrupt();
      expect(outcomes.length, order.join(' ')).to.equal(1);
      kinds.add(outcomes[0]?.kind as string);
      expect(stand.answers.usedBytes + stand.answers.waitingCount, order.join(' ')).to.equal(0);
    }
    expect([...kinds].sort()).to.deep.equal(['interrupted', 'no-response', 'response']);
  });
});

function callWith(over: (call: DeliveryCall, outcome: CallOutcome) => void) {
  const answers = new AnswerMemory(250_000);
  const connection = { goOn: () => {}, isReused: true } as unknown as Connection;
  const connections = {
    enter: () => {},
    leave: () => {},
    release: () => {},
    replace: () => {},
  } as unknown as OriginConnections;
  const call = new DeliveryCall({
    call: {
      timeoutMs: 60_000,
      maxResponseBytes: MAX_RESPONSE_BYTES,
      signal: new AbortController().signal,
    } as never,
    connections,
    request: { head: '', body: new Uint8Array(0), hasBodylessAnswer: false },
    maxOverheadBytes: 64 * 1024,
    answers,
    over,
  });
  return { call, connection, answers };
}
