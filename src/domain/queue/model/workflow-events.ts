/**
 * Events of runs. Entries have no event: a `MessageAccepted` with a part of role `step` appends the entry that it
 * delivers, or, at an existing index, delivers that entry again. Events of the last group occur in snapshots only.
 */
import {
  bytes,
  kind,
  listOf,
  oneOf,
  optional,
  text,
  trailing,
  tuple,
  type UnionOf,
  whole,
} from '../../../kernel/schema/index.js';
import { carriedBody, dlqId, envelope, headerList, messageId, optionalText } from './records.js';
import {
  failureFunction,
  invoker,
  rerunOf,
  resumedFrom,
  runEntry,
  runId,
  stepMark,
  storedEvent,
  waiter,
} from './run-records.js';

export const workflowEvents = {
  RunStarted: kind(35, {
    runId,
    /** The creation time; with the id it names the run. */
    atMs: whole,
    /** The trigger's envelope: destination, settings and failure function of the run. */
    envelope,
    invoker: optional(invoker),
    resumedFrom: optional(resumedFrom),
    /** For a resumed run: the entries of the failed run, in order; for a rerun those before its step. Else empty. */
    kept: listOf(runEntry),
    /** SHA-256 of the payload, base64url: tells a repeated trigger from a new one. */
    payloadHash: text(),
    rerunOf: trailing(rerunOf),
  }),
  /** The endpoint has triggered the run itself: its settings hold from now on. */
  RunReconfigured: kind(36, { runId, atMs: whole, envelope }),
  /** Removes the run's waiters, stored events and timers; its waiting messages are cancelled now or soon after. */
  RunEnded: kind(37, {
    runId,
    atMs: whole,
    state: oneOf('RUN_SUCCESS', 'RUN_FAILED', 'RUN_CANCELED'),
    /** The result of the function as it was sent. */
    response: optional(bytes),
    /** For a failed run: the entry made by the preceding `MessageDeadLettered`. */
    dlqId: optional(dlqId),
    error: optionalText,
  }),
  WaiterAdded: kind(38, { atMs: whole, waiter }),
  /** The result's `MessageAccepted` follows in the same turn. */
  WaiterRemoved: kind(39, { runId, stepId: whole, why: oneOf('notified', 'timeout'), atMs: whole }),
  EventStored: kind(40, { runId, eventId: text(), id: messageId, content: bytes, atMs: whole }),
  /** The oldest stored event of that id. */
  StoredEventTaken: kind(41, { runId, eventId: text(), atMs: whole }),
  /** Recorded for the parent; the child's `RunStarted` is in the same turn. */
  InvokeStarted: kind(42, {
    runId,
    step: stepMark,
    messageId,
    childRunId: runId,
    childCreatedAtMs: whole,
    childUrl: text(),
    atMs: whole,
  }),
  /** The child of a run that has already ended came to its end; recorded for the log only. */
  InvokeEndedLate: kind(43, {
    runId,
    runCreatedAtMs: whole,
    stepId: whole,
    /** The step's record, JSON. */
    record: bytes,
    atMs: whole,
  }),
  /** A message ended without success and without a DLQ entry. */
  MessageFailed: kind(44, { id: messageId, atMs: whole, error: text() }),
  /** `state` undefined: the destination has no failure function. A separate event ends the message. */
  FailureFunctionEnded: kind(45, {
    runId,
    dlqId,
    state: optional(oneOf('CALLBACK_SUCCESS', 'CALLBACK_FAIL', 'CALLBACK_CANCELED')),
    status: whole,
    header: headerList,
    response: carriedBody,
    atMs: whole,
  }),
  // ── in snapshots only, before the messages ──
  RunRestored: kind(46, {
    runId,
    createdAtMs: whole,
    envelope,
    invoker: optional(invoker),
    payloadHash: text(),
    waiters: listOf(waiter),
    storedEvents: listOf(storedEvent),
    /** Step ids with the child runs they started, and with the calls they made. */
    invokes: listOf(tuple(whole, runId, messageId)),
    calls: listOf(tuple(whole, messageId)),
    /** Set for a failed run. */
    dlqId: optional(dlqId),
    failureFunction: optional(failureFunction),
    /** The first entries; the rest follow. */
    entries: listOf(runEntry),
  }),
  RunEntriesRestored: kind(47, { runId, dlqId: optional(dlqId), entries: listOf(runEntry) }),
  /** Runs that ended a short while ago. */
  EndedRunsRestored: kind(48, { entries: listOf(tuple(runId, text(), messageId, whole, whole)) }),
};
export type WorkflowEvent = UnionOf<'type', typeof workflowEvents>;

export type WorkflowEventOf<Type extends WorkflowEvent['type']> = Extract<WorkflowEvent, { readonly type: Type }>;
