/**
 * What durable workflows are made of. A run is an ordered list of entries: the payload it was triggered with, then a
 * record for each step, appended by its endpoint or by the server. An entry is delivered as a queue message of its
 * own, so that everything messages have (retries, delays, flow control, cancelling) holds for runs.
 *
 * Instants are milliseconds since the Unix epoch unless a name says otherwise.
 */
import type { DlqId, MessageId, RunId } from '../../../kernel/index.js';
import type { BodyRef, DeliverySettings, Envelope, HeaderList } from '../records.js';

export const RUN_STATES = ['RUN_STARTED', 'RUN_SUCCESS', 'RUN_FAILED', 'RUN_CANCELED'] as const;
export type RunState = (typeof RUN_STATES)[number];
export type RunEndState = Exclude<RunState, 'RUN_STARTED'>;

export const FAILURE_FUNCTION_STATES = [
  'CALLBACK_INPROGRESS',
  'CALLBACK_SUCCESS',
  'CALLBACK_FAIL',
  'CALLBACK_CANCELED',
] as const;
export type FailureFunctionState = (typeof FAILURE_FUNCTION_STATES)[number];

/** What is known of a step without reading its record. */
export interface StepMark {
  /** 1, 2, 3 … in the order of calls; 0 of a plan entry, which announces a step of a parallel group. */
  readonly stepId: number;
  /** Of a plan entry: the step that it announces. Else 0. */
  readonly targetStep: number;
  /** Members of its parallel group; 1: it stands alone. */
  readonly concurrent: number;
  readonly stepName: string;
  /**
   * `Initial`, `Run`, `SleepFor`, `SleepUntil`, `Call`, `Wait`, `Notify`, `Invoke`, `CreateWebhook`, `WaitForWebhook`;
   * what else a client says is kept as it is.
   */
  readonly stepType: string;
}

/** What a message is to its run. */
export type RunPart =
  /** Delivers the entry at `index`, with all before it. `step` undefined: the payload. */
  | {
      readonly role: 'step';
      readonly runId: RunId;
      readonly runCreatedAtMs: number;
      readonly index: number;
      readonly step: StepMark | undefined;
    }
  /** Calls a third party for a step. */
  | { readonly role: 'call'; readonly runId: RunId; readonly runCreatedAtMs: number; readonly step: StepMark }
  /** Brings the outcome of a call to the endpoint, which makes the step's record of it. */
  | {
      readonly role: 'result';
      readonly runId: RunId;
      readonly runCreatedAtMs: number;
      readonly step: StepMark;
      readonly callId: MessageId;
    }
  /** Tells the failure function. Its body is completed with the run's payload when it is sent. */
  | {
      readonly role: 'failure';
      readonly runId: RunId;
      readonly runCreatedAtMs: number;
      readonly dlqId: DlqId;
      readonly payload: BodyRef;
    };

/** An entry of a run's list. */
export interface RunEntry {
  /** Of the message that delivers it, or delivered it. */
  readonly messageId: MessageId;
  readonly body: BodyRef;
  /** Undefined: the payload. */
  readonly step: StepMark | undefined;
  readonly createdAtMs: number;
}

/** How a record that the server makes itself is delivered to the run. */
export interface ResultDelivery {
  /** Decided when it was asked for: destination, settings and all. */
  readonly envelope: Envelope;
  /** As it was asked for, for those who look: lower-case neutral names. */
  readonly headers: HeaderList;
}

/** The step that waits for a child run. */
export interface Invoker {
  readonly runId: RunId;
  readonly runCreatedAtMs: number;
  readonly url: string;
  readonly step: StepMark;
  /** JSON object as it was sent; the result's members are put behind its own. */
  readonly stepText: string;
  readonly delivery: ResultDelivery;
}

/** A step that waits for an event. */
export interface Waiter {
  readonly runId: RunId;
  readonly eventId: string;
  readonly step: StepMark;
  readonly stepText: string;
  /** Of the message that will bring the result. */
  readonly resultId: MessageId;
  readonly addedAtMs: number;
  readonly deadlineMs: number;
  /** As asked for: `7d`. */
  readonly timeoutText: string;
  readonly timeoutBody: string | undefined;
  readonly onNotify: ResultDelivery;
  readonly onTimeout: ResultDelivery;
}

/** An event that came for a run before the run waited for it. */
export interface StoredEvent {
  readonly eventId: string;
  /** Of the notify: the message that brings it to the run will have it. */
  readonly id: MessageId;
  /** In the state itself: what waits here is little, and short-lived. */
  readonly content: Uint8Array;
}

/** Of a failed run. */
export interface FailureFunction {
  readonly state: FailureFunctionState;
  readonly messageId: MessageId;
  readonly url: string;
  /** Its last answer; 0: none yet, or none came. */
  readonly status: number;
  readonly header: HeaderList;
  readonly body: BodyRef;
  /** What it was sent, for as long as it may be called once more; then empty. */
  readonly request: BodyRef;
}

export interface ResumedFrom {
  readonly how: 'resume' | 'restart';
  readonly dlqId: DlqId;
  readonly runId: RunId;
  readonly runCreatedAtMs: number;
}

export type { DeliverySettings, Envelope };
