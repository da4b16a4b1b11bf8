/**
 * Recorded bytes decode in every release: the files in test/fixtures/journals are added to, never edited. Proves
 * PK1–PK3, SHP2.
 */
import { readFileSync } from 'node:fs';
import { decodeMulti } from '@msgpack/msgpack';
import { expect } from 'chai';
import fc from 'fast-check';
import { hotEvents } from '../../../../src/codec/queue/hot-events.js';
import {
  decodeIntakeRecord,
  decodeQueueEvents,
  encodeIntakeRecord,
  encodeQueueEvent,
} from '../../../../src/codec/queue/index.js';
import { type QueueEvent, type QueueEventOf, queueEvents } from '../../../../src/domain/queue/index.js';
import { type DlqId, isUnreadable, type MessageId, MillraceError } from '../../../../src/kernel/index.js';
import { decoded, encoded, union } from '../../../../src/kernel/schema/index.js';
import { repetitions } from '../../../support/depth.js';
import { GOLDEN_EVENTS, GOLDEN_INTAKE } from './golden-values.js';
import { GOLDEN_RUN_MESSAGES } from './workflow-golden-values.js';

const fixture = (name: string) =>
  JSON.parse(readFileSync(`${process.cwd()}/test/fixtures/journals/${name}.json`, 'utf8')) as Record<string, string>;
const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');
const throughBytes = (event: QueueEvent) => [...decodeQueueEvents(encodeQueueEvent(event))];
const refuses = (damaged: Uint8Array) =>
  expect(() => [...decodeQueueEvents(damaged)])
    .to.throw(MillraceError)
    .with.property('code')
    .that.is.oneOf(['JOURNAL_DAMAGED', 'NEWER_FORMAT']);

describe('queue events', () => {
  const golden = fixture('queue-events');
  const all = Object.values(GOLDEN_EVENTS);

  for (const [type, event] of Object.entries(GOLDEN_EVENTS)) {
    it(`keep the bytes of ${type}`, () => {
      expect(hex(encodeQueueEvent(event))).to.equal(golden[type]);
      expect([...decodeQueueEvents(Buffer.from(golden[type] as string, 'hex'))]).to.deep.equal([event]);
    });
  }

  it('follow each other in a section, and are valid MessagePack', () => {
    const section = Buffer.concat(all.map(encodeQueueEvent));
    expect([...decodeQueueEvents(section)]).to.deep.equal(all);
    const types = [...decodeMulti(section)].map((list) => (list as [number])[0]);
    expect(new Set(types).size).to.equal(all.length);
  });

  it('that are cut anywhere are refused', () => {
    for (const event of all) {
      const bytes = encodeQueueEvent(event);
      for (let length = 1; length < bytes.length; length += 1) refuses(bytes.subarray(0, length));
    }
  });

  it('of a newer type, or with a newer field, are refused as such', () => {
    expect(() => [...decodeQueueEvents(Buffer.from([0x92, 120, 0xc0]))]).to.throw(
      /queue event was written by a newer release \(kind 120/,
    );
    const started = Buffer.from(encodeQueueEvent(GOLDEN_EVENTS.AttemptStarted));
    const longer = Buffer.concat([Buffer.from([(started[0] as number) + 1]), started.subarray(1), Buffer.from([0xc0])]);
    expect(() => [...decodeQueueEvents(longer)]).to.throw(/newer release \(field/);
  });

  it('of an unknown type, with a field too many or too few, are refused', () => {
    refuses(Buffer.from([0x90, 1]));
    refuses(Buffer.from([0xc0]));
    for (const type of ['GroupDeleted', 'AttemptStarted', 'MessageDelivered'] as const) {
      const bytes = Buffer.from(golden[type] as string, 'hex');
      const longer = Buffer.concat([bytes, Buffer.from([0xc0])]);
      longer[0] = (bytes[0] as number) + 1;
      refuses(longer);
      const shorter = Buffer.from(bytes);
      shorter[0] = (bytes[0] as number) - 1;
      refuses(shorter);
    }
  });

  it('with a text that is not UTF-8, or a number outside of the integers, are refused', () => {
    const bytes = Buffer.from(golden.GroupDeleted as string, 'hex');
    const notUtf8 = Buffer.from(bytes);
    notUtf8[notUtf8.indexOf('all')] = 0xff;
    refuses(notUtf8);
    const tooLarge = Buffer.from(bytes);
    tooLarge.fill(0xff, tooLarge.length - 8);
    refuses(tooLarge);
  });

  it('nested deeper than the stack are refused', () => {
    const nested = Buffer.alloc(2_000_000, 0x9b);
    const head = Buffer.from(golden.ScheduleRestored as string, 'hex').subarray(0, 2);
    refuses(Buffer.concat([head, nested]));
  });

  it('of any bytes are read or refused, without another error', () => {
    const seeds = all.map((event) => Buffer.from(encodeQueueEvent(event)));
    const flips = fc.array(fc.tuple(fc.nat(), fc.nat(255)), { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(fc.constantFrom(...seeds), flips, (seed, changes) => {
        const damaged = Buffer.from(seed);
        for (const [at, byte] of changes) damaged[at % damaged.length] = byte;
        try {
          for (const _ of decodeQueueEvents(damaged));
        } catch (error) {
          expect(error).to.satisfy(isUnreadable);
        }
      }),
      { numRuns: repetitions(2000) },
    );
  });

  it('with a number that is no integer are refused by the writer, before they are stored', () => {
    const event: QueueEvent = { type: 'QueueSet', name: 'q', parallelism: 1.5, isPaused: false, atMs: 1 };
    expect(() => encodeQueueEvent(event))
      .to.throw(MillraceError)
      .with.property('code', 'DEFECT');
    expect(throughBytes({ ...event, parallelism: 2 })).to.deep.equal([{ ...event, parallelism: 2 }]);
  });

  it('keep any text and any number unchanged', () => {
    const texts = fc.oneof(fc.string({ unit: 'binary', maxLength: 80 }), fc.string(), fc.constant('x'.repeat(70_000)));
    const loose = fc.array(fc.constantFrom('\ud800', '\udc00', 'a', 'ä', '😀', '\ufffd'), { maxLength: 60 });
    fc.assert(
      fc.property(
        fc.oneof(
          texts,
          loose.map((parts) => parts.join('')),
        ),
        fc.maxSafeInteger(),
        fc.double(),
        (text, whole, double) => {
          const set: QueueEvent = { type: 'QueueSet', name: text, parallelism: whole, isPaused: true, atMs: 1 };
          expect(throughBytes(set)).to.deep.equal([set]);
          const done: QueueEvent = { ...GOLDEN_EVENTS.MessageDelivered, durationMs: double };
          expect((throughBytes(done)[0] as QueueEventOf<'MessageDelivered'>).durationMs).to.be.deep.equal(double);
        },
      ),
      { numRuns: repetitions(300) },
    );
  });
});

describe('queue events that are written field by field', () => {
  const declared = union('type', queueEvents);
  const asDeclared = (bytes: Uint8Array) => decoded(declared, bytes, 'an event');
  const { MessageAccepted, AttemptStarted, MessageDelivered, AttemptFailed, MessageRestored } = GOLDEN_EVENTS;
  const { workflow: _, ...ofNoRun } = MessageRestored;
  const some = 'some\ud800' as MessageId & DlqId;
  const events: QueueEvent[] = [
    ...Object.values(GOLDEN_RUN_MESSAGES).filter(({ type }) => type in hotEvents),
    { ...MessageAccepted, deduplication: some, retryOf: undefined, holdsPlaceOf: some },
    { ...MessageAccepted, deduplication: undefined, retryOf: some, holdsPlaceOf: undefined },
    { ...MessageAccepted, body: { number: 0, bytes: 0, content: undefined } },
    { ...MessageAccepted, body: { number: 2 ** 40, bytes: 1, content: Uint8Array.of(1) } },
    AttemptStarted,
    { ...MessageDelivered, durationMs: 0.25 },
    { ...MessageDelivered, answer: { header: [['A', 'b']], body: new Uint8Array(300), isCut: false } },
    { ...AttemptFailed, error: some, nextAtMs: undefined, header: [] },
    { ...AttemptFailed, nextAtMs: 2 ** 33, response: new Uint8Array(300) },
    { ...ofNoRun, holdsPlaceOf: some, status: 'waiting', isCancelRequested: true },
    { ...ofNoRun, holdsPlaceOf: undefined, status: 'delivered', isCancelRequested: false },
  ];

  it('have the bytes and the values of their declared shapes', () => {
    expect(new Set(events.map(({ type }) => type))).to.deep.equal(new Set(Object.keys(hotEvents)));
    for (const event of events) {
      const bytes = encodeQueueEvent(event);
      expect(hex(encoded(declared, event))).to.equal(hex(bytes));
      expect(asDeclared(bytes)).to.deep.equal(event);
      expect(throughBytes(event)).to.deep.equal([event]);
    }
  });

  it('are refused where their declared shapes refuse them', () => {
    for (const type of Object.keys(hotEvents) as (keyof typeof hotEvents)[]) {
      const bytes = Buffer.from(encodeQueueEvent(GOLDEN_EVENTS[type]));
      for (let count = 1; count < 16; count += 1) {
        bytes[0] = 0x90 | count;
        const read = (how: () => unknown) => {
          try {
            how();
            return 'read';
          } catch (error) {
            return (error as MillraceError).code;
          }
        };
        expect(read(() => [...decodeQueueEvents(bytes)])).to.equal(read(() => asDeclared(bytes)));
      }
    }
  });
});

const POOL_ALIGNMENT_BYTES = 64;

describe('bodies and envelopes of queue events', () => {
  const accepted = GOLDEN_EVENTS.MessageAccepted;

  it('keep no entry in memory, only the block that short ones share', () => {
    const small = { ...accepted, body: { number: 1, bytes: 100, content: new Uint8Array(100).fill(7) } };
    const entry = Buffer.alloc(1_000_000);
    const bytes = encodeQueueEvent(small);
    entry.set(bytes, 500);
    const section = entry.subarray(500, 500 + bytes.length);
    const [event] = [...decodeQueueEvents(section)] as [QueueEventOf<'MessageAccepted'>];
    expect(event.body.content).to.deep.equal(small.body.content);
    // Since Node.js 26 a pool is longer by its alignment.
    expect(event.body.content?.buffer.byteLength).to.be.at.most(Buffer.poolSize + POOL_ALIGNMENT_BYTES);
  });

  it('are not copied when they are most of their buffer', () => {
    const content = new Uint8Array(1_000_000).fill(9);
    const bytes = encodeQueueEvent({ ...accepted, body: { number: 1, bytes: content.length, content } });
    const [event] = [...decodeQueueEvents(bytes)] as [QueueEventOf<'MessageAccepted'>];
    expect(event.body.content).to.deep.equal(content);
    expect(event.body.content?.buffer).to.equal(bytes.buffer);
  });

  it('are one object for equal bytes, as long as it is cached', () => {
    const [one] = throughBytes(accepted) as [QueueEventOf<'MessageAccepted'>];
    const [two] = throughBytes({ ...accepted, envelope: { ...accepted.envelope } }) as [
      QueueEventOf<'MessageAccepted'>,
    ];
    expect(two.envelope).to.equal(one.envelope);
    const [different] = throughBytes({
      ...accepted,
      envelope: { ...accepted.envelope, isAlias: false },
    }) as [QueueEventOf<'MessageAccepted'>];
    expect(different.envelope).not.to.equal(one.envelope);
  });

  it('are read correctly even if more of them follow than are cached', () => {
    const envelopes = Array.from({ length: 40 }, (_, at) => ({
      ...accepted.envelope,
      url: `https://api.example/${at}/${'x'.repeat(300_000)}`,
    }));
    for (const envelope of [...envelopes, ...envelopes]) {
      expect(throughBytes({ ...accepted, envelope })).to.deep.equal([{ ...accepted, envelope }]);
    }
  });
});

describe('intake records', () => {
  const golden = fixture('intake-record').v1 as string;

  it('keep their bytes', () => {
    expect(hex(encodeIntakeRecord(GOLDEN_INTAKE))).to.equal(golden);
    expect(decodeIntakeRecord(Buffer.from(golden, 'hex'))).to.deep.equal(GOLDEN_INTAKE);
  });

  it('that are damaged or of a later version are refused', () => {
    const bytes = Buffer.from(golden, 'hex');
    expect(() => decodeIntakeRecord(Buffer.concat([Buffer.from([2]), bytes.subarray(1)]))).to.throw(
      /newer release \(version 2/,
    );
    for (const damaged of [bytes.subarray(0, -1), Buffer.concat([bytes, bytes]), Buffer.alloc(0)]) {
      expect(() => decodeIntakeRecord(damaged))
        .to.throw(MillraceError)
        .with.property('code', 'JOURNAL_DAMAGED');
    }
  });
});
