/** The shapes of commands about runs, among those for the queue's owner. */
import type {
  AskedDelivery,
  AskedInvoker,
  FailedRunFilter,
  RunFilter,
  RunSelector,
  WorkflowCommand,
  WorkflowItem,
} from '../../domain/queue/runs/index.js';
import {
  dlqId,
  dlqSelectorBy,
  headerList,
  messageId,
  optionalText,
  rawSettings,
  settings,
  texts,
} from './queue-shapes.js';
import {
  absent,
  bytes,
  fields,
  flag,
  listOf,
  number,
  oneOf,
  optional,
  record,
  type ShapesByTag,
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

const failedRunSelector = dlqSelectorBy(failedRunFilter);

export const workflowCommands: ShapesByTag<WorkflowCommand, 'type'> = {
  Wait: fields({
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
  Notify: fields({ eventId: text(), runId: optional(runId), firstId: messageId, content: bytes, isHook: flag }),
  ListWaiters: fields({ eventId: text() }),
  GetRun: fields({ runId, from: whole, maxBytes: whole }),
  EndRun: fields({ runId, how: oneOf('finish', 'cancel'), response: optional(bytes) }),
  CancelRuns: fields({ selector: runSelector }),
  GetFailedRun: fields({ dlqId }),
  ListFailedRuns: fields({ selector: failedRunSelector, maxBytes: whole }),
  DeleteFailedRuns: fields({ selector: failedRunSelector }),
  ResumeRuns: fields({
    how: oneOf('resume', 'restart'),
    selector: failedRunSelector,
    firstRunId: runId,
    firstId: messageId,
    overrides: rawSettings,
  }),
  RunFailureFunction: fields({ dlqId, messageId }),
  CancelFailureFunction: fields({ dlqId }),
};
