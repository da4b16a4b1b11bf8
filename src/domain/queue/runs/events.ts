/**
 * What happened to runs, beside what happened to their messages: a `MessageAccepted` with a part of role `step`
 * appends the entry that it delivers, or, at an index that is there already, delivers that entry once more.
 *
 * The last group is found in snapshots only.
 */
import {
  bytes,
  kind,
  listOf,
  oneOf,
  optional,
  text,
  tuple,
  type UnionOf,
  whole,
} from '../../../kernel/schema/index.js';
import { carriedBody, dlqId, envelope, headerList, messageId, optionalText } from '../records.js';
import { failureFunction, invoker, resumedFrom, runEntry, runId, stepMark, storedEvent, waiter } from './records.js';

export const workflowEvents = {
  RunStarted: kind(35, {
    runId,
    /** Creation; with the id it names the run. */
    atMs: whole,
    /** The trigger's: destination, settings and failure function of the run. */
    envelope,
    invoker: optional(invoker),
    resumedFrom: optional(resumedFrom),
    /** Entries that it begins with: of the run that it resumes, in order. Else empty. */
    kept: listOf(runEntry),
    /** SHA-256 of the payload, base64url: tells a trigger that is repeated from a new one. */
    payloadHash: text(),
  }),
  /** The endpoint has triggered it itself: its settings hold from now on. */
  RunReconfigured: kind(36, { runId, atMs: whole, envelope }),
  /** Waiters, stored events and timers are gone with it; what waits of its messages is cancelled now or soon after. */
  RunEnded: kind(37, {
    runId,
    atMs: whole,
    state: oneOf('RUN_SUCCESS', 'RUN_FAILED', 'RUN_CANCELED'),
    /** What the function returned, as it was sent. */
    response: optional(bytes),
    /** A failed run has it: the entry that its `MessageDeadLettered` has made before. */
    dlqId: optional(dlqId),
    error: optionalText,
  }),
  WaiterAdded: kind(38, { atMs: whole, waiter }),
  /** The result's `MessageAccepted` follows in the same turn. */
  WaiterRemoved: kind(39, { runId, stepId: whole, why: oneOf('notified', 'timeout'), atMs: whole }),
  EventStored: kind(40, { runId, eventId: text(), id: messageId, content: bytes, atMs: whole }),
  /** The oldest of its event id. */
  StoredEventTaken: kind(41, { runId, eventId: text(), atMs: whole }),
  /** In the parent; the child's `RunStarted` is of the same turn. */
  InvokeStarted: kind(42, {
    runId,
    step: stepMark,
    messageId,
    childRunId: runId,
    childCreatedAtMs: whole,
    childUrl: text(),
    atMs: whole,
  }),
  /** The child of a run that has failed meanwhile came to its end: for the record alone. */
  InvokeEndedLate: kind(43, {
    runId,
    runCreatedAtMs: whole,
    stepId: whole,
    /** The step's record, JSON. */
    record: bytes,
    atMs: whole,
  }),
  /** A message came to its end without success and without an entry in the DLQ. */
  MessageFailed: kind(44, { id: messageId, atMs: whole, error: text() }),
  /** `undefined`: there is no failure function at the destination. Its message's end is an event of its own. */
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
    /** Step ids with the children that they started, and with the calls that they made. */
    invokes: listOf(tuple(whole, runId, messageId)),
    calls: listOf(tuple(whole, messageId)),
    /** A failed run has it. */
    dlqId: optional(dlqId),
    failureFunction: optional(failureFunction),
    /** Some of its entries; the rest follow. */
    entries: listOf(runEntry),
  }),
  RunEntriesRestored: kind(47, { runId, dlqId: optional(dlqId), entries: listOf(runEntry) }),
  /** Runs that ended a short while ago. */
  EndedRunsRestored: kind(48, { entries: listOf(tuple(runId, text(), messageId, whole, whole)) }),
};
export type WorkflowEvent = UnionOf<'type', typeof workflowEvents>;

export type WorkflowEventOf<Type extends WorkflowEvent['type']> = Extract<WorkflowEvent, { readonly type: Type }>;
