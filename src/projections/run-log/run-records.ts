/** The record of a run as it is shown: groups of steps with their contents. */
import type { Envelope } from '../../domain/queue/index.js';
import type {
  LoggedCall,
  LoggedFailureFunction,
  LoggedInvoke,
  LoggedRun,
  LoggedStep,
  LoggedWait,
  NextDelivery,
  StepFailure,
  StepGroup,
} from '../../ports/index.js';
import { type RedactedTexts, shownError, textOf } from './redacted-texts.js';
import { groupsOf, type NextShape, type RunContents, type RunDelivery, type StepShape } from './run-groups.js';
import { type RunEnding, type RunHead, type RunParts, runRecordOf } from './run-parts.js';
import { MESSAGE, STEP_KINDS } from './schema.js';
import {
  answerInCallback,
  answerInRecord,
  type CallAnswer,
  type StepContents,
  stepContentsOf,
} from './step-records.js';

/** Limits of work between two pauses: about 1 ms. */
const STEP_BYTES = 256 * 1024;
const STEP_STEPS = 50;
const NO_CONTENTS: StepContents = {
  out: undefined,
  sleepForMs: undefined,
  sleepUntilMs: undefined,
  waitEventId: undefined,
  timeoutText: undefined,
  hasTimedOut: false,
};
const ERROR_STEP_NAME = /-error-step-name$/i;

export class RunRecord {
  #steps = 0;
  #bytes = 0;

  private constructor(
    private readonly head: RunHead,
    private readonly ending: RunEnding | undefined,
    private readonly contents: RunContents,
    private readonly parts: RunParts,
    private readonly texts: RedactedTexts,
  ) {}

  static *made(head: RunHead, parts: RunParts, texts: RedactedTexts): Generator<void, LoggedRun> {
    const ending = parts.ending(head.id);
    const contents = yield* parts.contents(head, ending);
    const { entries, calls, results } = contents;
    const bodies = [...entries, ...calls.values(), ...results.values()];
    const bytes = bodies.reduce((sum, { bodyBytes }) => sum + bodyBytes, ending?.response?.byteLength ?? 0);
    texts.begin(bodies.length + 1, bytes);
    return yield* new RunRecord(head, ending, contents, parts, texts).#record();
  }

  *#record(): Generator<void, LoggedRun> {
    const { head, ending, texts } = this;
    const groups: StepGroup[] = [];
    for (const group of groupsOf(this.contents)) {
      if (group.type === 'next') {
        groups.push({
          type: 'next',
          deliveries: group.deliveries.map((one) => ({ ...this.#next(one), ...texts.takeCut() })),
        });
        continue;
      }
      const steps: LoggedStep[] = [];
      for (const shape of group.steps) {
        steps.push({ ...this.#step(shape), ...texts.takeCut() });
        if (this.#steps < STEP_STEPS && this.#bytes < STEP_BYTES) continue;
        this.#steps = 0;
        this.#bytes = 0;
        yield;
      }
      groups.push({ type: group.type, steps });
    }
    const { settings } = head.envelope;
    const failureFunction = this.#function();
    const response = ending?.response && texts.body(ending.response, settings.redact);
    return {
      ...runRecordOf(head),
      ...texts.takeCut(),
      state: head.state,
      endedAtMs: head.endedAtMs,
      response,
      flowControlKey: settings.flowControl?.key,
      dlqId: ending?.dlqId as LoggedRun['dlqId'],
      invoker: head.invoker,
      failureFunction,
      groups,
    };
  }

  #step(shape: StepShape): LoggedStep {
    this.#steps += 1;
    const { mark, state, callType, plan, entry, call, result, waiting, open } = shape;
    const { redact } = this.head.envelope.settings;
    const shown = entry ?? result ?? call ?? (waiting === undefined ? plan : undefined);
    const isDone = state === 'STEP_SUCCESS';
    const stepContents = this.#stepContents(shape);
    const settings = (shown?.envelope ?? this.head.envelope).settings;
    // A call has the retries of its step; deliveries to the endpoint have the run's.
    const retried = (call?.envelope ?? shown?.envelope ?? this.head.envelope).settings;
    const out =
      mark === undefined && entry !== undefined ? this.#payload(entry) : isDone ? stepContents.out : undefined;
    return {
      stepId: mark?.stepId,
      stepName: mark?.stepName ?? 'init',
      stepType: mark?.stepType ?? 'Initial',
      callType,
      messageId: shown?.messageId ?? (waiting as NonNullable<typeof waiting>).messageId,
      out: mark === undefined || out === undefined ? out : this.texts.text(out, redact),
      concurrent: mark?.concurrent ?? 1,
      state,
      createdAtMs: shown?.createdAtMs ?? (waiting?.atMs as number),
      maxRetries: retried.maxRetries,
      retryDelay: retried.retryDelay,
      timeoutMs: timeoutMsOf(retried),
      header: shown === undefined ? [] : this.texts.header(settings.header, redact ?? settings.redact),
      nextDeliveryAtMs: state === 'STEP_RETRY' ? open?.nextMs : undefined,
      failures: isDone ? [] : this.#failures(open),
      sleepForMs: stepContents.sleepForMs ?? (mark?.stepType === 'SleepFor' ? delayMs(plan ?? entry) : undefined),
      sleepUntilMs: stepContents.sleepUntilMs,
      call: call && this.#call(call, result, isDone ? answerInRecord(stepContents.out) : undefined),
      wait: this.#wait(shape, stepContents),
      invoke: this.#invoke(shape),
    };
  }

  #payload(entry: RunDelivery): string | undefined {
    if (this.texts.isSilent) return undefined;
    return this.texts.body(this.#body(entry), this.head.envelope.settings.redact);
  }

  /** The contents of the step's result or, without one, of its announcement. */
  #stepContents({ mark, entry, plan, waiting }: StepShape): StepContents {
    if (mark === undefined) return NO_CONTENTS;
    if (entry === undefined && waiting?.record !== undefined) return stepContentsOf(waiting.record);
    const told = entry ?? plan;
    return told === undefined ? NO_CONTENTS : stepContentsOf(this.#body(told));
  }

  #call(call: RunDelivery, result: RunDelivery | undefined, recorded: CallAnswer | undefined): LoggedCall {
    const { url, settings } = call.envelope;
    const redact = this.head.envelope.settings.redact ?? settings.redact;
    const answer = recorded ?? (result && answerInCallback(this.#body(result), textOf));
    return {
      url,
      method: settings.method,
      header: this.texts.header(settings.header, redact),
      body: this.texts.body(this.#body(call), redact),
      response: answer && {
        status: answer.status,
        header: this.texts.header(answer.header, redact),
        body: this.texts.text(answer.text, redact),
      },
    };
  }

  #wait({ mark, waiting, state }: StepShape, stepContents: StepContents): LoggedWait | undefined {
    if (mark?.stepType !== 'Wait' && mark?.stepType !== 'WaitForWebhook') return undefined;
    const [eventId, timeoutText, deadlineMs] =
      waiting?.kind === STEP_KINDS.wait ? (JSON.parse(waiting.detail) as [string, string, number]) : [];
    return {
      eventId: eventId ?? stepContents.waitEventId ?? '',
      timeoutText: timeoutText ?? stepContents.timeoutText ?? '',
      deadlineMs,
      hasTimedOut: state === 'STEP_SUCCESS' && stepContents.hasTimedOut,
    };
  }

  #invoke({ waiting }: StepShape): LoggedInvoke | undefined {
    if (waiting?.kind !== STEP_KINDS.invoke) return undefined;
    const [runId, url, createdAtMs] = JSON.parse(waiting.detail) as [LoggedInvoke['runId'], string, number];
    const child = this.parts.payloadOf(this.head.account, runId, createdAtMs);
    const redact = child?.head.envelope.settings.redact ?? this.head.envelope.settings.redact;
    return {
      runId,
      url,
      createdAtMs,
      body: child && this.texts.body(child.body, redact),
      header: child === undefined ? [] : this.texts.header(child.head.envelope.settings.header, redact),
    };
  }

  #next({ messageId, state, delivery }: NextShape): NextDelivery {
    const { settings } = (delivery ?? this.head).envelope;
    const failures = this.#failures(delivery, messageId);
    const name = failures.at(-1)?.header.find(([header]) => ERROR_STEP_NAME.test(header))?.[1];
    // The first attempt may be delayed too, when the run was triggered or resumed with a delay.
    const isForLater = delivery?.state === MESSAGE.PROGRESS && !delivery.isStarted;
    const startsAtMs = isForLater ? delivery.notBeforeMs : undefined;
    const isOpen = state === 'STEP_RETRY' || state === 'STEP_PROGRESS';
    return {
      messageId,
      stepName: name,
      state,
      maxRetries: settings.maxRetries,
      retryDelay: settings.retryDelay,
      timeoutMs: timeoutMsOf(settings),
      failures,
      nextDeliveryAtMs: isOpen ? (delivery?.nextMs ?? startsAtMs) : undefined,
    };
  }

  /** If only a snapshot knows the failed delivery, its last failure is shown. */
  #failures(delivery: RunDelivery | undefined, messageId = delivery?.messageId): readonly StepFailure[] {
    const failures = this.parts.failures(delivery, this.texts);
    const { ending, head, contents } = this;
    if (failures.length > 0 || ending === undefined || messageId === undefined) return failures;
    if (messageId !== contents.failedMessage) return failures;
    const { error, status, header, body } = ending.failure;
    const redact = head.envelope.settings.redact?.response;
    return [
      {
        atMs: head.endedAtMs ?? head.createdAtMs,
        error: shownError(error, status),
        status,
        header: this.texts.header(header, redact),
        body: this.texts.response(header, body, redact),
      },
    ];
  }

  #function(): LoggedFailureFunction | undefined {
    const { parts, texts, ending } = this;
    const found = parts.functionOf(this.head.id);
    if (found === undefined || ending === undefined) return undefined;
    const { delivery, state, status, header, body } = found;
    const { failure } = ending;
    const redact = this.head.envelope.settings.redact?.response;
    const ofFunction = delivery.envelope.settings.redact?.response;
    const isOpen = state === 'CALLBACK_INPROGRESS';
    const told = {
      messageId: delivery.messageId,
      url: delivery.envelope.url,
      state: state as LoggedFailureFunction['state'],
      maxRetries: delivery.envelope.settings.maxRetries,
      failed: {
        status: failure.status,
        header: texts.header(failure.header, redact),
        body: texts.response(failure.header, failure.body, redact),
      },
      response:
        status === 0
          ? undefined
          : { status, header: texts.header(header, ofFunction), body: texts.response(header, body, ofFunction) },
      failures: state === 'CALLBACK_SUCCESS' ? [] : parts.failures(delivery, texts),
      nextDeliveryAtMs: isOpen ? delivery.nextMs : undefined,
    };
    return { ...told, ...texts.takeCut() };
  }

  #body({ body, bodyBytes }: RunDelivery): Uint8Array {
    this.#bytes += bodyBytes;
    return this.parts.body(body);
  }
}

function timeoutMsOf({ timeoutSeconds }: Envelope['settings']): number | undefined {
  return timeoutSeconds === undefined ? undefined : timeoutSeconds * 1000;
}

/** The delay of the announcing message, used when the record has none. */
function delayMs(delivery: RunDelivery | undefined): number | undefined {
  if (delivery === undefined) return undefined;
  return Math.max(0, delivery.notBeforeMs - delivery.createdAtMs);
}
