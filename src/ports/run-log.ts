/**
 * The read model of workflows: runs with their steps, and what happened to them one by one. What it gives is as it may
 * be shown: redacted parts are replaced, long texts cut as was asked.
 */
import type { HeaderList, HttpMethod } from '../domain/queue/index.js';
import type { FailureFunctionState, RunState } from '../domain/queue/runs/index.js';
import type { AccountId, DlqId, MessageId, RunId } from '../kernel/index.js';
import type { Counts, MaybeBehind } from './behind.js';
import type { MessageState } from './message-log.js';

export const STEP_STATES = ['STEP_PROGRESS', 'STEP_RETRY', 'STEP_SUCCESS', 'STEP_FAILED', 'STEP_CANCELED'] as const;
export type StepState = (typeof STEP_STATES)[number];
export type RunEventState = RunState | MessageState | 'WAITER_ADDED' | 'INVOKED';

/** Values of one criterion are or-ed, criteria are and-ed. */
export interface RunLogFilter {
  /** `createdAtMs` undefined: all runs of that id. */
  readonly runs?: readonly { readonly runId: RunId; readonly createdAtMs: number | undefined }[];
  readonly createdAtMs?: number;
  /** Any message of the run; of events: that message's. */
  readonly messageId?: readonly string[];
  /** Where the run is, whole, and parts of it. */
  readonly url?: readonly string[];
  readonly host?: readonly string[];
  readonly path?: readonly string[];
  readonly label?: readonly string[];
  readonly flowControlKey?: readonly string[];
  readonly callerIp?: readonly string[];
  /** It is the instant of the run's creation, or of the event; inclusive. */
  readonly fromMs?: number;
  readonly toMs?: number;
}

interface PageQuery {
  readonly filter: RunLogFilter;
  readonly count: number;
  /** It is what a page before has returned. */
  readonly cursor: string | undefined;
  /** UTF-8 bytes that are left of each body; -1: bodies are left out; undefined: they are whole. */
  readonly trimBytes: number | undefined;
}

export interface RunQuery extends PageQuery {
  /** Empty: any. */
  readonly states: readonly RunState[];
  /** They are those of one of its steps; empty: any. */
  readonly stepStates: readonly StepState[];
}

export interface RunEventQuery extends PageQuery {
  readonly states: readonly RunEventState[];
  readonly order: 'earliestFirst' | 'latestFirst';
}

/** An attempt that failed. */
export interface StepFailure {
  readonly atMs: number;
  /** `400 Bad Request`, or why there was no answer. */
  readonly error: string;
  /** 0: there was no answer. */
  readonly status: number;
  readonly header: HeaderList;
  readonly body: string | undefined;
}

export interface LoggedCall {
  readonly url: string;
  readonly method: HttpMethod;
  readonly header: HeaderList;
  readonly body: string | undefined;
  readonly response:
    | { readonly status: number; readonly header: HeaderList; readonly body: string | undefined }
    | undefined;
}

export interface LoggedWait {
  readonly eventId: string;
  readonly timeoutText: string;
  readonly deadlineMs: number | undefined;
  readonly hasTimedOut: boolean;
}

export interface LoggedInvoke {
  readonly runId: RunId;
  readonly url: string;
  readonly createdAtMs: number;
  readonly body: string | undefined;
  readonly header: HeaderList;
}

export interface LoggedStep {
  /** Undefined: the payload. */
  readonly stepId: number | undefined;
  readonly stepName: string;
  readonly stepType: string;
  readonly callType: 'step' | 'toCallback' | 'fromCallback';
  readonly messageId: MessageId;
  /** Undefined: not finished, or left out. */
  readonly out: string | undefined;
  readonly concurrent: number;
  readonly state: StepState;
  readonly createdAtMs: number;
  readonly maxRetries: number;
  readonly retryDelay: string | undefined;
  readonly header: HeaderList;
  /** It comes with STEP_RETRY, while no attempt is under way. */
  readonly nextDeliveryAtMs: number | undefined;
  /** They are those of a step that has not come to a good end. */
  readonly failures: readonly StepFailure[];
  readonly sleepForMs: number | undefined;
  readonly sleepUntilMs: number | undefined;
  readonly call: LoggedCall | undefined;
  readonly wait: LoggedWait | undefined;
  readonly invoke: LoggedInvoke | undefined;
}

/** A delivery whose outcome, the next step, is not known. */
export interface NextDelivery {
  readonly messageId: MessageId;
  /** The endpoint has told it with a failure. */
  readonly stepName: string | undefined;
  readonly state: StepState;
  readonly maxRetries: number;
  readonly retryDelay: string | undefined;
  readonly failures: readonly StepFailure[];
  readonly nextDeliveryAtMs: number | undefined;
}

export type StepGroup =
  | { readonly type: 'sequential' | 'parallel'; readonly steps: readonly LoggedStep[] }
  | { readonly type: 'next'; readonly deliveries: readonly NextDelivery[] };

export interface LoggedInvoker {
  readonly runId: RunId;
  readonly url: string;
  readonly createdAtMs: number;
}

export interface LoggedFailureFunction {
  readonly messageId: MessageId;
  readonly url: string;
  readonly state: FailureFunctionState;
  readonly maxRetries: number;
  /** What the delivery that failed came to. */
  readonly failed: { readonly status: number; readonly header: HeaderList; readonly body: string | undefined };
  /** Its last answer; undefined: none yet, or none came. */
  readonly response:
    | { readonly status: number; readonly header: HeaderList; readonly body: string | undefined }
    | undefined;
  readonly failures: readonly StepFailure[];
  readonly nextDeliveryAtMs: number | undefined;
}

/** They are those of the run: alike in its record and in its events. */
interface RunOutline {
  readonly runId: RunId;
  readonly url: string;
  readonly createdAtMs: number;
  readonly labels: readonly string[];
  readonly callerIp: string;
  /** Triggered by an alias request. */
  readonly isAlias: boolean;
}

export interface LoggedRun extends RunOutline {
  readonly state: RunState;
  readonly endedAtMs: number | undefined;
  /** What the function returned, as it was sent. */
  readonly response: string | undefined;
  readonly flowControlKey: string | undefined;
  readonly dlqId: DlqId | undefined;
  readonly invoker: LoggedInvoker | undefined;
  readonly failureFunction: LoggedFailureFunction | undefined;
  readonly groups: readonly StepGroup[];
}

export interface RunPage extends MaybeBehind {
  /** The newest first. */
  readonly runs: readonly LoggedRun[];
  /** Undefined at the end. */
  readonly cursor: string | undefined;
}

/** The step that a message delivers, or works for. */
export interface StepInfo {
  readonly messageId: MessageId;
  readonly stepId: number | undefined;
  readonly stepName: string;
  readonly stepType: string;
  readonly callType: LoggedStep['callType'] | 'failureCall';
  readonly concurrent: number;
  /** It comes with CREATED. */
  readonly out: string | undefined;
}

export interface RunEvent extends RunOutline {
  readonly atMs: number;
  readonly state: RunEventState;
  readonly step: StepInfo | undefined;
  /** They are the headers of the message. */
  readonly header: HeaderList;
  readonly nextDeliveryAtMs: number | undefined;
  readonly error: string | undefined;
  /** It comes with ERROR. */
  readonly response:
    | { readonly status: number; readonly header: HeaderList; readonly body: string | undefined }
    | undefined;
  /** It comes with RUN_STARTED. */
  readonly invoker: LoggedInvoker | undefined;
  /** It comes with RUN_SUCCESS. */
  readonly runResponse: string | undefined;
  /** It comes with RUN_FAILED. */
  readonly dlqId: DlqId | undefined;
}

export interface RunEventPage extends MaybeBehind {
  readonly events: readonly RunEvent[];
  /** Undefined at the end. */
  readonly cursor: string | undefined;
}

export interface RunLog {
  /**
   * @param seen as of `MessageLog`
   * @throws INVALID for a cursor that is none; SHARD_UNAVAILABLE when no process that serves the read model answers
   */
  runs(account: AccountId, query: RunQuery, seen: number): Promise<RunPage>;
  /** Runs by their state. */
  runCounts(account: AccountId, filter: RunLogFilter, seen: number): Promise<Counts>;
  runEvents(account: AccountId, query: RunEventQuery, seen: number): Promise<RunEventPage>;
}
