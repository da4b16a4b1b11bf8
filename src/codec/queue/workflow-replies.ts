/** Answers about runs, among those of the queue's owner: their numbers follow those of reply-codec.ts. */
import type {
  EntryView,
  FailedRunView,
  Notified,
  RunName,
  WaiterView,
  WorkflowReply,
} from '../../domain/queue/runs/index.js';
import { envelope } from './envelope-codec.js';
import { dlqEntry } from './event-codec.js';
import { bodyRef, dlqId, headerList, messageId, optionalText } from './queue-shapes.js';
import { bytes, type Cases, fields, flag, listOf, optional, record, text, whole } from './shapes.js';
import { failureFunction, runId } from './workflow-shapes.js';

const content = optional(bytes);

export const runName = record<RunName>({ runId, createdAtMs: whole });

const waiterView = record<WaiterView>({
  runId,
  runCreatedAtMs: whole,
  url: text(),
  headers: headerList,
  deadlineMs: whole,
  timeoutUrl: text(),
  timeoutBody: optionalText,
  timeoutHeaders: headerList,
  isAlias: flag,
});

const notified = record<Notified>({ waiter: waiterView, messageId });

const entryView = record<EntryView>({ messageId, body: bodyRef, content });

const failedRunView = record<FailedRunView>({
  entry: dlqEntry,
  runId,
  runCreatedAtMs: whole,
  envelope,
  payload: bodyRef,
  payloadContent: content,
  responseContent: content,
  failureFunction: optional(failureFunction),
  failureFunctionContent: content,
});

export const workflowReplies: Cases<WorkflowReply, 'type'> = {
  Notified: [16, fields({ notified: listOf(notified) })],
  Waiters: [17, fields({ waiters: listOf(waiterView) })],
  Run: [18, fields({ run: runName, entries: listOf(entryView), nextFrom: optional(whole) })],
  FailedRuns: [19, fields({ runs: listOf(failedRunView), after: optional(dlqId) })],
  RunsStarted: [20, fields({ runs: listOf(runName), after: optional(dlqId) })],
};
