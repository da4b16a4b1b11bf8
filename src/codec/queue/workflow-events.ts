/** Events of runs, among those of the queue: their numbers follow those of event-codec.ts, which reads and writes them. */
import type {
  Invoker,
  ResultDelivery,
  ResumedFrom,
  StoredEvent,
  Waiter,
  WorkflowEvent,
} from '../../domain/queue/runs/index.js';
import { envelope } from './envelope-codec.js';
import { carriedBody, dlqId, headerList, messageId, optionalText } from './queue-shapes.js';
import { bytes, fields, listOf, oneOf, optional, record, type ShapesByTag, text, tuple, whole } from './shapes.js';
import { failureFunction, runEntry, runId, stepMark } from './workflow-shapes.js';

const delivery = record<ResultDelivery>({ envelope, headers: headerList });

const invoker = record<Invoker>({
  runId,
  runCreatedAtMs: whole,
  url: text(),
  step: stepMark,
  stepText: text(),
  delivery,
});

const waiter = record<Waiter>({
  runId,
  eventId: text(),
  step: stepMark,
  stepText: text(),
  resultId: messageId,
  addedAtMs: whole,
  deadlineMs: whole,
  timeoutText: text(),
  timeoutBody: optionalText,
  onNotify: delivery,
  onTimeout: delivery,
});

const storedEvent = record<StoredEvent>({ eventId: text(), id: messageId, content: bytes });

const resumedFrom = record<ResumedFrom>({
  how: oneOf('resume', 'restart'),
  dlqId,
  runId,
  runCreatedAtMs: whole,
});

export const workflowEvents: ShapesByTag<WorkflowEvent, 'type'> = {
  RunStarted: fields({
    runId,
    atMs: whole,
    envelope,
    invoker: optional(invoker),
    resumedFrom: optional(resumedFrom),
    kept: listOf(runEntry),
    payloadHash: text(),
  }),
  RunReconfigured: fields({ runId, atMs: whole, envelope }),
  RunEnded: fields({
    runId,
    atMs: whole,
    state: oneOf('RUN_SUCCESS', 'RUN_FAILED', 'RUN_CANCELED'),
    response: optional(bytes),
    dlqId: optional(dlqId),
    error: optionalText,
  }),
  WaiterAdded: fields({ atMs: whole, waiter }),
  WaiterRemoved: fields({ runId, stepId: whole, why: oneOf('notified', 'timeout'), atMs: whole }),
  EventStored: fields({ runId, eventId: text(), id: messageId, content: bytes, atMs: whole }),
  StoredEventTaken: fields({ runId, eventId: text(), atMs: whole }),
  InvokeStarted: fields({
    runId,
    step: stepMark,
    messageId,
    childRunId: runId,
    childCreatedAtMs: whole,
    childUrl: text(),
    atMs: whole,
  }),
  InvokeEndedLate: fields({ runId, runCreatedAtMs: whole, stepId: whole, record: bytes, atMs: whole }),
  MessageFailed: fields({ id: messageId, atMs: whole, error: text() }),
  FailureFunctionEnded: fields({
    runId,
    dlqId,
    state: optional(oneOf('CALLBACK_SUCCESS', 'CALLBACK_FAIL', 'CALLBACK_CANCELED')),
    status: whole,
    header: headerList,
    response: carriedBody,
    atMs: whole,
  }),
  RunRestored: fields({
    runId,
    createdAtMs: whole,
    envelope,
    invoker: optional(invoker),
    payloadHash: text(),
    waiters: listOf(waiter),
    storedEvents: listOf(storedEvent),
    invokes: listOf(tuple(whole, runId, messageId)),
    calls: listOf(tuple(whole, messageId)),
    dlqId: optional(dlqId),
    failureFunction: optional(failureFunction),
    entries: listOf(runEntry),
  }),
  RunEntriesRestored: fields({ runId, dlqId: optional(dlqId), entries: listOf(runEntry) }),
  EndedRunsRestored: fields({ entries: listOf(tuple(runId, text(), messageId, whole, whole)) }),
};
