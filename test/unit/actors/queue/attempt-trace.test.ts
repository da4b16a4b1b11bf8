/** Proves ATR1, ATR2, ATR3. */
import { expect } from 'chai';
import type { StartedAttempt } from '../../../../src/actors/queue/account-queue.js';
import { AttemptTrace } from '../../../../src/actors/queue/attempt-trace.js';
import type { Envelope, HeaderList } from '../../../../src/domain/queue/index.js';
import type { MessageId, RunId, ScheduleId } from '../../../../src/kernel/index.js';
import type { SpanBeginning, Tracing } from '../../../../src/ports/index.js';
import type { Span } from '../../../../src/protocol/index.js';
import { ATTEMPTED_ID } from '../../../support/performer-stand.js';
import { PLAIN_ENVELOPE } from '../../../support/plain-delivery.js';
import { PLAIN_SETTINGS } from '../../../support/queue-shard-stand.js';

const [OWN, TRIGGERS, CREATORS, CALLS] = ['own', 'trigger', 'creator', 'call'] as const;

function span(traceparent: string): Span {
  return {
    headers: { traceparent },
    isOfCaller: false,
    child: () => span(CALLS),
    set() {},
    event() {},
    end() {},
  };
}

function envelope(traceparent: string | undefined, scheduleId?: string): Envelope {
  const trace: HeaderList = traceparent === undefined ? [] : [['Traceparent', traceparent]];
  return {
    ...PLAIN_ENVELOPE,
    url: 'https://user:secret@a.example/path',
    settings: { ...PLAIN_SETTINGS, header: [['X-Key', 'kept'], ...trace] },
    scheduleId: scheduleId as ScheduleId | undefined,
  };
}

function attempt(of: Envelope, trigger?: Envelope): StartedAttempt {
  const part = { role: 'step', runId: 'wfr_1' as RunId, runCreatedAtMs: 1, index: 0, step: undefined } as const;
  const run = trigger === undefined ? {} : { run: { part, entries: [], trigger } };
  return {
    id: ATTEMPTED_ID as MessageId,
    envelope: of,
    body: { number: 0, bytes: 0 },
    retried: 1,
    restarts: 0,
    ...run,
  };
}

describe('the trace of an attempt', () => {
  function began(of: StartedAttempt, isSampled = true) {
    const beginnings: SpanBeginning[] = [];
    const tracing: Tracing = {
      begin: (_name, beginning) => {
        beginnings.push(beginning);
        return isSampled ? span('deliver') : undefined;
      },
    };
    const trace = AttemptTrace.begin(tracing, of);
    const [{ parent, seed, link } = {} as SpanBeginning] = beginnings;
    const origin = { parent: parent?.traceparent, seed, link: link?.traceparent };
    return { trace, origin: beginnings.length === 0 ? undefined : origin };
  }
  const NONE = { parent: undefined, seed: undefined, link: undefined };

  it('is the one that its message carries', () => {
    expect(began(attempt(envelope(OWN))).origin).to.deep.equal({ ...NONE, parent: OWN });
  });

  it('is absent where the message has none', () => {
    expect(began(attempt(envelope(undefined))).origin).to.equal(undefined);
    expect(began(attempt(envelope(undefined), envelope(undefined))).origin).to.equal(undefined);
  });

  it('is that of the trigger of the run, where a message of the run has none', () => {
    const steps = began(attempt(envelope(undefined), envelope(TRIGGERS)));
    expect(steps.origin).to.deep.equal({ ...NONE, parent: TRIGGERS });
    expect(began(attempt(envelope(OWN), envelope(TRIGGERS))).origin).to.deep.equal({ ...NONE, parent: OWN });
  });

  it('is a new one for each message of a schedule, linked to the trace that created the schedule', () => {
    const scheduled = began(attempt(envelope(CREATORS, 'scd_1')));
    expect(scheduled.origin).to.deep.equal({ ...NONE, seed: ATTEMPTED_ID, link: CREATORS });
    expect(began(attempt(envelope(undefined, 'scd_1'))).origin).to.deep.equal({ ...NONE, seed: ATTEMPTED_ID });
  });

  it('is the same for all attempts of a run that a schedule started', () => {
    const trigger = envelope(CREATORS, 'scd_1');
    const expected = { ...NONE, seed: 'wfr_1', link: CREATORS };
    expect(began(attempt(trigger, trigger)).origin).to.deep.equal(expected);
    expect(began(attempt(envelope(CREATORS), trigger)).origin, 'a step').to.deep.equal(expected);
    expect(began(attempt(envelope(OWN), trigger)).origin, 'of an endpoint').to.deep.equal({ ...NONE, parent: OWN });
  });

  it('replaces the trace headers of the message with those of the call, and keeps the other headers', () => {
    const header: HeaderList = [
      ['X-Key', 'kept'],
      ['Traceparent', OWN],
      ['traceSTATE', 'vendor=1'],
    ];
    const sent = began(attempt(envelope(OWN))).trace?.sending('POST', header, 1);
    expect(sent).to.deep.equal([
      ['X-Key', 'kept'],
      ['Traceparent', CALLS],
    ]);
  });

  it('sends no trace header of the schedule in a call that is not sampled', () => {
    const { trace } = began(attempt(envelope(CREATORS, 'scd_1')), false);
    expect(
      trace?.sending(
        'POST',
        [
          ['X-Key', 'kept'],
          ['Traceparent', CREATORS],
        ],
        0,
      ),
    ).to.deep.equal([['X-Key', 'kept']]);
    expect(began(attempt(envelope(OWN)), false).trace, 'all stays as it is').to.equal(undefined);
  });
});
