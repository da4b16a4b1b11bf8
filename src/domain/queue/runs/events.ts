/**
 * What happened to runs, beside what happened to their messages: a `MessageAccepted` with a part of role `step`
 * appends the entry that it delivers, or, at an index that is there already, delivers that entry once more.
 *
 * The last group is found in snapshots only.
 */
import type { DlqId, MessageId, RunId } from '../../../kernel/index.js';
import type { CarriedBody, Envelope, HeaderList } from '../records.js';
import type {
  FailureFunction,
  FailureFunctionState,
  Invoker,
  ResumedFrom,
  RunEndState,
  RunEntry,
  StepMark,
  StoredEvent,
  Waiter,
} from './records.js';

export type WorkflowEvent =
  | {
      readonly type: 'RunStarted';
      readonly runId: RunId;
      /** Creation; with the id it names the run. */
      readonly atMs: number;
      /** The trigger's: destination, settings and failure function of the run. */
      readonly envelope: Envelope;
      readonly invoker: Invoker | undefined;
      readonly resumedFrom: ResumedFrom | undefined;
      /** Entries that it begins with: of the run that it resumes, in order. Else empty. */
      readonly kept: readonly RunEntry[];
      /** SHA-256 of the payload, base64url: tells a trigger that is repeated from a new one. */
      readonly payloadHash: string;
    }
  /** The endpoint has triggered it itself: its settings hold from now on. */
  | { readonly type: 'RunReconfigured'; readonly runId: RunId; readonly atMs: number; readonly envelope: Envelope }
  /** Waiters, stored events and timers are gone with it; what waits of its messages is cancelled now or soon after. */
  | {
      readonly type: 'RunEnded';
      readonly runId: RunId;
      readonly atMs: number;
      readonly state: RunEndState;
      /** What the function returned, as it was sent. */
      readonly response: Uint8Array | undefined;
      /** Of a failed one: the entry that its `MessageDeadLettered` has made before. */
      readonly dlqId: DlqId | undefined;
      readonly error: string | undefined;
    }
  | { readonly type: 'WaiterAdded'; readonly atMs: number; readonly waiter: Waiter }
  /** The result's `MessageAccepted` follows in the same turn. */
  | {
      readonly type: 'WaiterRemoved';
      readonly runId: RunId;
      readonly stepId: number;
      readonly why: 'notified' | 'timeout';
      readonly atMs: number;
    }
  | {
      readonly type: 'EventStored';
      readonly runId: RunId;
      readonly eventId: string;
      readonly id: MessageId;
      readonly content: Uint8Array;
      readonly atMs: number;
    }
  /** The oldest of its event id. */
  | { readonly type: 'StoredEventTaken'; readonly runId: RunId; readonly eventId: string; readonly atMs: number }
  /** In the parent; the child's `RunStarted` is of the same turn. */
  | {
      readonly type: 'InvokeStarted';
      readonly runId: RunId;
      readonly step: StepMark;
      readonly messageId: MessageId;
      readonly childRunId: RunId;
      readonly childCreatedAtMs: number;
      readonly childUrl: string;
      readonly atMs: number;
    }
  /** The child of a run that has failed meanwhile came to its end: for the record alone. */
  | {
      readonly type: 'InvokeEndedLate';
      readonly runId: RunId;
      readonly runCreatedAtMs: number;
      readonly stepId: number;
      /** The step's record, JSON. */
      readonly record: Uint8Array;
      readonly atMs: number;
    }
  /** A message came to its end without success and without an entry in the DLQ. */
  | { readonly type: 'MessageFailed'; readonly id: MessageId; readonly atMs: number; readonly error: string }
  /** `undefined`: there is no failure function at the destination. Its message's end is an event of its own. */
  | {
      readonly type: 'FailureFunctionEnded';
      readonly runId: RunId;
      readonly dlqId: DlqId;
      readonly state: Exclude<FailureFunctionState, 'CALLBACK_INPROGRESS'> | undefined;
      readonly status: number;
      readonly header: HeaderList;
      readonly response: CarriedBody;
      readonly atMs: number;
    }
  // ── in snapshots only, before the messages ──
  | {
      readonly type: 'RunRestored';
      readonly runId: RunId;
      readonly createdAtMs: number;
      readonly envelope: Envelope;
      readonly invoker: Invoker | undefined;
      readonly payloadHash: string;
      readonly waiters: readonly Waiter[];
      readonly storedEvents: readonly StoredEvent[];
      /** Step ids with the children that they started, and with the calls that they made. */
      readonly invokes: readonly (readonly [stepId: number, child: RunId, messageId: MessageId])[];
      readonly calls: readonly (readonly [stepId: number, messageId: MessageId])[];
      /** Of a failed run. */
      readonly dlqId: DlqId | undefined;
      readonly failureFunction: FailureFunction | undefined;
      /** Some of its entries; the rest follow. */
      readonly entries: readonly RunEntry[];
    }
  | {
      readonly type: 'RunEntriesRestored';
      readonly runId: RunId;
      readonly dlqId: DlqId | undefined;
      readonly entries: readonly RunEntry[];
    }
  /** Runs that ended a short while ago. */
  | {
      readonly type: 'EndedRunsRestored';
      readonly entries: readonly (readonly [
        runId: RunId,
        payloadHash: string,
        messageId: MessageId,
        createdAtMs: number,
        endedAtMs: number,
      ])[];
    };

export type WorkflowEventOf<Type extends WorkflowEvent['type']> = Extract<WorkflowEvent, { readonly type: Type }>;
