/**
 * What can be asked about runs, and what is answered. All of it is asked of the account's owner and waits for its
 * answer: a run that is over, a limit, a repetition are known there alone.
 */
import type { DlqId, MessageId, RunId } from '../../../kernel/index.js';
import type { DlqSelectorBy } from '../dead-letters/dlq-selector.js';
import type {
  BodyRef,
  DeliverySettings,
  DlqEntry,
  Envelope,
  HeaderList,
  RawSettings,
  WorkflowMark,
} from '../records.js';
import type { FailureFunction, FailureFunctionState, RunEntry, StepMark } from './records.js';

/** How a record made by the server is to be delivered; the owner puts the run's own settings under it. */
export interface AskedDelivery {
  readonly url: string;
  readonly settings: DeliverySettings;
  readonly mark: WorkflowMark;
  /** As they came: lower-case neutral names. */
  readonly headers: HeaderList;
}

export interface AskedInvoker {
  readonly runId: RunId;
  readonly step: StepMark;
  readonly stepText: string;
  readonly delivery: AskedDelivery;
}

/** What a published message is to a run; beside its destination, settings and body. */
export type WorkflowItem =
  | {
      readonly kind: 'trigger';
      readonly runId: RunId;
      readonly mark: WorkflowMark;
      /** The endpoint repeats the trigger that reached it: settings are taken over, entry 0 is delivered again. */
      readonly isByEndpoint: boolean;
      /** Set for a child run, with its depth: 1 for the first child. */
      readonly invoker: AskedInvoker | undefined;
      readonly depth: number;
    }
  | { readonly kind: 'entry'; readonly runId: RunId; readonly mark: WorkflowMark; readonly step: StepMark }
  /** The outcome goes to the settings' callback. */
  | { readonly kind: 'call'; readonly runId: RunId; readonly mark: WorkflowMark; readonly step: StepMark };

/** Different filters are and-ed, values within one are or-ed. Empty: all. */
export interface RunFilter {
  readonly url?: readonly string[];
  /** Of the URL; else a prefix of it is enough. */
  readonly isUrlExact?: boolean;
  readonly label?: readonly string[];
  readonly flowControlKey?: readonly string[];
  readonly callerIp?: readonly string[];
  /** Of creation, inclusive. */
  readonly fromMs?: number;
  readonly toMs?: number;
}

export type RunSelector =
  | { readonly kind: 'ids'; readonly runIds: readonly RunId[] }
  | { readonly kind: 'filter'; readonly filter: RunFilter; readonly count: number };

export interface FailedRunFilter {
  readonly workflowUrl?: readonly string[];
  readonly runId?: readonly string[];
  readonly createdAtMs?: readonly number[];
  readonly label?: readonly string[];
  readonly flowControlKey?: readonly string[];
  readonly callerIp?: readonly string[];
  readonly failureFunctionState?: readonly FailureFunctionState[];
  /** Destination of the delivery that failed, and the status of its last answer. */
  readonly url?: readonly string[];
  readonly responseStatus?: readonly number[];
  /** Of the failure, inclusive. */
  readonly fromMs?: number;
  readonly toMs?: number;
}

export type FailedRunSelector = DlqSelectorBy<FailedRunFilter>;

export type WorkflowCommand =
  /** A step waits; asked again it changes nothing. */
  | {
      readonly type: 'Wait';
      readonly runId: RunId;
      readonly eventId: string;
      readonly resultId: MessageId;
      readonly step: StepMark;
      readonly stepText: string;
      readonly timeoutText: string;
      readonly timeoutSeconds: number;
      readonly timeoutBody: string | undefined;
      readonly onNotify: AskedDelivery;
      readonly onTimeout: AskedDelivery;
    }
  /**
   * All waiters of the event; with a run: the run's alone, and if there is none the event is kept for it.
   * `hook`: a third party asks, who has to hear when there is no such run.
   */
  | {
      readonly type: 'Notify';
      readonly eventId: string;
      readonly runId: RunId | undefined;
      /** Of the first waiter's result; the others' follow from it. */
      readonly firstId: MessageId;
      readonly content: Uint8Array;
      readonly isHook: boolean;
    }
  | { readonly type: 'ListWaiters'; readonly eventId: string }
  /** Entries from `from` on, as many as fit into `maxBytes`; at least one. */
  | { readonly type: 'GetRun'; readonly runId: RunId; readonly from: number; readonly maxBytes: number }
  /** `finish`: one that is over, or unknown, is as good as finished. */
  | {
      readonly type: 'EndRun';
      readonly runId: RunId;
      readonly how: 'finish' | 'cancel';
      readonly response: Uint8Array | undefined;
    }
  /** Runs in slices; not atomic. */
  | { readonly type: 'CancelRuns'; readonly selector: RunSelector }
  | { readonly type: 'GetFailedRun'; readonly dlqId: DlqId }
  /** Ends a page early rather than have more than `maxBytes` of bodies in it. */
  | { readonly type: 'ListFailedRuns'; readonly selector: FailedRunSelector; readonly maxBytes: number }
  | { readonly type: 'DeleteFailedRuns'; readonly selector: FailedRunSelector }
  /** Ids of the runs and of their first messages follow from `firstRunId` and `firstId`. */
  | {
      readonly type: 'ResumeRuns';
      readonly how: 'resume' | 'restart';
      readonly selector: FailedRunSelector;
      readonly firstRunId: RunId;
      readonly firstId: MessageId;
      readonly overrides: RawSettings;
    }
  | { readonly type: 'RunFailureFunction'; readonly dlqId: DlqId; readonly messageId: MessageId }
  | { readonly type: 'CancelFailureFunction'; readonly dlqId: DlqId };

export interface RunName {
  readonly runId: RunId;
  readonly createdAtMs: number;
}

export interface WaiterView {
  readonly runId: RunId;
  readonly runCreatedAtMs: number;
  readonly url: string;
  readonly headers: HeaderList;
  readonly deadlineMs: number;
  readonly timeoutUrl: string;
  readonly timeoutBody: string | undefined;
  readonly timeoutHeaders: HeaderList;
  readonly isAlias: boolean;
}

export interface Notified {
  readonly waiter: WaiterView;
  readonly messageId: MessageId;
}

export interface EntryView {
  readonly messageId: MessageId;
  readonly body: BodyRef;
  readonly content: Uint8Array | undefined;
}

/** An entry of the workflows' DLQ; contents as they are fetched. */
export interface FailedRunView {
  readonly entry: DlqEntry;
  readonly runId: RunId;
  readonly runCreatedAtMs: number;
  /** The trigger's. */
  readonly envelope: Envelope;
  readonly payload: BodyRef;
  readonly payloadContent: Uint8Array | undefined;
  readonly responseContent: Uint8Array | undefined;
  readonly failureFunction: FailureFunction | undefined;
  readonly failureFunctionContent: Uint8Array | undefined;
}

export type WorkflowReply =
  | { readonly type: 'Notified'; readonly notified: readonly Notified[] }
  | { readonly type: 'Waiters'; readonly waiters: readonly WaiterView[] }
  | {
      readonly type: 'Run';
      readonly run: RunName;
      readonly entries: readonly EntryView[];
      /** Where to go on; undefined at the end. */
      readonly nextFrom: number | undefined;
    }
  | { readonly type: 'FailedRuns'; readonly runs: readonly FailedRunView[]; readonly after: DlqId | undefined }
  | { readonly type: 'RunsStarted'; readonly runs: readonly RunName[]; readonly after: DlqId | undefined };

export type { RunEntry };
