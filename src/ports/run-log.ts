/**
 * The read model of workflows: runs with their steps, and their events. Its answers may be shown: redacted parts are
 * replaced, long texts cut as requested.
 */
import type { Envelope, HeaderList, HttpMethod } from '../domain/queue/index.js';
import type { FailureFunctionState, RunState, StepMark } from '../domain/queue/runs/index.js';
import type { AccountId, DlqId, MessageId, RunId } from '../kernel/index.js';
import type { Counts, MaybeBehind } from './behind.js';
import type { MessageState } from './message-log.js';

export const STEP_STATES = ['STEP_PROGRESS', 'STEP_RETRY', 'STEP_SUCCESS', 'STEP_FAILED', 'STEP_CANCELED'] as const;
export type StepState = (typeof STEP_STATES)[number];
export type RunEventState = RunState | MessageState | 'WAITER_ADDED' | 'INVOKED';

/** Values of one criterion are combined by OR, criteria by AND. */
export interface RunLogFilter {
  /** `createdAtMs` undefined: all runs of that id. */
  readonly runs?: readonly { readonly runId: RunId; readonly createdAtMs: number | undefined }[];
  readonly createdAtMs?: number;
  /** Any message of the run; for events: that message's. */
  readonly messageId?: readonly string[];
  /** The whole URL of the run, and its parts. */
  readonly url?: readonly string[];
  readonly host?: readonly string[];
  readonly path?: readonly string[];
  readonly label?: readonly string[];
  readonly flowControlKey?: readonly string[];
  readonly callerIp?: readonly string[];
  /** The time of the run's creation, or of the event; inclusive. */
  readonly fromMs?: number;
  readonly toMs?: number;
}

interface PageQuery {
  readonly filter: RunLogFilter;
  readonly count: number;
  /** From the page before. */
  readonly cursor: string | undefined;
  /** UTF-8 bytes to return of each body; -1: no bodies; undefined: complete ones. */
  readonly trimBytes: number | undefined;
}

export interface RunQuery extends PageQuery {
  /** Empty: any. */
  readonly states: readonly RunState[];
  /** Of one of its steps; empty: any. */
  readonly stepStates: readonly StepState[];
}

export interface RunEventQuery extends PageQuery {
  readonly states: readonly RunEventState[];
  readonly order: 'earliestFirst' | 'latestFirst';
}

/** A record that shows bodies. */
interface MaybeCut {
  /** A body of the record is longer than it is shown. Left out: all bodies are whole, or none was asked for. */
  readonly isCut?: true;
}

/** An attempt that failed. */
export interface StepFailure {
  readonly atMs: number;
  /** `400 Bad Request`, or the reason why there was no answer. */
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

export interface LoggedStep extends MaybeCut {
  /** Undefined: the payload. */
  readonly stepId: number | undefined;
  readonly stepName: string;
  readonly stepType: string;
  readonly callType: 'step' | 'toCallback' | 'fromCallback';
  readonly messageId: MessageId;
  /** Undefined: not finished, or omitted. */
  readonly out: string | undefined;
  readonly concurrent: number;
  readonly state: StepState;
  readonly createdAtMs: number;
  readonly maxRetries: number;
  readonly retryDelay: string | undefined;
  /** The longest duration of one attempt; undefined: the limit of the account's plan. */
  readonly timeoutMs: number | undefined;
  readonly header: HeaderList;
  /** Set with STEP_RETRY, while no attempt is in progress. */
  readonly nextDeliveryAtMs: number | undefined;
  /** Of a step that has not succeeded. */
  readonly failures: readonly StepFailure[];
  readonly sleepForMs: number | undefined;
  readonly sleepUntilMs: number | undefined;
  readonly call: LoggedCall | undefined;
  readonly wait: LoggedWait | undefined;
  readonly invoke: LoggedInvoke | undefined;
}

/** A delivery without a known outcome (the next step). */
export interface NextDelivery extends MaybeCut {
  readonly messageId: MessageId;
  /** The name that the endpoint reported with a failure. */
  readonly stepName: string | undefined;
  readonly state: StepState;
  readonly maxRetries: number;
  readonly retryDelay: string | undefined;
  /** As of a step. */
  readonly timeoutMs: number | undefined;
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

export interface LoggedFailureFunction extends MaybeCut {
  readonly messageId: MessageId;
  readonly url: string;
  readonly state: FailureFunctionState;
  readonly maxRetries: number;
  /** The result of the failed delivery. */
  readonly failed: { readonly status: number; readonly header: HeaderList; readonly body: string | undefined };
  /** Its last answer; undefined: none. */
  readonly response:
    | { readonly status: number; readonly header: HeaderList; readonly body: string | undefined }
    | undefined;
  readonly failures: readonly StepFailure[];
  readonly nextDeliveryAtMs: number | undefined;
}

/** The fields shared by a run's record and its events. */
interface RunOutline {
  readonly runId: RunId;
  readonly url: string;
  readonly createdAtMs: number;
  readonly labels: readonly string[];
  readonly callerIp: string;
  /** Triggered by an alias request. */
  readonly isAlias: boolean;
}

export interface LoggedRun extends RunOutline, MaybeCut {
  readonly state: RunState;
  readonly endedAtMs: number | undefined;
  /** The function's result, as it was sent. */
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
  /** Set with CREATED. */
  readonly out: string | undefined;
}

export interface RunEvent extends RunOutline, MaybeCut {
  readonly atMs: number;
  readonly state: RunEventState;
  readonly step: StepInfo | undefined;
  /** The headers of the message. */
  readonly header: HeaderList;
  readonly nextDeliveryAtMs: number | undefined;
  readonly error: string | undefined;
  /** Set with ERROR. */
  readonly response:
    | { readonly status: number; readonly header: HeaderList; readonly body: string | undefined }
    | undefined;
  /** Set with RUN_STARTED. */
  readonly invoker: LoggedInvoker | undefined;
  /** Set with RUN_SUCCESS. */
  readonly runResponse: string | undefined;
  /** Set with RUN_FAILED. */
  readonly dlqId: DlqId | undefined;
}

export interface RunEventPage extends MaybeBehind {
  readonly events: readonly RunEvent[];
  /** Undefined at the end. */
  readonly cursor: string | undefined;
}

/** The entries of a run as they were stored, for another run. Not to be shown: nothing is redacted. */
export interface RunEntries extends MaybeBehind {
  /** Undefined: the log does not have the run. */
  readonly run:
    | {
        readonly runId: RunId;
        readonly createdAtMs: number;
        readonly state: RunState;
        /** The URL and settings of the run. */
        readonly envelope: Envelope;
        readonly entries: readonly StoredEntry[];
      }
    | undefined;
}

export interface StoredEntry {
  /** Undefined: the payload. */
  readonly step: StepMark | undefined;
  /** Undefined: this and the further bodies do not fit into `maxBytes`, or the entry has left the journal. */
  readonly body: Uint8Array | undefined;
  readonly createdAtMs: number;
}

export interface RunEntriesQuery {
  readonly runId: RunId;
  /** Undefined: the latest run of that id. */
  readonly createdAtMs: number | undefined;
  /** For the bodies of all entries, in bytes. */
  readonly maxBytes: number;
}

export interface RunLog {
  /**
   * @param seen  as in `MessageLog`
   * @throws INVALID for an invalid cursor; SHARD_UNAVAILABLE when no process with the read model answers
   */
  runs(account: AccountId, query: RunQuery, seen: number): Promise<RunPage>;
  /** Runs by their state. */
  runCounts(account: AccountId, filter: RunLogFilter, seen: number): Promise<Counts>;
  runEvents(account: AccountId, query: RunEventQuery, seen: number): Promise<RunEventPage>;
  runEntries(account: AccountId, query: RunEntriesQuery, seen: number): Promise<RunEntries>;
}
