/** The fields of runs in the records of the queue; records without them keep the bytes from before runs existed. */
import { readFileSync } from 'node:fs';
import { decode } from '@msgpack/msgpack';
import { expect } from 'chai';
import fc from 'fast-check';
import {
  decodeIntakeRecord,
  decodeQueueCommand,
  decodeQueueEvents,
  decodeQueueReply,
  encodeIntakeRecord,
  encodeQueueCommand,
  encodeQueueEvent,
  encodeQueueReply,
} from '../../../../src/codec/queue/index.js';
import type { PublishItem, QueueCommand, QueueEvent, QueueEventOf } from '../../../../src/domain/queue/index.js';
import type {
  EventWaiter,
  FailureFunctionState,
  ResumedFrom,
  RunEndState,
  RunPart,
  StepMark,
  WorkflowMark,
} from '../../../../src/domain/queue/runs/index.js';
import {
  type AccountId,
  type DlqId,
  isUnreadable,
  type MessageId,
  MillraceError,
  type RunId,
} from '../../../../src/kernel/index.js';
import { repetitions } from '../../../support/depth.js';
import { GOLDEN_EVENTS, GOLDEN_INTAKE } from './golden-values.js';
import { GOLDEN_RUN_MESSAGES, GOLDEN_WORKFLOW_EVENTS, RUN_PARTS, RUN_SAMPLES } from './workflow-golden-values.js';
import {
  RUN_ITEMS,
  RUN_PUBLISH,
  RUN_PUBLISHED,
  WORKFLOW_COMMANDS,
  WORKFLOW_REPLIES,
} from './workflow-remote-values.js';

const golden = JSON.parse(readFileSync(`${process.cwd()}/test/fixtures/journals/queue-events.json`, 'utf8')) as Record<
  string,
  string
>;
const account = 'ac-aaaabbbbccccdddd' as AccountId;
const NIL = Buffer.from([0xc0]);
const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');
const bytesOf = (type: string) => Buffer.from(golden[type] as string, 'hex');
const throughBytes = (event: QueueEvent) => [...decodeQueueEvents(encodeQueueEvent(event))][0] as QueueEvent;
const isRun = (type: string) => type in GOLDEN_WORKFLOW_EVENTS || type in GOLDEN_RUN_MESSAGES;

const { MessageAccepted: plain, MessageRestored: plainRestored } = GOLDEN_EVENTS;
const withMark = (workflow: WorkflowMark) => ({ ...plain, envelope: { ...plain.envelope, workflow } });

describe('queue records from before workflow runs', () => {
  for (const type of Object.keys(golden).filter((type) => !isRun(type))) {
    it(`are read and written with the same bytes: ${type}`, () => {
      const [event, ...more] = [...decodeQueueEvents(bytesOf(type))] as [QueueEvent];
      expect(more).to.deep.equal([]);
      expect(JSON.stringify(event)).not.to.contain('"workflow"');
      expect(hex(encodeQueueEvent(event))).to.equal(golden[type]);
    });
  }

  it('have the same number of fields: messages, envelopes, published items, answers', () => {
    const accepted = decode(bytesOf('MessageAccepted')) as unknown[];
    expect(accepted).to.have.length(11);
    expect(decode(accepted[3] as Uint8Array)).to.have.length(9);
    expect(decode(bytesOf('MessageRestored'))).to.have.length(15);
    const intake = decode(encodeIntakeRecord(GOLDEN_INTAKE).subarray(1)) as [string, unknown[][]];
    expect(intake[1].map((item) => item.length)).to.deep.equal([8, 8]);
    const answer = decode(encodeQueueReply(RUN_PUBLISHED).subarray(1)) as [number, [boolean, unknown[][]][]];
    expect(answer[1].map(([, [published]]) => published?.length)).to.deep.equal([4, 3]);
  });

  it('are written the same whether run fields are absent or undefined', () => {
    const envelope = { ...plain.envelope, workflow: undefined };
    expect(hex(encodeQueueEvent({ ...plain, envelope, workflow: undefined }))).to.equal(golden.MessageAccepted);
    expect(hex(encodeQueueEvent({ ...plainRestored, workflow: undefined }))).to.equal(golden.MessageRestored);
    const items = GOLDEN_INTAKE.items.map((item) => ({ ...item, workflow: undefined }));
    expect(hex(encodeIntakeRecord({ ...GOLDEN_INTAKE, items }))).to.equal(hex(encodeIntakeRecord(GOLDEN_INTAKE)));
  });
});

describe('messages of runs', () => {
  for (const [name, event] of Object.entries(GOLDEN_RUN_MESSAGES)) {
    it(`keep the bytes of ${name}`, () => {
      expect(hex(encodeQueueEvent(event))).to.equal(golden[name]);
      expect([...decodeQueueEvents(bytesOf(name))]).to.deep.equal([event]);
    });

    it(`are refused when cut anywhere: ${name}`, () => {
      const bytes = bytesOf(name);
      for (let length = 1; length < bytes.length; length += 1) refusesEvents(bytes.subarray(0, length));
    });
  }

  it('are read among plain ones', () => {
    const events: QueueEvent[] = [plain, ...Object.values(GOLDEN_RUN_MESSAGES), plainRestored, plain];
    const section = Buffer.concat(events.map(encodeQueueEvent));
    expect([...decodeQueueEvents(section)]).to.deep.equal(events);
  });

  it('with a field too many are refused', () => {
    // Twelve values in a list of up to fifteen, sixteen in a longer one: number and fields.
    const accepted = bytesOf('MessageAccepted, step');
    expect(accepted[0]).to.equal(0x9c);
    refusesEvents(Buffer.concat([Buffer.from([0x9d]), accepted.subarray(1), NIL]));
    const restored = bytesOf('MessageRestored, step');
    expect(hex(restored.subarray(0, 3))).to.equal('dc0010');
    refusesEvents(Buffer.concat([Buffer.from([0xdc, 0, 17]), restored.subarray(3), NIL]));
  });

  it('carry any part and any step', () => {
    fc.assert(
      fc.property(runParts, (workflow) => {
        const accepted: QueueEvent = { ...plain, workflow };
        expect(throughBytes(accepted)).to.deep.equal(accepted);
        const restored: QueueEvent = { ...plainRestored, workflow };
        expect(throughBytes(restored)).to.deep.equal(restored);
      }),
      { numRuns: repetitions(300) },
    );
  });

  it('share an envelope only with those of an equal mark', () => {
    const marks = [0, 1, 2, 3].map((at) => ({
      detectsTrigger: at === 0,
      needsRecentClient: at === 1,
      canFetch: at === 2,
      isConfiguredByTrigger: at === 3,
    }));
    const envelopes = [plain, ...marks.map(withMark)].map(envelopeThroughBytes);
    expect(envelopes.map((envelope) => envelope.workflow)).to.deep.equal([undefined, ...marks]);
    expect(new Set(envelopes).size).to.equal(5);
    const again = [plain, ...marks.map((mark) => withMark({ ...mark }))].map(envelopeThroughBytes);
    expect(again.map((envelope, at) => envelope === envelopes[at])).to.deep.equal([true, true, true, true, true]);
  });
});

describe('events of runs', () => {
  it('carry any number of entries of each kind', () => {
    const { entries: some } = GOLDEN_WORKFLOW_EVENTS.RunEntriesRestored;
    for (const count of [0, 1, 16, 500, 5001]) {
      const entries = Array.from({ length: count }, (_, at) => some[at % 2] as (typeof some)[0]);
      const event: QueueEvent = { ...GOLDEN_WORKFLOW_EVENTS.RunEntriesRestored, entries };
      expect(throughBytes(event)).to.deep.equal(event);
    }
  });

  it('carry absent values as undefined', () => {
    const { RunStarted, RunEnded, FailureFunctionEnded, RunRestored } = GOLDEN_WORKFLOW_EVENTS;
    const nothing = new Uint8Array(0);
    const events: QueueEvent[] = [
      { ...RunStarted, invoker: undefined, resumedFrom: undefined, kept: [] },
      {
        ...RunStarted,
        rerunOf: { runId: 'r' as RunId, runCreatedAtMs: 1, contents: [{ number: 4, bytes: 1, content: nothing }] },
      },
      { ...RunEnded, state: 'RUN_SUCCESS', response: nothing, dlqId: undefined, error: undefined },
      { ...RunEnded, state: 'RUN_CANCELED', response: undefined, dlqId: undefined, error: '' },
      { ...FailureFunctionEnded, state: undefined, response: { number: 0, bytes: 0, content: undefined } },
      {
        ...RunRestored,
        invoker: undefined,
        dlqId: undefined,
        failureFunction: undefined,
        waiters: [],
        storedEvents: [],
      },
    ];
    for (const event of events) expect(throughBytes(event)).to.deep.equal(event);
  });

  it('carry every end state', () => {
    const { RunEnded, WaiterRemoved, FailureFunctionEnded, RunStarted, RunRestored } = GOLDEN_WORKFLOW_EVENTS;
    const ends = wordsOf<RunEndState>({ RUN_SUCCESS: true, RUN_FAILED: true, RUN_CANCELED: true });
    const whys = wordsOf<typeof WaiterRemoved.why>({ notified: true, timeout: true });
    const hows = wordsOf<ResumedFrom['how']>({ resume: true, restart: true });
    const functionEnds = wordsOf<NonNullable<typeof FailureFunctionEnded.state>>({
      CALLBACK_SUCCESS: true,
      CALLBACK_FAIL: true,
      CALLBACK_CANCELED: true,
    });
    const functionStates = wordsOf<FailureFunctionState>({
      CALLBACK_INPROGRESS: true,
      CALLBACK_SUCCESS: true,
      CALLBACK_FAIL: true,
      CALLBACK_CANCELED: true,
    });
    const { failureFunction } = RUN_SAMPLES;
    const { resumedFrom } = RunStarted as { readonly resumedFrom: ResumedFrom };
    const events: QueueEvent[] = [
      ...ends.map((state) => ({ ...RunEnded, state })),
      ...whys.map((why) => ({ ...WaiterRemoved, why })),
      ...hows.map((how) => ({ ...RunStarted, resumedFrom: { ...resumedFrom, how } })),
      ...functionEnds.map((state) => ({ ...FailureFunctionEnded, state })),
      ...functionStates.map((state) => ({ ...RunRestored, failureFunction: { ...failureFunction, state } })),
    ];
    for (const event of events) expect(throughBytes(event)).to.deep.equal(event);
  });

  it('carry waiters with any texts', () => {
    const { waiter } = GOLDEN_WORKFLOW_EVENTS.WaiterAdded;
    const made = fc.record({
      eventId: words,
      step: steps,
      stepText: words,
      timeoutText: words,
      timeoutBody: fc.option(words, { nil: undefined }),
      deadlineMs: fc.maxSafeNat(),
    });
    fc.assert(
      fc.property(made, (some) => {
        const changed: EventWaiter = { ...waiter, ...some };
        const event: QueueEvent = { type: 'WaiterAdded', atMs: 1, waiter: changed };
        expect(throughBytes(event)).to.deep.equal(event);
      }),
      { numRuns: repetitions(200) },
    );
  });

  it('of any bytes are read or refused, without another error', () => {
    const seeds = [...Object.values(GOLDEN_WORKFLOW_EVENTS), ...Object.values(GOLDEN_RUN_MESSAGES)].map(
      encodeQueueEvent,
    );
    fc.assert(
      fc.property(fc.constantFrom(...seeds), flips, (seed, changes) => {
        const damaged = flipped(seed, changes);
        try {
          for (const _ of decodeQueueEvents(damaged));
        } catch (error) {
          expect(error).to.satisfy(isUnreadable);
        }
      }),
      { numRuns: repetitions(2000) },
    );
  });
});

describe('published items of runs', () => {
  it('cross the bus and the intake unchanged, next to plain ones', () => {
    const items: readonly PublishItem[] = [...GOLDEN_INTAKE.items, ...RUN_ITEMS, ...GOLDEN_INTAKE.items];
    expect(decodeIntakeRecord(encodeIntakeRecord({ account, items }))).to.deep.equal({ account, items });
    const command: QueueCommand = { type: 'Publish', items, isTold: false };
    expect(decodeQueueCommand(encodeQueueCommand({ account, command }))).to.deep.equal({ account, command });
  });
});

describe('messages about runs from another process', () => {
  const commands = [RUN_PUBLISH, ...Object.values(WORKFLOW_COMMANDS).flat()].map((command) =>
    encodeQueueCommand({ account, command }),
  );
  const replies = [RUN_PUBLISHED, ...Object.values(WORKFLOW_REPLIES).flat()].map(encodeQueueReply);

  it('are read completely or refused', () => {
    const sides = [
      [commands, decodeQueueCommand],
      [replies, decodeQueueReply],
    ] as const;
    for (const [all, read] of sides) {
      for (const bytes of all) {
        for (let length = 0; length < bytes.length; length += 1) {
          expect(() => read(bytes.subarray(0, length)))
            .to.throw(MillraceError)
            .with.property('code', 'INVALID');
        }
      }
    }
  });

  it('of any bytes are read or refused, without another error', () => {
    fc.assert(
      fc.property(fc.constantFrom(...commands), fc.constantFrom(...replies), flips, (command, reply, changes) => {
        const [damagedCommand, damagedReply] = [flipped(command, changes), flipped(reply, changes)];
        endsAs('INVALID', () => decodeQueueCommand(damagedCommand));
        endsAs('INVALID', () => decodeQueueReply(damagedReply));
      }),
      { numRuns: repetitions(2000) },
    );
  });
});

const words = fc.string({ unit: 'binary', maxLength: 60 });
const steps: fc.Arbitrary<StepMark> = fc.record({
  stepId: fc.nat(),
  targetStep: fc.nat(),
  concurrent: fc.nat(),
  stepName: words,
  stepType: words,
});
const ofRun = { runId: words.map((word) => word as RunId), runCreatedAtMs: fc.maxSafeNat() };
const runParts: fc.Arbitrary<RunPart> = fc.oneof(
  fc.record({
    ...ofRun,
    role: fc.constant(RUN_PARTS.step.role),
    index: fc.nat(),
    step: fc.option(steps, { nil: undefined }),
  }),
  fc.record({ ...ofRun, role: fc.constant(RUN_PARTS.call.role), step: steps }),
  fc.record({
    ...ofRun,
    role: fc.constant(RUN_PARTS.result.role),
    step: steps,
    callId: words.map((word) => word as MessageId),
  }),
  fc.record({
    ...ofRun,
    role: fc.constant(RUN_PARTS.failure.role),
    dlqId: words.map((word) => word as DlqId),
    payload: fc.record({ number: fc.maxSafeNat(), bytes: fc.nat() }),
  }),
);
const flips = fc.array(fc.tuple(fc.nat(), fc.nat(255)), { minLength: 1, maxLength: 4 });

/** All words of a union: one that is not in the record does not compile. */
function wordsOf<T extends string>(all: Readonly<Record<T, true>>): readonly T[] {
  return Object.keys(all) as T[];
}

function flipped(seed: Uint8Array, changes: readonly (readonly [at: number, byte: number])[]): Buffer {
  const damaged = Buffer.from(seed);
  for (const [at, byte] of changes) damaged[at % damaged.length] = byte;
  return damaged;
}

function endsAs(code: string, read: () => unknown): void {
  try {
    read();
  } catch (error) {
    expect(error).to.be.instanceOf(MillraceError).with.property('code', code);
  }
}

function refusesEvents(damaged: Uint8Array): void {
  expect(() => [...decodeQueueEvents(damaged)])
    .to.throw(MillraceError)
    .with.property('code')
    .that.is.oneOf(['JOURNAL_DAMAGED', 'NEWER_FORMAT']);
}

function envelopeThroughBytes(event: QueueEventOf<'MessageAccepted'>) {
  return (throughBytes(event) as typeof event).envelope;
}
