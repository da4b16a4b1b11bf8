/**
 * Commands and replies about runs. All go to the account's owner and wait for its answer, because only the owner
 * knows whether a run has ended, a limit is reached or a call is a repetition.
 */
import {
  absent,
  bytes,
  flag,
  kind,
  listOf,
  number,
  oneOf,
  optional,
  record,
  type TypeOf,
  text,
  trailing,
  tuple,
  type UnionOf,
  union,
  whole,
} from '../../../kernel/schema/index.js';
import { dlqSelectorBy } from './dlq-selector.js';
import {
  bodyRef,
  content,
  dlqEntry,
  dlqId,
  envelope,
  headerList,
  messageId,
  optionalText,
  rawSettings,
  settings,
  texts,
  workflowMark,
} from './records.js';
import { failureFunction, failureFunctionState, type RunEntry, runId, stepMark } from './run-records.js';

/** Delivery settings for a step record that the server makes; the owner merges them over the run's. */
const delivery = record({
  url: text(),
  settings,
  mark: workflowMark,
  /** As received: lower-case neutral names. */
  headers: headerList,
});
export type RequestedDelivery = TypeOf<typeof delivery>;

const invoker = record({ runId, step: stepMark, stepText: text(), delivery });
export type InvokingStep = TypeOf<typeof invoker>;

/** The role of a published message in a run, in addition to its destination, settings and body. */
export const workflowItem = union('kind', {
  trigger: kind(1, {
    runId,
    mark: workflowMark,
    /** The endpoint repeats a trigger that reached it: the run takes its settings, and entry 0 is delivered again. */
    isByEndpoint: flag,
    /** Set for a child run, with its depth: 1 for the first child. */
    invoker: optional(invoker),
    depth: whole,
  }),
  entry: kind(2, { runId, mark: workflowMark, step: stepMark }),
  /** The outcome goes to the callback of the settings. */
  call: kind(3, { runId, mark: workflowMark, step: stepMark }),
});
export type WorkflowItem = TypeOf<typeof workflowItem>;

/** Filters are combined with AND, values within one filter with OR. An empty filter matches all. */
const runFilter = record({
  url: absent(texts),
  /** Whether `url` must be equal; else a prefix matches. */
  isUrlExact: absent(flag),
  label: absent(texts),
  flowControlKey: absent(texts),
  callerIp: absent(texts),
  /** Bounds on the creation time, inclusive. */
  fromMs: absent(number),
  toMs: absent(number),
  /**
   * Host and path of the run's URL. They were added later: an owner of an older release refuses a command that has
   * them.
   */
  host: trailing(texts),
  path: trailing(texts),
});
export type RunFilter = TypeOf<typeof runFilter>;

const runSelector = union('kind', {
  ids: kind(1, { runIds: listOf(runId) }),
  filter: kind(2, { filter: runFilter, count: whole }),
});
export type RunSelector = TypeOf<typeof runSelector>;

const failedRunFilter = record({
  workflowUrl: absent(texts),
  runId: absent(texts),
  createdAtMs: absent(listOf(number)),
  label: absent(texts),
  flowControlKey: absent(texts),
  callerIp: absent(texts),
  failureFunctionState: absent(listOf(failureFunctionState)),
  /** Destination of the failed delivery, and the status of its last answer. */
  url: absent(texts),
  responseStatus: absent(listOf(number)),
  /** Bounds on the time of the failure, inclusive. */
  fromMs: absent(number),
  toMs: absent(number),
});
export type FailedRunFilter = TypeOf<typeof failedRunFilter>;

const failedRunSelector = dlqSelectorBy(failedRunFilter);
export type FailedRunSelector = TypeOf<typeof failedRunSelector>;

export const runName = record({ runId, createdAtMs: whole });
export type RunName = TypeOf<typeof runName>;

/** A position in the order of deadlines. */
const waiterPlace = record({ deadlineMs: whole, runId, stepId: whole });
export type WaiterPlace = TypeOf<typeof waiterPlace>;

export const workflowCommands = {
  /** A step starts to wait; a repetition changes no state. */
  Wait: kind(34, {
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
  /**
   * With an active run: notifies the run's waiter of the event, or stores the event for the run. Else notifies all
   * waiters of the event id; if a run id was given and no active run has it, or steps wait for `runId/eventId`, that
   * whole text is the event id. `isHook`: a third party calls and gets 404 for an unknown run.
   */
  Notify: kind(35, {
    eventId: text(),
    runId: optional(runId),
    /** The id of the first waiter's result; the others' ids are derived from it. */
    firstId: messageId,
    content: bytes,
    isHook: flag,
  }),
  ListWaiters: kind(36, { eventId: text() }),
  /** Waiters of all events by deadline; the page starts after `after`. */
  ListAllWaiters: kind(47, { count: whole, after: optional(waiterPlace) }),
  /** Entries from `from` on, as many as fit into `maxBytes`, but at least one. */
  GetRun: kind(37, { runId, from: whole, maxBytes: whole }),
  /** `finish` succeeds also for a run that has ended or is unknown. */
  EndRun: kind(38, { runId, how: oneOf('finish', 'cancel'), response: optional(bytes) }),
  /** Runs in steps; it is not atomic. */
  CancelRuns: kind(39, { selector: runSelector }),
  GetFailedRun: kind(40, { dlqId }),
  /** A page ends before its bodies exceed `maxBytes`. */
  ListFailedRuns: kind(41, { selector: failedRunSelector, maxBytes: whole }),
  DeleteFailedRuns: kind(42, { selector: failedRunSelector }),
  CountFailedRuns: kind(48, { filter: failedRunFilter }),
  /** The ids of the runs and of their first messages are derived from `firstRunId` and `firstId`. */
  ResumeRuns: kind(43, {
    how: oneOf('resume', 'restart'),
    selector: failedRunSelector,
    firstRunId: runId,
    firstId: messageId,
    overrides: rawSettings,
  }),
  /**
   * Starts a run that begins with the given entries, the payload first. Its URL and settings are those of the
   * envelope, with `overrides` over them.
   */
  RerunRun: kind(50, {
    from: runName,
    firstRunId: runId,
    firstId: messageId,
    envelope,
    overrides: rawSettings,
    entries: listOf(record({ step: optional(stepMark), body: bytes, createdAtMs: whole })),
    payloadHash: text(),
  }),
  RunFailureFunction: kind(44, { dlqId, messageId }),
  CancelFailureFunction: kind(45, { dlqId }),
  /**
   * A step of the endpoint was refused and can never be accepted: the run fails with the reason. A run that has ended
   * is left alone.
   */
  RefuseStep: kind(49, { runId, error: text() }),
};
export type WorkflowCommand = UnionOf<'type', typeof workflowCommands>;

const waiterView = record({
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
export type WaiterView = TypeOf<typeof waiterView>;

const listedWaiter = record({
  eventId: text(),
  runId,
  runCreatedAtMs: whole,
  stepId: whole,
  stepName: text(),
  addedAtMs: whole,
  deadlineMs: whole,
});
export type ListedWaiter = TypeOf<typeof listedWaiter>;

const notified = record({ waiter: waiterView, messageId });
export type Notified = TypeOf<typeof notified>;

const entryView = record({ messageId, body: bodyRef, content });
export type EntryView = TypeOf<typeof entryView>;

/** An entry of the workflows' DLQ; the contents are fetched separately. */
const failedRunView = record({
  entry: dlqEntry,
  runId,
  runCreatedAtMs: whole,
  /** The envelope of the trigger. */
  envelope,
  payload: bodyRef,
  payloadContent: content,
  responseContent: content,
  failureFunction: optional(failureFunction),
  failureFunctionContent: content,
});
export type FailedRunView = TypeOf<typeof failedRunView>;

export const workflowReplies = {
  Notified: kind(16, { notified: listOf(notified) }),
  Waiters: kind(17, { waiters: listOf(waiterView) }),
  /** `total`: on all pages. `after`: undefined at the end. */
  AllWaiters: kind(23, { waiters: listOf(listedWaiter), total: whole, after: optional(waiterPlace) }),
  Run: kind(18, {
    run: runName,
    entries: listOf(entryView),
    /** The index of the next page; undefined at the end. */
    nextFrom: optional(whole),
  }),
  FailedRuns: kind(19, { runs: listOf(failedRunView), after: optional(dlqId) }),
  /** Counts by the status of the last answer; 0: there was none. */
  FailedRunCounts: kind(24, { counts: listOf(tuple<[status: number, count: number]>(whole, whole)) }),
  RunsStarted: kind(20, { runs: listOf(runName), after: optional(dlqId) }),
};
export type WorkflowReply = UnionOf<'type', typeof workflowReplies>;

export type { RunEntry };
