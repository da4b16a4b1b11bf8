/**
 * Records of workflow runs. A run is an ordered list of entries: the payload of its trigger, then one record for each
 * step, appended by its endpoint or by the server. Each entry is delivered as a queue message, so retries, delays,
 * flow control and cancellation work for runs as for messages. Instants are milliseconds since the Unix epoch unless
 * a name says otherwise.
 */
import type { RunId } from '../../../kernel/index.js';
import {
  bytes,
  kind,
  listOf,
  oneOf,
  optional,
  record,
  type TypeOf,
  text,
  union,
  whole,
} from '../../../kernel/schema/index.js';
import {
  bodyRef,
  carriedBody,
  type DeliverySettings,
  dlqId,
  type Envelope,
  envelope,
  headerList,
  messageId,
  optionalText,
} from './records.js';

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

/** The description of a step, without its record. */
export const stepMark = record({
  /** 1, 2, 3 … in the order of calls; 0 for a plan entry, which announces a step of a parallel group. */
  stepId: whole,
  /** For a plan entry: the announced step. Else 0. */
  targetStep: whole,
  /** Members of the step's parallel group; 1 for a single step. */
  concurrent: whole,
  stepName: text(),
  /** One of STEP_TYPES; an unknown type of a client is kept unchanged. */
  stepType: text(),
});
export type StepMark = TypeOf<typeof stepMark>;

/** The role of a message in its run. */
export const runPart = union('role', {
  /** Delivers the entry at `index` with all before it. `step` undefined: the payload. */
  step: kind(1, { ...ofRun, index: whole, step: optional(stepMark) }),
  /** Calls a third party for a step. */
  call: kind(2, { ...ofRun, step: stepMark }),
  /** Delivers the outcome of a call to the endpoint, which makes the step's record. */
  result: kind(3, { ...ofRun, step: stepMark, callId: messageId }),
  /** Calls the failure function. The run's payload is added to the body when it is sent. */
  failure: kind(4, { ...ofRun, dlqId, payload: bodyRef }),
});
export type RunPart = TypeOf<typeof runPart>;

/** An entry of a run's list. */
export const runEntry = record({
  /** The message that delivers or delivered the entry. */
  messageId,
  body: bodyRef,
  /** Undefined: the payload. */
  step: optional(stepMark),
  createdAtMs: whole,
});
export type RunEntry = TypeOf<typeof runEntry>;

/** The delivery of a record that the server makes. */
const delivery = record({
  /** Destination and settings, fixed at the time of the request. */
  envelope,
  /** As in the request, for display: lower-case neutral names. */
  headers: headerList,
});
export type ResultDelivery = TypeOf<typeof delivery>;

/** The step that waits for a child run. */
export const invoker = record({
  runId,
  runCreatedAtMs: whole,
  url: text(),
  step: stepMark,
  /** The JSON object as it was sent; members of the result are appended to it. */
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
  /** The id of the message that will deliver the result. */
  resultId: messageId,
  addedAtMs: whole,
  deadlineMs: whole,
  /** The timeout as requested: `7d`. */
  timeoutText: text(),
  timeoutBody: optionalText,
  onNotify: delivery,
  onTimeout: delivery,
});
export type EventWaiter = TypeOf<typeof waiter>;

/** An event that came for a run before the run waited for it. */
export const storedEvent = record({
  eventId: text(),
  /** The id of the notify, which the delivering message will have. */
  id: messageId,
  /** Kept in the state itself, because stored events are small and short-lived. */
  content: bytes,
});
export type StoredEvent = TypeOf<typeof storedEvent>;

/** The state of a failed run's failure function. */
export const failureFunction = record({
  state: failureFunctionState,
  messageId,
  url: text(),
  /** Status of its last answer; 0: no answer yet. */
  status: whole,
  header: headerList,
  body: bodyRef,
  /** The request, kept while the function may be called again; else empty. */
  request: bodyRef,
});
export type FailureFunction = TypeOf<typeof failureFunction>;

export const resumedFrom = record({ how: oneOf('resume', 'restart'), dlqId, runId, runCreatedAtMs: whole });
export type ResumedFrom = TypeOf<typeof resumedFrom>;

/** The run whose entries another one begins with, and the contents of these entries under new numbers. */
export const rerunOf = record({ runId, runCreatedAtMs: whole, contents: listOf(carriedBody) });

export type { DeliverySettings, Envelope };
