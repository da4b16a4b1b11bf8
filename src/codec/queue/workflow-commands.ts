/** Commands about runs, among those for the queue's owner: their numbers follow those of command-codec.ts. */
import type {
  AskedDelivery,
  AskedInvoker,
  FailedRunFilter,
  FailedRunSelector,
  RunFilter,
  RunSelector,
  WorkflowCommand,
  WorkflowItem,
} from '../../domain/workflow/index.js';
import { dlqId, headerList, messageId, optionalText, rawSettings, settings, texts } from './queue-shapes.js';
import {
  absent,
  bytes,
  type Cases,
  fields,
  flag,
  listOf,
  number,
  oneOf,
  optional,
  record,
  text,
  union,
  whole,
} from './shapes.js';
import { failureFunctionState, runId, stepMark, workflowMark } from './workflow-shapes.js';

const delivery = record<AskedDelivery>({ url: text(), settings, mark: workflowMark, headers: headerList });

const invoker = record<AskedInvoker>({ runId, step: stepMark, stepText: text(), delivery });

/** Of a published message: what it is to a run. */
export const workflowItem = union<WorkflowItem, 'kind'>('kind', {
  trigger: [1, fields({ runId, mark: workflowMark, isByEndpoint: flag, invoker: optional(invoker), depth: whole })],
  entry: [2, fields({ runId, mark: workflowMark, step: stepMark })],
  call: [3, fields({ runId, mark: workflowMark, step: stepMark })],
});

const runFilter = record<RunFilter>({
  url: absent(texts),
  isUrlExact: absent(flag),
  label: absent(texts),
  flowControlKey: absent(texts),
  callerIp: absent(texts),
  fromMs: absent(number),
  toMs: absent(number),
});

const runSelector = union<RunSelector, 'kind'>('kind', {
  ids: [1, fields({ runIds: listOf(runId) })],
  filter: [2, fields({ filter: runFilter, count: whole })],
});

const failedRunFilter = record<FailedRunFilter>({
  workflowUrl: absent(texts),
  runId: absent(texts),
  createdAtMs: absent(listOf(number)),
  label: absent(texts),
  flowControlKey: absent(texts),
  callerIp: absent(texts),
  failureFunctionState: absent(listOf(failureFunctionState)),
  url: absent(texts),
  responseStatus: absent(listOf(number)),
  fromMs: absent(number),
  toMs: absent(number),
});

const failedRunSelector = union<FailedRunSelector, 'kind'>('kind', {
  ids: [1, fields({ dlqIds: listOf(dlqId) })],
  filter: [
    2,
    fields({
      filter: failedRunFilter,
      count: whole,
      after: optional(dlqId),
      order: oneOf('earliestFirst', 'latestFirst'),
    }),
  ],
});

export const workflowCommands: Cases<WorkflowCommand, 'type'> = {
  Wait: [
    34,
    fields({
      runId,
      eventId: text(),
      resultId: messageId,
      step: stepMark,
      stepText: text(),
      timeoutText: text(),
      timeoutSeconds: number,
      timeoutBody: optionalText,
      onNotify: delivery,
      onTimeout: delivery,
    }),
  ],
  Notify: [35, fields({ eventId: text(), runId: optional(runId), firstId: messageId, content: bytes, isHook: flag })],
  ListWaiters: [36, fields({ eventId: text() })],
  GetRun: [37, fields({ runId, from: whole, maxBytes: whole })],
  EndRun: [38, fields({ runId, how: oneOf('finish', 'cancel'), response: optional(bytes) })],
  CancelRuns: [39, fields({ selector: runSelector })],
  GetFailedRun: [40, fields({ dlqId })],
  ListFailedRuns: [41, fields({ selector: failedRunSelector, maxBytes: whole })],
  DeleteFailedRuns: [42, fields({ selector: failedRunSelector })],
  ResumeRuns: [
    43,
    fields({
      how: oneOf('resume', 'restart'),
      selector: failedRunSelector,
      firstRunId: runId,
      firstId: messageId,
      overrides: rawSettings,
    }),
  ],
  RunFailureFunction: [44, fields({ dlqId, messageId })],
  CancelFailureFunction: [45, fields({ dlqId })],
};
