/**
 * What durable workflows are made of. A run is an ordered list of entries: the payload it was triggered with, then a
 * record for each step, appended by its endpoint or by the server. An entry is delivered as a queue message of its
 * own, so that everything messages have (retries, delays, flow control, cancelling) holds for runs.
 *
 * Instants are milliseconds since the Unix epoch unless a name says otherwise.
 */
import type { RunId } from '../../../kernel/index.js';
import { bytes, kind, oneOf, optional, record, type TypeOf, text, union, whole } from '../../../kernel/schema/index.js';
import {
  bodyRef,
  type DeliverySettings,
  dlqId,
  type Envelope,
  envelope,
  headerList,
  messageId,
  optionalText,
} from '../records.js';

export const runId = text<RunId>();
const ofRun = { runId, runCreatedAtMs: whole };

export const RUN_STATES = ['RUN_STARTED', 'RUN_SUCCESS', 'RUN_FAILED', 'RUN_CANCELED'] as const;
export type RunState = (typeof RUN_STATES)[number];
export type RunEndState = Exclude<RunState, 'RUN_STARTED'>;

export const FAILURE_FUNCTION_STATES = [
  'CALLBACK_INPROGRESS',
  'CALLBACK_SUCCESS',
  'CALLBACK_FAIL',
  'CALLBACK_CANCELED',
] as const;
export const failureFunctionState = oneOf(...FAILURE_FUNCTION_STATES);
export type FailureFunctionState = TypeOf<typeof failureFunctionState>;

/** What is known of a step without reading its record. */
export const stepMark = record({
  /** 1, 2, 3 … in the order of calls; 0 of a plan entry, which announces a step of a parallel group. */
  stepId: whole,
  /** A plan entry has the step that it announces. Else 0. */
  targetStep: whole,
  /** Members of its parallel group; 1: it stands alone. */
  concurrent: whole,
  stepName: text(),
  /** One of STEP_TYPES; what else a client says is kept as it is. */
  stepType: text(),
});
export type StepMark = TypeOf<typeof stepMark>;

/** What a message is to its run. */
export const runPart = union('role', {
  /** Delivers the entry at `index`, with all before it. `step` undefined: the payload. */
  step: kind(1, { ...ofRun, index: whole, step: optional(stepMark) }),
  /** Calls a third party for a step. */
  call: kind(2, { ...ofRun, step: stepMark }),
  /** Brings the outcome of a call to the endpoint, which makes the step's record of it. */
  result: kind(3, { ...ofRun, step: stepMark, callId: messageId }),
  /** Tells the failure function. Its body is completed with the run's payload when it is sent. */
  failure: kind(4, { ...ofRun, dlqId, payload: bodyRef }),
});
export type RunPart = TypeOf<typeof runPart>;

/** An entry of a run's list. */
export const runEntry = record({
  /** It is the id of the message that delivers it, or delivered it. */
  messageId,
  body: bodyRef,
  /** Undefined: the payload. */
  step: optional(stepMark),
  createdAtMs: whole,
});
export type RunEntry = TypeOf<typeof runEntry>;

/** How a record that the server makes itself is delivered to the run. */
const delivery = record({
  /** Decided when it was asked for: destination, settings and all. */
  envelope,
  /** They are as they were asked for, for those who look: lower-case neutral names. */
  headers: headerList,
});
export type ResultDelivery = TypeOf<typeof delivery>;

/** The step that waits for a child run. */
export const invoker = record({
  runId,
  runCreatedAtMs: whole,
  url: text(),
  step: stepMark,
  /** JSON object as it was sent; the result's members are put behind its own. */
  stepText: text(),
  delivery,
});
export type Invoker = TypeOf<typeof invoker>;

/** A step that waits for an event. */
export const waiter = record({
  runId,
  eventId: text(),
  step: stepMark,
  stepText: text(),
  /** It is the id of the message that will bring the result. */
  resultId: messageId,
  addedAtMs: whole,
  deadlineMs: whole,
  /** It is what was asked for: `7d`. */
  timeoutText: text(),
  timeoutBody: optionalText,
  onNotify: delivery,
  onTimeout: delivery,
});
export type EventWaiter = TypeOf<typeof waiter>;

/** An event that came for a run before the run waited for it. */
export const storedEvent = record({
  eventId: text(),
  /** It is the id of the notify: the message that brings it to the run will have it. */
  id: messageId,
  /** In the state itself: what waits here is little, and short-lived. */
  content: bytes,
});
export type StoredEvent = TypeOf<typeof storedEvent>;

/** A failed run has one. */
export const failureFunction = record({
  state: failureFunctionState,
  messageId,
  url: text(),
  /** Its last answer; 0: none yet, or none came. */
  status: whole,
  header: headerList,
  body: bodyRef,
  /** What it was sent, for as long as it may be called once more; then empty. */
  request: bodyRef,
});
export type FailureFunction = TypeOf<typeof failureFunction>;

export const resumedFrom = record({ how: oneOf('resume', 'restart'), dlqId, runId, runCreatedAtMs: whole });
export type ResumedFrom = TypeOf<typeof resumedFrom>;

export type { DeliverySettings, Envelope };
