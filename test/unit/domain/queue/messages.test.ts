import { expect } from 'chai';
import fc from 'fast-check';
import { newMessageId } from '../../../../src/domain/queue/model/ids.js';
import { Envelopes } from '../../../../src/domain/queue/model/messages/envelopes.js';
import { ACTIVE, DELIVERED, Message, WAITING } from '../../../../src/domain/queue/model/messages/message.js';
import type { Envelope } from '../../../../src/domain/queue/model/records.js';
import type { MessageId } from '../../../../src/kernel/index.js';
import { PLAIN_DELIVERY, PLAIN_ENVELOPE } from '../../../support/plain-delivery.js';

const ID = 'msg_1' as MessageId;

function envelope(changes: Partial<Envelope> = {}): Envelope {
  return {
    ...PLAIN_ENVELOPE,
    url: 'https://example.org/',
    settings: { ...PLAIN_DELIVERY, header: [['Content-Type', 'text/plain']] },
    callerIp: '127.0.0.1',
    ...changes,
  };
}

function message(createdAtMs = 0, notBeforeMs = 0, dueAtMs = 0): Message {
  const facts = { createdAtMs, notBeforeMs, dueAtMs, order: 1, holdsPlaceOf: undefined };
  return new Message(ID, new Envelopes().hold(envelope()), { number: 1, bytes: 200 }, facts);
}

describe('a message in memory', () => {
  const instant = fc.integer({ min: 0, max: 9_000_000_000_000 });

  it('keeps its instants to the millisecond', () => {
    fc.assert(
      fc.property(instant, instant, instant, instant, instant, (created, notBefore, due, later, since) => {
        const one = message(created, notBefore, due);
        expect([one.createdAtMs, one.notBeforeMs, one.dueAtMs, one.sinceMs]).to.deep.equal([
          created,
          notBefore,
          due,
          0,
        ]);
        one.dueAtMs = later;
        one.sinceMs = since;
        const instants = [one.createdAtMs, one.notBeforeMs, one.dueAtMs, one.sinceMs];
        expect(instants).to.deep.equal([created, notBefore, later, since]);
      }),
    );
  });

  it('keeps its status, its marks and its restarts separately', () => {
    const status = fc.constantFrom(WAITING, ACTIVE, DELIVERED);
    const restarts = fc.integer({ min: 0, max: 100 });
    const steps = fc.array(fc.record({ status, restarts, isCancelRequested: fc.boolean(), hasToken: fc.boolean() }));
    fc.assert(
      fc.property(steps, (changes) => {
        const one = message();
        for (const change of changes) {
          Object.assign(one, change);
          const { status, restarts, isCancelRequested, hasToken } = one;
          expect({ status, restarts, isCancelRequested, hasToken }).to.deep.equal(change);
        }
      }),
    );
  });
});

describe('envelopes', () => {
  it('are shared by equal publishes', () => {
    const envelopes = new Envelopes();
    const first = envelope();
    envelopes.hold(first);
    expect(envelopes.commonOf(envelope())).to.equal(first);
  });

  it('are different for any difference', () => {
    const envelopes = new Envelopes();
    envelopes.hold(envelope());
    const { settings } = envelope();
    const callback = { url: 'https://example.org/done', settings };
    const others = [
      envelope({ url: 'https://example.org/other' }),
      envelope({ queueName: 'orders' }),
      envelope({ callerIp: '127.0.0.2' }),
      envelope({ isAlias: true }),
      envelope({ topicName: 'group' }),
      envelope({ endpointName: 'one' }),
      envelope({ callbackOf: ID }),
      ...[
        { method: 'PUT' } as const,
        { header: [] },
        { header: [['Content-Type', 'text/html']] } as const,
        { maxRetries: 4 },
        { retryDelay: '1000' },
        { timeoutSeconds: 7 },
        { delaySeconds: 7 },
        { callback },
        { failureCallback: callback },
        { flowControl: { key: 'k', parallelism: 1, rate: undefined, periodSeconds: 1 } },
        { labels: ['one'] },
        { redact: { body: true, allHeaders: false, headers: [] } },
      ].map((changes) => envelope({ settings: { ...settings, ...changes } })),
    ];
    for (const other of others) expect(envelopes.commonOf(other)).to.equal(other);
  });

  it('are forgotten with their last message', () => {
    const envelopes = new Envelopes();
    envelopes.release(envelopes.hold(envelope()));
    const next = envelope();
    expect(envelopes.commonOf(next)).to.equal(next);
    expect(envelopes.size).to.equal(0);
  });
});

describe('the id of a message', () => {
  it('has a prefix and 28 letters and digits', () => {
    const random = { bytes: (count: number) => Uint8Array.from({ length: count }, (_, at) => at * 9), float: () => 0 };
    expect(newMessageId(random, Date.UTC(2026, 10, 24))).to.match(/^msg_[1-9A-HJ-NP-Za-km-z]{28}$/);
    expect(newMessageId(random, -1.5)).to.match(/^msg_1{8}[1-9A-HJ-NP-Za-km-z]{20}$/);
  });

  it('sorts after ids of earlier milliseconds, for any random bytes', () => {
    const all = (byte: number) => ({ bytes: (count: number) => new Uint8Array(count).fill(byte), float: () => 0 });
    const times = [0, 57, 58, 1_795_000_000_000, 1_795_000_000_001, 4_102_444_800_000, Number.MAX_SAFE_INTEGER / 100];
    const ids = times.map((nowMs, at) => newMessageId(all(at % 2 === 0 ? 57 : 0), nowMs));
    expect(ids.toSorted()).to.deep.equal(ids);
    expect(new Set(ids).size).to.equal(times.length);
  });

  it('differs from others of its millisecond in 20 random characters', () => {
    let asked = 0;
    const random = { bytes: (count: number) => new Uint8Array(count).fill(asked++), float: () => 0 };
    const [one = '', other = ''] = [newMessageId(random, 1000), newMessageId(random, 1000)];
    expect([...one].filter((character, at) => character !== other[at])).to.have.length(20);
  });
});
